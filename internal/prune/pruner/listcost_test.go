package pruner_test

import (
	"testing"

	"secateur/internal/llm/bpe"
	"secateur/internal/mcp/catalog"
	"secateur/internal/prune/pruner"
)

// What we add to a client's context before anything is cut: our tools, and the paragraph in instructions.
func TestOurToolsAndInstructionsTakeFewTokens(t *testing.T) {
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	said := bpe.Count(catalog.Instructions(nil, "pruner-recover_text", ""))
	brief := bpe.Count(string(askBriefly(t, newServer(t, nil), list).Result))
	t.Logf("brief tools %d tokens, instructions %d", brief, said)
	if brief+said > 350 {
		t.Errorf("for clients of the aggregate, tools %d and instructions %d are more than 350 tokens", brief, said)
	}
	all := newServer(t, func(o *pruner.Options) { o.Tools = pruner.ToolsAll })
	for name, tools := range map[string]int{
		"the pruner's own door": bpe.Count(string(ask(t, all, list).Result)),
		"all tools":             bpe.Count(string(askBriefly(t, all, list).Result)),
	} {
		t.Logf("%s: %d tokens", name, tools)
		if tools+said > 900 {
			t.Errorf("%s: tools %d and instructions %d are more than 900 tokens", name, tools, said)
		}
	}
}

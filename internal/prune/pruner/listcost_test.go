package pruner_test

import (
	"testing"

	"secateur/internal/llm/bpe"
	"secateur/internal/mcp/catalog"
)

// What we add to a client's context before anything is cut: our tools, and the paragraph in instructions.
func TestOurToolsAndInstructionsTakeFewTokens(t *testing.T) {
	const most = 900
	tools := bpe.Count(string(ask(t, newServer(t, nil), `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`).Result))
	said := bpe.Count(catalog.Instructions(nil, "pruner::recover_text", ""))
	t.Logf("tools %d tokens, instructions %d", tools, said)
	if tools+said > most {
		t.Errorf("tools %d and instructions %d are together more than %d tokens", tools, said, most)
	}
}

package hook_test

import (
	"encoding/json"
	"testing"

	"secateur/internal/llm/hook"
)

// BenchmarkMegabyte answers the end of a command that has printed a megabyte.
func BenchmarkMegabyte(b *testing.B) {
	e := golden(b, "Bash")
	text := buildLog(18_000)
	set(e, text, "tool_response", "stdout")
	event, err := json.Marshal(e)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		h, _ := open(b)
		if out, err := h.Answer(b.Context(), hook.Caller{}, event); err != nil || out == nil {
			b.Fatal(err)
		}
	}
}

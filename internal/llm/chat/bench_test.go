package chat

import (
	"fmt"
	"strings"
	"testing"

	"secateur/internal/llm/bill"
)

// bigBody is an agent's request with that many messages and about that many bytes.
func bigBody(messages, size int) []byte {
	line := "\tif err := run(ctx, \"value\"); err != nil { return fmt.Errorf(\"run: %w\", err) } // détail\n"
	each := size / (messages / 2) / (len(line) + 6)
	words := []string{"u:please fix the bug"}
	for i := range messages / 2 {
		words = append(words, fmt.Sprintf("a:call_%d@read_file", i), fmt.Sprintf("t:call_%d=%d\n%s", i, i, strings.Repeat(line, each)))
	}
	return talk(words...)
}

func BenchmarkReadFormats(b *testing.B) {
	var messages, items []string
	line := strings.Repeat(`\tif err := run(ctx, \"value\"); err != nil { return } // détail\n`, 60)
	for i := range 100 {
		messages = append(messages,
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s"},{"type":"tool_use","id":"c%d","name":"Bash","input":{"command":"x"}}]}`, i),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":"%s"}]}`, i, line))
		items = append(items, `{"type":"reasoning","summary":[],"encrypted_content":"gAAA"}`,
			fmt.Sprintf(`{"type":"function_call","name":"exec","arguments":"{}","call_id":"c%d"}`, i),
			fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d","output":"%s"}`, i, line))
	}
	for _, f := range formatCases {
		body := f.body(messages)
		if f.format == Responses {
			body = f.body(items)
		}
		b.Run(f.format.String(), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.format.Read(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for _, n := range []int{400 << 10, 2 << 20} {
		body := bigBody(200, n)
		b.Run(fmt.Sprintf("%dKB", len(body)>>10), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReadDecideAppend(b *testing.B) {
	for _, strategy := range []string{Sliding, Stepped, Priced} {
		for _, n := range []int{400 << 10, 2 << 20} {
			body := bigBody(200, n)
			s := Default()
			s.Strategy = strategy
			c, err := Read(body)
			if err != nil {
				b.Fatal(err)
			}
			first := Decide(Input{Conversation: c, Masking: s, Prices: claude})
			rec := first.Record(&bill.Usage{Input: float64(n) / 4})
			out := make([]byte, 0, len(body)+1000)
			b.Run(fmt.Sprintf("%s/%dKB", strategy, len(body)>>10), func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					c, err := Read(body)
					if err != nil {
						b.Fatal(err)
					}
					p := Decide(Input{Conversation: c, Masking: s, Prices: claude, Past: Past{Record: &rec}})
					out = p.Append(out[:0])
					_ = p.Record(nil)
				}
			})
		}
	}
}

package chat

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// besides are ways to do something at the same time: at once, at the latest, and truly.
var besides = map[string]Beside{
	"before": func(do func()) func() { do(); return func() {} },
	"after": func(do func()) func() {
		done := false
		return func() {
			if !done {
				done = true
				do()
			}
		}
	},
	"beside": func(do func()) func() {
		done := make(chan struct{})
		go func() { defer close(done); do() }()
		return func() { <-done }
	},
}

// readHalvesAs reads a body by halves, however short it is, and says whether all comes out as if it were read in one go, and how often it was.
func readHalvesAs(t failer, f Format, body []byte) (halved int) {
	t.Helper()
	want, wantErr := f.Read(body)
	for how, beside := range besides {
		r := newReader(body)
		r.halved, r.beside = 1, func(do func()) func() { halved++; return beside(do) }
		got, gotErr := f.read(&r, func([]byte) Known { return Known{} })
		if got != nil && want != nil {
			got.room, want.room = nil, nil // how much there is hangs on how it was read
		}
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(gotErr, wantErr) {
			t.Fatalf("%s: %q read by halves, the second %s the first, is %+v, %v, in one go %+v, %v", f, body, how, got, gotErr, want, wantErr)
		}
	}
	return halved
}

// messageForms are messages of each format as clients write them, and such that look as if a message began in the middle of them, or are broken.
var messageForms = [...][]string{
	Completions: {
		`{"role":"user","content":"q"}`, `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","function":{"name":"read","arguments":"{}"}},{"id":"c2","function":{"name":"read","arguments":"{}"}}]}`,
		`{"role":"tool","tool_call_id":"c1","content":"some text"}`, `{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"a"},{"role":"x"},{"role":"y"}]}`,
		`{"role":"user","content":"},{\"role\":\"user\"},{\"role\":"}`, `{"role":"user","extra":{"a":[{"role":"user"},{"role":"user"},{"role":"user","content":"q"}]}}`,
		`{"role":"user","role":"user"}`, `{"role":"user","content":"\u12"}`, `{"role":}`, `12`, `null`, `[{"role":"user"},{"role":"user"}]`,
	},
	Messages: {
		`{"role":"user","content":"q"}`, `{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"c1","name":"read","input":{"role":1}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"text"},{"type":"text","text":"and"}]}`, `{"role":"user","content":[]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"x"},{"role":"user"},{"role":"user"}]}]}`,
		`{"role":"user","content":"},{\"role\":"}`, `{"role":"user" "content":1}`, `{"role":"user","content":[{"type":"text","type":"text"}]}`, `true`,
	},
	Responses: {
		`{"type":"message","role":"user","content":"q"}`, `{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"},{"type":"input_text","text":"c"}]}`,
		`{"type":"reasoning","encrypted_content":"xxxx"}`, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"so"}]}`,
		`{"type":"function_call","call_id":"c1","name":"read","arguments":"{}"}`, `{"type":"function_call_output","call_id":"c1","output":"text"}`,
		`{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"x"},{"type":"input_text","text":"y"},{"type":"input_text","text":"z"}]}`,
		`{"type":"message","role":"user","content":"},{\"type\":"}`, `{"type":"message",}`, `{"type":"message","x":{"a":1,"a":1}}`, `0`,
	},
}

func TestTwoHalvesAreReadAsOne(t *testing.T) {
	for _, f := range []Format{Completions, Messages, Responses} {
		halved := 0
		rapid.Check(t, func(rt *rapid.T) {
			forms := messageForms[f]
			if rapid.IntRange(0, 3).Draw(rt, "broken") > 0 {
				forms = forms[:6] // these are whole
			}
			items := rapid.SliceOfN(rapid.SampledFrom(forms), 1, 24).Draw(rt, "items")
			comma := rapid.SampledFrom([]string{",", ",", ",", ", ", ",\n", ",,", " "}).Draw(rt, "between")
			end := rapid.SampledFrom([]string{`]}`, `]}`, `],"tools":[{"type":"function"},{"type":"function"},{"type":"function"}],"model":"m"}`, `]`, ``, `],"model":"m"`, `]} x`}).Draw(rt, "end")
			body := fmt.Sprintf(`{"model":"m",%q:[%s%s`, shapes[f].list, strings.Join(items, comma), end)
			if f == Completions && strings.HasPrefix(end, `],"tools"`) || strings.HasSuffix(end, `"m"`) {
				body = strings.Replace(body, `"model":"m",`, "", 1)
			}
			halved += readHalvesAs(rt, f, []byte(body))
		})
		if halved == 0 {
			t.Errorf("%s: nothing was read by halves", f)
		}
	}
}

func TestWhatTheSecondHalfHasReadIsNotReadAgain(t *testing.T) {
	for _, f := range []Format{Completions, Messages, Responses} {
		item := messageForms[f][0]
		items := 2 * worthHalving / len(item)
		body := []byte(fmt.Sprintf(`{"model":"m",%q:[%s%s]}`, shapes[f].list, strings.Repeat(item+",", items-1), item))
		c, err := f.ReadOnBeside(body, func([]byte) Known { return Known{} }, func(do func()) func() {
			do()
			body[len(body)-len(item)] = 'x' // in the last message
			return func() {}
		})
		if err != nil || len(c.Messages) != items {
			t.Errorf("%s: the second half was read again: %v", f, err)
		}
	}
}

func FuzzHalves(f *testing.F) {
	for format, forms := range messageForms {
		f.Add(format, []byte(`{"model":"m","messages":[`+strings.Join(forms, ",")+`]}`))
		f.Add(format, []byte(`{"input":[`+strings.Join(forms[:4], ",")+`]}`))
	}
	f.Fuzz(func(t *testing.T, format int, body []byte) {
		if format >= 0 && format < len(shapes) {
			readHalvesAs(t, Format(format), body)
		}
	})
}

package chat

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"secateur/internal/llm/bill"
)

// talk builds a conversation from short words: "a:x,y" is an assistant that calls x and y,
// "t:x=text" the result of x, "u:text" and "a:" are plain messages.
func talk(words ...string) []byte {
	var msgs []string
	for _, w := range words {
		role, rest, _ := strings.Cut(w, ":")
		switch role {
		case "u":
			msgs = append(msgs, fmt.Sprintf(`{"role":"user","content":%s}`, quote(rest)))
		case "a":
			if rest == "" {
				msgs = append(msgs, `{"role":"assistant","content":"ok"}`)
				continue
			}
			var calls []string
			for id := range strings.SplitSeq(rest, ",") {
				id, tool, ok := strings.Cut(id, "@")
				if !ok {
					tool = "read"
				}
				calls = append(calls, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":"{}"}}`, quote(id), quote(tool)))
			}
			msgs = append(msgs, `{"role":"assistant","content":null,"tool_calls":[`+strings.Join(calls, ",")+`]}`)
		case "t":
			id, text, _ := strings.Cut(rest, "=")
			msgs = append(msgs, fmt.Sprintf(`{"role":"tool","tool_call_id":%s,"content":%s}`, quote(id), quote(text)))
		case "raw":
			msgs = append(msgs, rest)
		}
	}
	return []byte(`{"model":"m","messages":[` + strings.Join(msgs, ",") + `]}`)
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func decide(t *testing.T, body []byte, s Settings) ([]byte, *Plan) {
	t.Helper()
	c, err := Read(body)
	if err != nil {
		t.Fatal(err)
	}
	p := Decide(Input{Conversation: c, Masking: s, ID: func(string) string { return "prn_X" }})
	return p.Append(nil), p
}

func slidingSettings(window int) Settings {
	s := Default()
	s.Strategy, s.WindowTurns = Sliding, window
	return s
}

// contents returns the contents of the messages as raw JSON.
func contents(t *testing.T, body []byte) []string {
	t.Helper()
	var doc struct {
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range doc.Messages {
		out = append(out, string(m.Content))
	}
	return out
}

func TestSliding(t *testing.T) {
	off, keep1, min10, noErrors := slidingSettings(0), slidingSettings(1), slidingSettings(1), slidingSettings(1)
	keep1.KeepLastKPerTool = 1
	min10.MinChars = 10
	noErrors.KeepErrors = false
	disabled := slidingSettings(1)
	disabled.Enabled = false
	long := strings.Repeat("x", 300)
	for name, c := range map[string]struct {
		settings Settings
		body     []byte
		masked   []int
	}{
		"only results older than the window are masked": {
			slidingSettings(2), talk("u:q", "a:1", "t:1=A", "a:2", "t:2=B", "a:3", "t:3=C"), []int{2},
		},
		"as many turns as the window: nothing is masked": {
			slidingSettings(3), talk("u:q", "a:1", "t:1=A", "a:2", "t:2=B", "a:3", "t:3=C"), nil,
		},
		"window 0 turns it off":        {off, talk("u:q", "a:1", "t:1=A", "a:2", "t:2=B"), nil},
		"a negative window too":        {slidingSettings(-1), talk("u:q", "a:1", "t:1=A", "a:2", "t:2=B"), nil},
		"disabled":                     {disabled, talk("u:q", "a:1", "t:1=A", "a:2", "t:2=B"), nil},
		"all calls of a turn together": {slidingSettings(1), talk("u:q", "a:1,2", "t:1=A", "t:2=B", "a:3", "t:3=C"), []int{2, 3}},
		"and all of the newest stay":   {slidingSettings(1), talk("u:q", "a:0", "t:0=Z", "a:1,2", "t:1=A", "t:2=B"), []int{2}},
		"an empty list of calls is no turn": {
			slidingSettings(1), talk("u:q", "a:1", "t:1=A", `raw:{"role":"assistant","content":"x","tool_calls":[]}`), nil,
		},
		"calls without ids are no turn": {
			slidingSettings(1), talk("u:q", "a:1", "t:1=A", `raw:{"role":"assistant","content":"x","tool_calls":[{"type":"function"},7]}`), nil,
		},
		"an answer without calls is no turn": {slidingSettings(1), talk("u:q", "a:1", "t:1=A", "a:", "u:more"), nil},
		"orphans stay":                       {slidingSettings(1), talk("u:q", "a:1", "t:9=A", "a:2", "t:2=B", "a:3", "t:3=C"), []int{4}},
		"an error stays":                     {slidingSettings(1), talk("u:q", "a:1", "t:1=Traceback (most recent call last):", "a:2", "t:2=B"), nil},
		"a JSON error stays":                 {slidingSettings(1), talk("u:q", "a:1", `t:1={"error":"x"}`, "a:2", "t:2=B"), nil},
		"an error may be masked if asked":    {noErrors, talk("u:q", "a:1", "t:1=Error: x", "a:2", "t:2=B"), []int{2}},
		"is_error stays": {
			slidingSettings(1), talk("u:q", "a:1", `raw:{"role":"tool","tool_call_id":"1","content":"A","is_error":true}`, "a:2", "t:2=B"), nil,
		},
		"a list as content stays": {
			slidingSettings(1), talk("u:q", "a:1", `raw:{"role":"tool","tool_call_id":"1","content":[{"type":"text","text":"A"}]}`, "a:2", "t:2=B"), nil,
		},
		"null as content stays": {slidingSettings(1), talk("u:q", "a:1", `raw:{"role":"tool","tool_call_id":"1","content":null}`, "a:2", "t:2=B"), nil},
		"no content stays":      {slidingSettings(1), talk("u:q", "a:1", `raw:{"role":"tool","tool_call_id":"1"}`, "a:2", "t:2=B"), nil},
		"an id that is no string stays": {
			slidingSettings(1), talk("u:q", "a:1", `raw:{"role":"tool","tool_call_id":1,"content":"A"}`, "a:2", "t:2=B"), nil,
		},
		"the empty id stays": {slidingSettings(1), talk("u:q", "a:", `a:`, "raw:"+`{"role":"assistant","tool_calls":[{"id":""}]}`, "t:=A", "a:2", "t:2=B"), nil},
		"other roles stay":   {slidingSettings(1), talk("u:q", "a:1", `raw:{"role":"function","tool_call_id":"1","content":"A"}`, "a:2", "t:2=B"), nil},
		"short results stay": {min10, talk("u:q", "a:1", "t:1=123456789", "a:2", "t:2=1234567890", "a:3", "t:3=B"), []int{4}},
		"an id used again belongs to its last turn": {
			slidingSettings(1), talk("u:q", "a:1", "t:1=A", "a:1", "t:1=B"), nil,
		},
		"a result not answered yet stays, however old its turn": {
			slidingSettings(1), talk("u:q", "a:1", "a:2", "t:2=B", "a:3", "t:3=C", "t:1=late"), []int{3},
		},
		"the newest result of each tool stays": {
			keep1, talk("u:q", "a:1@read", "t:1=A", "a:2@write", "t:2=B", "a:3@read", "t:3=C", "a:4@exec", "t:4=D"), []int{2},
		},
		"empty results are masked too":      {slidingSettings(1), talk("u:q", "a:1", "t:1=", "a:2", "t:2=B"), []int{2}},
		"long results as short ones":        {slidingSettings(1), talk("u:q", "a:1", "t:1="+long, "a:2", "t:2=B"), []int{2}},
		"a placeholder is not masked again": {slidingSettings(1), talk("u:q", "a:1", "t:1="+placeholderFor("1", "read", 99), "a:2", "t:2=B"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			out, plan := decide(t, c.body, c.settings)
			before, after := contents(t, c.body), contents(t, out)
			if len(before) != len(after) {
				t.Fatalf("%d messages became %d", len(before), len(after))
			}
			var masked []int
			for i := range before {
				if before[i] != after[i] {
					masked = append(masked, i)
				}
			}
			if fmt.Sprint(masked) != fmt.Sprint(c.masked) {
				t.Errorf("masked %v, want %v\n%s", masked, c.masked, out)
			}
			if plan.Masked() != len(c.masked) {
				t.Errorf("Masked() = %d, want %d", plan.Masked(), len(c.masked))
			}
		})
	}
}

func TestPlaceholder(t *testing.T) {
	hint := slidingSettings(1)
	hint.Recover = RecoverHint
	own := slidingSettings(1)
	own.PlaceholderTemplate = "<{tool_call_id}|{tool_name}|{original_chars}|{unknown}|{id}|{"
	for name, c := range map[string]struct {
		settings Settings
		body     []byte
		want     string
	}{
		"the default": {
			slidingSettings(1), talk("a:1", "t:1=hé😀", "a:2", "t:2=B"),
			"[Observation masquée: résultat d’outil ancien (tool_call_id=1, outil=read, chars=3)]",
		},
		"a tool without a name": {
			slidingSettings(1), talk(`raw:{"role":"assistant","tool_calls":[{"id":"1"}]}`, "t:1=A", "a:2", "t:2=B"),
			"[Observation masquée: résultat d’outil ancien (tool_call_id=1, outil=inconnu, chars=1)]",
		},
		"values are not looked into": {
			slidingSettings(1), talk("a:{tool_name}@x", "t:{tool_name}=A", "a:2", "t:2=B"),
			"[Observation masquée: résultat d’outil ancien (tool_call_id={tool_name}, outil=x, chars=1)]",
		},
		"a template of one's own": {own, talk("a:1", "t:1=AB", "a:2", "t:2=B"), "<1|read|2|{unknown}|prn_X|{"},
		"with a hint": {
			hint, talk("a:1", "t:1=AB", "a:2", "t:2=B"),
			"[Observation masquée: résultat d’outil ancien (tool_call_id=1, outil=read, chars=2)]" +
				" [original: outil recover_text, prune_id=prn_X, ou `secateur recover prn_X`]",
		},
		"a lone surrogate is one character": {
			slidingSettings(1), talk("a:1", `raw:{"role":"tool","tool_call_id":"1","content":"a\ud800"}`, "a:2", "t:2=B"),
			"[Observation masquée: résultat d’outil ancien (tool_call_id=1, outil=read, chars=2)]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, plan := decide(t, c.body, c.settings)
			if len(plan.Cuts) != 1 || plan.Cuts[0].Text != c.want {
				t.Errorf("cuts %+v, want %q", plan.Cuts, c.want)
			}
		})
	}
}

func TestWhatIsNotMaskedKeepsItsBytes(t *testing.T) {
	body := []byte(" {\n\"n\": 1.00000000000000000001e+5, \"messages\" : [ {\"x\":[1,2 ,{}],\"role\":\"user\",\"content\":\"\\u00e9\\/\"},\n" +
		`{"tool_calls":[{"id":"1","function":{"arguments":"{\"a\":1}","name":"f"},"z":null}],"role":"assistant"},` +
		`{"content" : "old text" , "tool_call_id":"1","role":"tool","extra":{"content":"keep"}},` +
		`{"role":"assistant","tool_calls":[{"id":"2","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"2","content":"new"} ],` +
		"\t\"model\":\"alias\",\"z\":{\"messages\":[]}}\n")
	c, err := Read(body)
	if err != nil {
		t.Fatal(err)
	}
	p := Decide(Input{Conversation: c, Masking: slidingSettings(1)})
	p.Model = `real"model`
	want := strings.Replace(string(body), `"old text"`, quote(p.Cuts[0].Text), 1)
	want = strings.Replace(want, `"alias"`, `"real\"model"`, 1)
	if got := string(p.Append(nil)); got != want {
		t.Errorf("Append:\n%s\nwant\n%s", got, want)
	}
	if p.Original(p.Cuts[0]) != "old text" {
		t.Errorf("Original = %q", p.Original(p.Cuts[0]))
	}
	p.Keep(p.Cuts[0].Message)
	p.Model = ""
	if got := string(p.Append(nil)); got != string(body) || p.Masked() != 0 {
		t.Errorf("after Keep: %s", got)
	}
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		body     string
		fails    bool
		messages int
	}{
		"no messages":              {`{"model":"x"}`, false, 0},
		"messages are no list":     {`{"messages":{"0":{}}}`, false, 0},
		"messages are null":        {`{"messages":null}`, false, 0},
		"an empty list":            {`{"messages":[]}`, false, 0},
		"messages of other types":  {`{"messages":[1,"a",null,[],{}, true,-1.5e3]}`, false, 7},
		"not JSON":                 {`hello`, true, 0},
		"not an object":            {`[{"messages":[]}]`, true, 0},
		"nothing":                  {``, true, 0},
		"half":                     {`{"messages":[`, true, 0},
		"more behind it":           {`{"messages":[]} x`, true, 0},
		"a name twice":             {`{"messages":[],"messages":[{}]}`, true, 0},
		"a name twice deep down":   {`{"messages":[{"role":"tool","r\u006fle":"user"}]}`, true, 0},
		"too deep":                 {`{"messages":` + strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth) + `}`, true, 0},
		"deep":                     {`{"messages":` + strings.Repeat("[", MaxDepth-1) + strings.Repeat("]", MaxDepth-1) + `}`, false, 1},
		"bytes that are not UTF-8": {"{\"messages\":[\"\xff\"]}", true, 0},
		"a byte order mark":        {"\ufeff{\"messages\":[]}", true, 0},
		"escaped names":            {`{"\u006dessages":[{"rol\u0065":"t\u006fol"}]}`, false, 1},
	} {
		conv, err := Read([]byte(c.body))
		if (err != nil) != c.fails {
			t.Errorf("%s: err = %v", name, err)
		}
		if err == nil && len(conv.Messages) != c.messages {
			t.Errorf("%s: %d messages, want %d", name, len(conv.Messages), c.messages)
		}
	}
}

func TestWhatWasMaskedByOtherRulesIsJudgedAgain(t *testing.T) {
	keep := slidingSettings(1)
	drop := keep
	drop.KeepErrors = false
	priced := drop
	priced.Strategy = Priced
	pricedKeep := keep
	pricedKeep.Strategy = Priced
	body := talk("u:q", "a:1", "t:1=error: it broke "+strings.Repeat("so it did, ", 60), "a:2", "t:2="+strings.Repeat("all well, ", 60), "a:3", "t:3=z", "a:")
	for name, c := range map[string]struct {
		before []Settings
		judged bool // the last record says so
	}{
		"nothing was sent before":                 {nil, false},
		"errors were kept":                        {[]Settings{keep}, true},
		"errors were masked":                      {[]Settings{drop}, false},
		"errors were masked for a price":          {[]Settings{priced}, false},
		"errors were masked and have stayed that": {[]Settings{priced, pricedKeep}, false},
	} {
		t.Run(name, func(t *testing.T) {
			conv, err := Read(body)
			if err != nil {
				t.Fatal(err)
			}
			var record *Record
			for _, s := range c.before {
				r := Decide(Input{Conversation: conv, Masking: s, Past: Past{Record: record}, Prices: bill.Prices{Input: 1}}).Record(nil)
				if record = &r; !s.KeepErrors && len(r.Cuts) != 2 {
					t.Fatalf("Cuts = %v, want two", r.Cuts)
				}
			}
			if record != nil && record.Judged != c.judged {
				t.Errorf("Judged = %v, want %v", record.Judged, c.judged)
			}
			if got := Decide(Input{Conversation: conv, Masking: keep, Past: Past{Record: record}}).Masked(); got != 1 {
				t.Errorf("Masked() = %d, want 1: the error is sent whole", got)
			}
		})
	}
}

// placeholderFor is the default placeholder of a result.
func placeholderFor(callID, tool string, chars int) string {
	p := parsePlaceholder(Default())
	return p.render(callID, tool, chars, "")
}

func TestWhatIsKeptWholeIsCountedWhole(t *testing.T) {
	long := strings.Repeat("word ", 500)
	c, err := Read(talk("u:q", "a:1", "t:1="+long, "a:2", "t:2="+long, "a:3", "t:3=C"))
	if err != nil {
		t.Fatal(err)
	}
	p := Decide(Input{Conversation: c, Masking: slidingSettings(1), Prices: claude})
	before := p.Record(nil)
	p.Keep(p.Cuts[0].Message)
	after := p.Record(nil)
	if len(before.Cuts) != 2 || len(after.Cuts) != 1 || after.Account.Spent-before.Account.Spent < 400 {
		t.Errorf("%d cuts cost %v, %d of them %v", len(before.Cuts), before.Account.Spent, len(after.Cuts), after.Account.Spent)
	}
}

package cases

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Run is a recorded agent run.
type Run struct {
	ID       string
	Project  string
	Messages []Message
	Raw      []json.RawMessage // the same, as recorded
}

// Message is a message of a recorded run.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []struct {
		ID       string `json:"id"`
		Function struct {
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	CallID string `json:"tool_call_id"`
}

// Words returns the text of a message, including the strings of its calls.
func (m *Message) Words() string {
	var b strings.Builder
	b.WriteString(m.Content)
	for _, c := range m.Calls {
		b.WriteByte('\n')
		b.WriteString(stringsOf(c.Function.Arguments))
	}
	return b.String()
}

// Runs reads the recorded runs of a folder.
func Runs(dir string) ([]Run, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	var out []Run
	for _, name := range files {
		if out, err = appendRuns(out, name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

func appendRuns(out []Run, name string) ([]Run, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(z)
	for {
		var s struct {
			ID       string            `json:"id"`
			Source   string            `json:"source"`
			Messages []json.RawMessage `json:"messages"`
		}
		if err := d.Decode(&s); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		run := Run{ID: s.ID, Project: projectOf(s.ID, s.Source), Raw: s.Messages, Messages: make([]Message, len(s.Messages))}
		for i, raw := range s.Messages {
			if err := json.Unmarshal(raw, &run.Messages[i]); err != nil {
				return nil, err
			}
		}
		out = append(out, run)
	}
}

// Sessions makes cases of the recorded agent runs: a big tool result, the goal from the
// conversation, and as gold the lines with an identifier that the agent uses later and has from
// nowhere else. kind returns the kind of a result.
func Sessions(dir string, kind func(call, text string) string) ([]*Case, error) {
	runs, err := Runs(dir)
	if err != nil {
		return nil, err
	}
	var out []*Case
	for _, r := range runs {
		out = append(out, usedLater(r.ID, r.Project, r.Messages, kind)...)
	}
	return out, nil
}

// projectOf returns the project of a run: from the task's name if possible, else from the
// transcript.
func projectOf(id, source string) string {
	_, task, _ := strings.Cut(id, "/")
	if owner, rest, ok := strings.Cut(task, "__"); ok {
		name, _, _ := strings.Cut(rest, "-")
		return owner + "/" + name
	}
	project, _, _ := strings.Cut(source, ":")
	return project
}

const (
	minSession = 2500 // characters of a result worth a case
	maxSaid    = 1000
	maxTask    = 600
)

func usedLater(id, project string, messages []Message, kind func(call, text string) string) (out []*Case) {
	known := map[string]bool{} // identifiers seen so far
	task, said := "", ""
	calls := map[string]string{}
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case "user":
			if task == "" {
				task = m.Content[:min(len(m.Content), maxTask)]
			}
		case "assistant":
			if m.Content != "" {
				said = m.Content[max(0, len(m.Content)-maxSaid):]
			}
			for _, c := range m.Calls {
				calls[c.ID] = stringsOf(c.Function.Arguments)
			}
		case "tool":
			if len(m.Content) < minSession || len(m.Content) > 400_000 {
				break
			}
			later := map[string]bool{}
			for j := i + 1; j < len(messages); j++ {
				if messages[j].Role == "assistant" {
					EachIdentifier(messages[j].Words(), func(w string) { later[w] = true })
				}
			}
			call := calls[m.CallID]
			c := &Case{
				ID: fmt.Sprintf("%s-%d", id, i), Set: "used", Repo: project, SourceType: kind(call, m.Content),
				Goal: call + "\n" + said, Task: task, Text: m.Content,
			}
			fresh := map[string]bool{}
			for n, line := range strings.Split(m.Content, "\n") {
				hit := false
				EachIdentifier(line, func(w string) {
					if later[w] && !known[w] && !fresh[w] {
						hit, fresh[w] = true, true
					}
				})
				if hit {
					c.Gold = append(c.Gold, n+1)
				}
			}
			if len(c.Gold) > 0 {
				c.Groups = [][]int{c.Gold}
				out = append(out, c)
			}
		}
		EachIdentifier(m.Words(), func(w string) { known[w] = true })
	}
	return out
}

// stringsOf returns the strings of a call's arguments, without their JSON.
func stringsOf(arguments string) string {
	var v any
	if json.Unmarshal([]byte(arguments), &v) != nil {
		return arguments
	}
	var b strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v)
			b.WriteByte('\n')
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, k := range sortedKeys(v) {
				walk(v[k])
			}
		}
	}
	walk(v)
	return b.String()
}

// EachIdentifier finds distinctive words: at least six letters, digits or underscores, with a
// digit, an underscore or an inner capital.
func EachIdentifier(text string, use func(string)) {
	start := -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) && (text[i] == '_' || text[i] >= '0' && text[i] <= '9' || text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z') {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && i-start >= 6 && isShaped(text[start:i]) {
			use(text[start:i])
		}
		start = -1
	}
}

func isShaped(w string) bool {
	for i := range len(w) {
		c := w[i]
		if c == '_' || c >= '0' && c <= '9' || i > 0 && c < 'a' && w[i-1] >= 'a' {
			return true
		}
		if i > 1 && c >= 'a' && w[i-1] < 'a' && w[i-2] < 'a' {
			return true
		}
	}
	return false
}

package discover

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/replay"
)

// note is a message of OpenCode, as storage/message/SESSION/ID.json and 'opencode export' have it.
type note struct {
	ID       string `json:"id"`
	Role     string `json:"role"`
	Model    string `json:"modelID"`
	Provider string `json:"providerID"`
	Time     struct {
		Created float64 `json:"created"` // milliseconds
	} `json:"time"`
	Tokens struct {
		Input     float64 `json:"input"`
		Output    float64 `json:"output"`
		Reasoning float64 `json:"reasoning"`
		Cache     struct {
			Read  float64 `json:"read"`
			Write float64 `json:"write"`
		} `json:"cache"`
	} `json:"tokens"`
	parts []part
}

// part is a part of a message, as storage/part/MESSAGE/ID.json has it.
type part struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Text   string `json:"text"`
	Tool   string `json:"tool"`
	CallID string `json:"callID"`
	State  struct {
		Status string         `json:"status"`
		Input  jsontext.Value `json:"input"`
		Output string         `json:"output"`
		Error  string         `json:"error"`
	} `json:"state"`
}

// readFolder reads the messages of a session and their parts.
func readFolder(dir string) (notes []note, broken int, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, 0, err
	}
	parts := filepath.Join(filepath.Dir(filepath.Dir(dir)), "part")
	for _, f := range files {
		var n note
		if !decode(filepath.Join(dir, f.Name()), &n) {
			broken++
			continue
		}
		names, _ := os.ReadDir(filepath.Join(parts, n.ID)) // a message may have no parts
		for _, p := range names {
			var one part
			if !decode(filepath.Join(parts, n.ID, p.Name()), &one) {
				broken++
				continue
			}
			n.parts = append(n.parts, one)
		}
		notes = append(notes, n)
	}
	sortNotes(notes)
	return notes, broken, nil
}

func decode(path string, to any) bool {
	data, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(data, to, lenient) == nil
}

// readExport reads what 'opencode export' writes; nil: it is something else.
func readExport(data []byte) (notes []note) {
	var doc struct {
		Messages []struct {
			Info  note   `json:"info"`
			Parts []part `json:"parts"`
		} `json:"messages"`
	}
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) || json.Unmarshal(data, &doc, lenient) != nil {
		return nil
	}
	for _, m := range doc.Messages {
		if m.Info.Role == "" {
			return nil
		}
		m.Info.parts = m.Parts
		notes = append(notes, m.Info)
	}
	sortNotes(notes)
	return notes
}

func sortNotes(notes []note) {
	slices.SortStableFunc(notes, func(a, b note) int { return cmp.Compare(a.Time.Created, b.Time.Created) })
	for _, n := range notes {
		slices.SortFunc(n.parts, func(a, b part) int { return strings.Compare(a.ID, b.ID) })
	}
}

// ask books the answers of a session.
func (l *ledger) ask(notes []note) {
	l.agent = OpenCode
	for _, n := range notes {
		t := n.Tokens
		if n.Role != "assistant" || t.Input+t.Cache.Read+t.Cache.Write <= 0 {
			continue
		}
		u := bill.Usage{
			Input: t.Input + t.Cache.Read + t.Cache.Write, Cached: t.Cache.Read, Told: true, Wrote: t.Cache.Write, WroteTold: t.Cache.Write > 0, Output: t.Output + t.Reasoning,
		}
		l.add(asked{n.ID, n.created().Format(time.DateOnly), n.Model, "", u})
	}
}

func (n note) created() time.Time { return time.UnixMilli(int64(n.Time.Created)).UTC() }

// session writes the messages as a chat completion's, which the player reads.
func session(id string, notes []note) ([]replay.Session, error) {
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	type call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
		Call    string `json:"tool_call_id,omitempty"`
		Calls   []call `json:"tool_calls,omitempty"`
	}
	var doc struct {
		ID       string      `json:"id"`
		Model    string      `json:"model"`
		Started  string      `json:"started"`
		Offsets  []float64   `json:"request_offsets_s"`
		Usage    [][]float64 `json:"recorded_usage"`
		Messages []message   `json:"messages"`
	}
	doc.ID = id
	for _, n := range notes {
		m := message{Role: n.Role}
		var results []message
		for _, p := range n.parts {
			switch p.Type {
			case "text":
				m.Content += p.Text
			case "tool":
				arguments := cmp.Or(string(p.State.Input), "{}")
				m.Calls = append(m.Calls, call{p.CallID, "function", function{p.Tool, arguments}})
				results = append(results, message{Role: "tool", Call: p.CallID, Content: cmp.Or(p.State.Output, p.State.Error)})
			}
		}
		if n.Role == "assistant" {
			t := n.Tokens
			if len(doc.Offsets) == 0 {
				doc.Started = n.created().Format(time.RFC3339)
			}
			doc.Model = n.Model
			doc.Usage = append(doc.Usage, []float64{t.Input, t.Cache.Write, t.Cache.Read, t.Output})
			doc.Offsets = append(doc.Offsets, (n.Time.Created-notes[0].Time.Created)/1000)
		}
		doc.Messages = append(append(doc.Messages, m), results...)
	}
	if len(doc.Offsets) == 0 {
		return nil, errors.New("no answer in it")
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return replay.Read(bytes.NewReader(data), id)
}

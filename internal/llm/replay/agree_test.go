package replay

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"secateur/internal/llm/chat"
)

var update = flag.Bool("update", false, "ask the simulator below EVALDATA again, and keep what it says")

// Our bill equals that of an independent simulator, which sees only the sessions and the sent
// requests. Its results for synthetic sessions are in testdata.
func TestAgreesWithAnIndependentSimulator(t *testing.T) {
	const file, kept = "testdata/agreement.jsonl", "testdata/agreement.json"
	sessions, err := ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]map[string]simulated{} // by strategy and session
	said, err := os.ReadFile(kept)
	if err == nil {
		err = json.Unmarshal(said, &theirs)
	}
	if err != nil && !*update {
		t.Fatal(err)
	}
	// The first two send the same at every price.
	for _, st := range Strategies(chat.Default(), chat.DefaultPruning())[:2] {
		out := sendAll(t, sessions, st, Tables()[0])
		if *update {
			theirs[st.Name] = simulate(t, file, out)
		}
		out.compare(t, sessions, theirs[st.Name])
	}
	if *update {
		b, err := json.MarshalIndent(theirs, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(kept, append(b, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The same for recorded sessions in the folder EVALDATA, which make eval sets.
func TestAgreesOnRecordedSessions(t *testing.T) {
	if os.Getenv("EVALDATA") == "" {
		return
	}
	file := filepath.Join(os.Getenv("EVALDATA"), "sessions", "swe-agent.jsonl.gz")
	sessions, err := ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pruning := chat.DefaultPruning()
	pruning.MinChars = 4000
	for _, st := range Strategies(chat.Default(), pruning) {
		for _, table := range Tables()[:2] {
			t.Run(st.Name+" at "+table.Name, func(t *testing.T) {
				out := sendAll(t, sessions, st, table)
				out.compare(t, sessions, simulate(t, file, out))
			})
		}
	}
}

// sentAll holds the sent requests of each session.
type sentAll map[string]judged

type judged struct {
	played
	faults Faults
}

func sendAll(t *testing.T, sessions []Session, st Strategy, table Table) sentAll {
	t.Helper()
	all := sentAll{}
	for i := range sessions {
		p := newPlayer(&sessions[i], Options{})
		out, err := p.play(st, offer{prices: table.prices(0)})
		if err != nil {
			t.Fatal(err)
		}
		all[sessions[i].ID] = judged{out, p.faults(out)}
	}
	return all
}

// compare checks our bills and faults against the simulator's.
func (all sentAll) compare(t *testing.T, sessions []Session, theirs map[string]simulated) {
	t.Helper()
	for i := range sessions {
		id := sessions[i].ID
		p, d := newPlayer(&sessions[i], Options{}), theirs[id]
		for _, tab := range Tables() {
			if tab.Format != chat.Completions {
				continue
			}
			var a, b float64
			through := p.passThrough(offer{prices: tab.prices(0)})
			for k := range all[id].sent {
				a += tab.Rates.Cost(all[id].sent[k])
				b += tab.Rates.Cost(through[k])
			}
			if math.Abs(a/b-d.Ratio[tab.Name]) > 1e-9 || math.Abs(b-d.Base[tab.Name]) > 1e-6*b {
				t.Errorf("%s at %s: ratio %v of %v, simulator says %v of %v", id, tab.Name, a/b, b, d.Ratio[tab.Name], d.Base[tab.Name])
			}
		}
		if f := all[id].faults; f.Changed != d.Masked || f.Lost != d.Lost || f.Blind != d.Blind || f.Results != d.Results {
			t.Errorf("%s: faults %+v, simulator says %+v", id, f, d)
		}
	}
}

type simulated struct {
	Ratio   map[string]float64 `json:"ratio"`
	Base    map[string]float64 `json:"base"`
	Masked  int                `json:"masked"`
	Lost    int                `json:"lost"`
	Blind   int                `json:"blind"`
	Results int                `json:"results"`
}

func writeSent(t *testing.T, w *bytes.Buffer, id string, out played) {
	t.Helper()
	for k, prompt := range out.prompt {
		messages := make([]json.RawMessage, len(prompt))
		for i, m := range prompt {
			messages[i] = json.RawMessage(m.raw)
		}
		line, err := json.Marshal(map[string]any{"session": id, "request_index": k, "body_messages": messages})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(w, "%s\n", line)
	}
}

// simulate runs the simulator below EVALDATA on the sent requests.
func simulate(t *testing.T, sessions string, all sentAll) map[string]simulated {
	t.Helper()
	var sent bytes.Buffer
	for id, out := range all {
		writeSent(t, &sent, id, out.played)
	}
	file := filepath.Join(t.TempDir(), "sent.jsonl")
	if err := os.WriteFile(file, sent.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(os.Getenv("EVALDATA"), "sessions", "bill.py")
	cmd := exec.CommandContext(t.Context(), "python3", script, "--sessions", sessions, "--sent", file, "--json")
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var per map[string]simulated
	if err := json.Unmarshal(out, &per); err != nil {
		t.Fatal(err)
	}
	return per
}

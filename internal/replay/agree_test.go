package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"secateur/internal/chat"
)

// TestAgreesWithAnIndependentSimulator compares bills and faults with those of a
// simulator that only sees the recorded sessions and what was sent.
func TestAgreesWithAnIndependentSimulator(t *testing.T) {
	dir := filepath.Join(cmp.Or(os.Getenv("EVALDATA"), "../../../shared/evaldata"), "sessions")
	script := filepath.Join(dir, "bill.py")
	if _, err := os.Stat(script); err != nil {
		t.Skip("the evaluation data is not part of the project; EVALDATA says where it is")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("python3 is not installed; make test installs it")
		}
		t.Skip("python3 is not installed; make test installs it")
	}
	file := filepath.Join(dir, "swe-agent.jsonl.gz")
	sessions, err := ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pruning := chat.DefaultPruning()
	pruning.MinChars = 4000
	for _, st := range Strategies(chat.Default(), pruning) {
		for _, table := range Tables()[:2] {
			t.Run(st.Name+" at "+table.Name, func(t *testing.T) {
				var sent bytes.Buffer
				ours := make(map[string]played)
				faults := make(map[string]Faults)
				for i := range sessions {
					p := newPlayer(&sessions[i], Options{})
					out, err := p.play(st, table)
					if err != nil {
						t.Fatal(err)
					}
					ours[sessions[i].ID], faults[sessions[i].ID] = out, p.faults(out)
					writeSent(t, &sent, sessions[i].ID, out)
				}
				theirs := simulate(t, python, script, file, sent.Bytes())
				for i := range sessions {
					id := sessions[i].ID
					p, d := newPlayer(&sessions[i], Options{}), theirs[id]
					for _, tab := range Tables() {
						var a, b float64
						for k := range ours[id].sent {
							a += tab.Rates.Cost(ours[id].sent[k])
							b += tab.Rates.Cost(p.through[k])
						}
						if math.Abs(a/b-d.Ratio[tab.Name]) > 1e-9 || math.Abs(b-d.Base[tab.Name]) > 1e-6*b {
							t.Errorf("%s at %s: ratio %v of %v, simulator says %v of %v", id, tab.Name, a/b, b, d.Ratio[tab.Name], d.Base[tab.Name])
						}
					}
					if f := faults[id]; f.Changed != d.Masked || f.Lost != d.Lost || f.Blind != d.Blind || f.Results != d.Results {
						t.Errorf("%s: faults %+v, simulator says %+v", id, f, d)
					}
				}
			})
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

func simulate(t *testing.T, python, script, sessions string, sent []byte) map[string]simulated {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sent.jsonl")
	if err := os.WriteFile(file, sent, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, script, "--sessions", sessions, "--sent", file, "--json")
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

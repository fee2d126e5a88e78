package pruner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"secateur/internal/mcp/wire"
	"secateur/internal/prune/pruner"
	"secateur/internal/prune/rerank"

	"golang.org/x/tools/txtar"
)

// Every file of testdata is a dialogue: requests named "ask …" and their responses named "answer
// …", indented for reading.
func TestDialogues(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no dialogues: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newServer(t, func(o *pruner.Options) {
				if strings.HasPrefix(string(archive.Comment), "backend deepinfra") {
					o.Backend, o.Rerank = string(rerank.DeepInfra), lengthScores
				}
			})
			var out txtar.Archive
			out.Comment = archive.Comment
			for _, f := range archive.Files {
				story, asks := strings.CutPrefix(f.Name, "ask ")
				if !asks {
					continue
				}
				out.Files = append(out.Files, f, txtar.File{Name: "answer " + story, Data: answerTo(t, s, f.Data)})
			}
			got := txtar.Format(&out)
			if *update {
				if err := os.WriteFile(file, got, 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := txtar.Format(archive); !bytes.Equal(got, want) {
				t.Errorf("the dialogue is now\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func answerTo(t *testing.T, s *pruner.Server, request []byte) []byte {
	t.Helper()
	msg, bad := wire.ParseRequest(bytes.Clone(request), wire.MaxRequestDepth)
	if bad != nil {
		return indent(t, bad.AppendResponse(nil, msg.ID))
	}
	answer := s.Serve(t.Context(), &msg)
	if answer == nil {
		return []byte("(none)\n")
	}
	return indent(t, estimates.ReplaceAll(answer, []byte(`${1}0`)))
}

// estimates belong to another package and are shown as 0.
var estimates = regexp.MustCompile(`(\\?"(?:tokens_est_before|tokens_est_after|tokens_saved_est|cost_estimated_usd)\\?":)-?[0-9.]+`)

func indent(t *testing.T, doc []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, doc)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// lengthScores is a reranker that prefers short documents.
func lengthScores(_ context.Context, _, _ string, docs []string) (rerank.Result, error) {
	out := rerank.Result{Status: 200, Latency: 12 * time.Millisecond}
	for _, d := range docs {
		out.Scores = append(out.Scores, 1/float64(1+len(d)))
	}
	return out, nil
}

// The schemas equal those in the specification, to the last key.
func TestSchemasAreTheSpecified(t *testing.T) {
	var answer struct {
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(ask(t, newServer(t, nil), `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`).Result, &answer); err != nil {
		t.Fatal(err)
	}
	specified := map[string]string{
		"prune_text": `{
  "type": "object",
  "properties": {
    "text": {"type": "string"},
    "goal_hint": {"type": "string"},
    "source_type": {"type": "string", "enum": ["code", "logs", "docs"]},
    "options": {
      "type": "object",
      "properties": {
        "max_prune_ratio": {"type": "number", "minimum": 0, "maximum": 1},
        "min_keep_lines": {"type": "integer", "minimum": 0},
        "timeout_ms": {"type": "integer", "minimum": 1},
        "annotate_lines": {"type": "boolean"},
        "include_markers": {"type": "boolean"}
      },
      "required": ["max_prune_ratio", "min_keep_lines", "timeout_ms", "annotate_lines", "include_markers"],
      "additionalProperties": false
    }
  },
  "required": ["text", "goal_hint", "source_type", "options"],
  "additionalProperties": false
}`,
		"recover_text": `{
  "type": "object",
  "properties": {
    "prune_id": {"type": "string"},
    "ranges": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "start_line": {"type": "integer", "minimum": 1},
          "end_line": {"type": "integer", "minimum": 1}
        },
        "required": ["start_line", "end_line"],
        "additionalProperties": false
      }
    },
    "include_line_numbers": {"type": "boolean"}
  },
  "required": ["prune_id", "ranges", "include_line_numbers"],
  "additionalProperties": false
}`,
	}
	var names []string
	for _, tool := range answer.Tools {
		names = append(names, tool.Name)
		if tool.Description == "" {
			t.Errorf("%s has no description", tool.Name)
		}
		want, ok := specified[tool.Name]
		if !ok {
			continue
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if string(tool.InputSchema) != compact.String() {
			t.Errorf("schema of %s\n got %s\nwant %s", tool.Name, tool.InputSchema, compact.String())
		}
	}
	if got := strings.Join(names, " "); got != "prune_text recover_text recover_chars search_text health" {
		t.Errorf("tools: %s", got)
	}
}

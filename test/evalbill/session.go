package main

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
	"time"
)

// session is a recorded agent run.
type session struct {
	ID       string            `json:"id"`
	Messages []json.RawMessage `json:"messages"`
	// Time of each answer; empty: not recorded.
	Offsets []float64 `json:"request_offsets_s"`
	// Tokens of the first request outside of its messages.
	Prefix float64 `json:"prefix_tokens"`
}

// readSessions reads all recorded runs of a directory.
func readSessions(dir string) (all []session, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		some, err := readFile(path)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no sessions in %s: EVALDATA names the directory above", dir)
	}
	return all, nil
}

func readFile(path string) (all []session, err error) {
	f, err := os.Open(path) //nolint:gosec // the user names the folder on the command line
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plain, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(plain); ; {
		var s session
		if err := d.Decode(&s); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
}

// pause is the time between two requests if none was recorded.
const pause = 7 * time.Second

// request is what the agent sent at a time after its first request.
type request struct {
	body   []byte
	at     time.Duration
	answer json.RawMessage
}

// requests yields what was sent before each answer, for a model, at most most requests; 0: all.
func (s *session) requests(model string, most int, yield func(request) error) error {
	name, _ := json.Marshal(model)
	head := `{"model":` + string(name) + `,"tools":[{"type":"function","function":{"name":"tools","description":"` + filler(int(s.Prefix)) + `"}}],"messages":[`
	var said strings.Builder
	said.WriteString(head)
	n := 0
	for i, m := range s.Messages {
		var msg struct {
			Role string `json:"role"`
		}
		if err := json.Unmarshal(m, &msg); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		if msg.Role == "assistant" {
			at := time.Duration(n) * pause
			if n < len(s.Offsets) {
				at = time.Duration(s.Offsets[n] * float64(time.Second))
			}
			if err := yield(request{body: []byte(said.String() + "]}"), at: at, answer: m}); err != nil {
				return fmt.Errorf("request %d: %w", n, err)
			}
			if n++; n == most {
				return nil
			}
		}
		if i > 0 {
			said.WriteByte(',')
		}
		said.Write(m)
	}
	return nil
}

// filler stands for tool definitions that were sent but not recorded: that many words, a token
// each.
func filler(words int) string {
	var b strings.Builder
	for i := range words {
		b.WriteString([]string{" read", " path", " when", " lines", " of", " search", " the", " result"}[i%8])
	}
	return b.String()
}

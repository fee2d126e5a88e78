package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// journalName ends the name of a day's journal, which all commands share that run once and end: each appends a line in one write.
const journalName = "journal.jsonl"

// Journal counts a text that a command has cut that has no History. The directory is made where it is missing.
func Journal(dir string, at time.Time, c Cut) error {
	row := row{Server: clip(c.Server), Tool: clip(c.Tool), Model: clip(c.Model), Feature: clip(c.Feature)}
	b, err := json.Marshal(line{Hour: startOf(at), row: row, counters: counters{Cuts: 1, CutTokens: c.Tokens}})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, dayOf(at)+"."+journalName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	_, err = f.Write(append(b, '\n'))
	return errors.Join(err, f.Close())
}

// readJournal reads a journal's lines; one that is not whole counts nothing.
func readJournal(b []byte) (rows []line) {
	for text := range bytes.Lines(b) {
		var l line
		if json.Unmarshal(text, &l) == nil && !l.Hour.IsZero() {
			rows = append(rows, l)
		}
	}
	return rows
}

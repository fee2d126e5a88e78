// Package cases reads the evaluation cases.
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
	"slices"
)

// Case is one text with a goal, and the lines that the goal needs.
type Case struct {
	ID         string `json:"id"`
	Set        string `json:"set"`
	Subset     string `json:"subset"`
	Lang       string `json:"lang"`
	Repo       string `json:"repo"`
	Path       string `json:"path"`
	SourceType string `json:"source_type"`
	Goal       string `json:"goal_hint"`
	Task       string `json:"goal_task"` // views: the agent's task
	// views: the lines begin with numbers that are not part of the text.
	Numbered bool    `json:"numbered"`
	Text     string  `json:"text"`
	Gold     []int   `json:"gold"`
	Groups   [][]int `json:"gold_groups"`
	Context  []int   `json:"context"`
}

// Group returns the case's value of the field by which results are grouped.
func (c *Case) Group(by string) string {
	switch by {
	case "subset":
		return c.Subset
	case "lang":
		return c.Lang
	case "repo":
		return c.Repo
	}
	return ""
}

// Folder returns the folder of the cases: prune below EVALDATA, default ../shared/evaldata.
func Folder() string {
	dir := os.Getenv("EVALDATA")
	if dir == "" {
		dir = filepath.Join("..", "shared", "evaldata")
	}
	return filepath.Join(dir, "prune")
}

// Load reads every case file of a folder.
func Load(dir string) ([]*Case, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no *.jsonl.gz in %s", dir)
	}
	slices.Sort(files)
	var cases []*Case
	for _, name := range files {
		if cases, err = appendCases(cases, name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return cases, nil
}

func appendCases(cases []*Case, name string) ([]*Case, error) {
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
		c := &Case{}
		if err := d.Decode(c); errors.Is(err, io.EOF) {
			return cases, nil
		} else if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
}

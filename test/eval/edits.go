package main

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"secateur/internal/llm/bpe"
	"secateur/internal/llm/chat"
	"secateur/internal/prune"
	"secateur/test/eval/cases"
	"secateur/test/eval/fit"
)

// view is a file that an agent reads, and the lines that it edits next.
type view struct {
	of     *cases.Case
	set    string // a row of the table: "files" or "views"
	named  bool   // the assistant names the function that it edits before reading
	call   string // the path in the call, or the command
	said   string
	task   string
	text   string
	edited []int // line numbers from 1
}

// editViews returns the files and views of the cases as agents read them. A file is read twice: by
// an agent that names the function it wants, and by one that only says that it reads. A view uses
// what was really said.
func editViews(all []*cases.Case) (out []*view) {
	for _, c := range all {
		switch c.Set {
		case "code":
			lines := strings.Split(strings.TrimSuffix(c.Text, "\n"), "\n")
			name, group := "", c.Groups[0]
			for _, g := range c.Groups {
				if n := functionOf(c, lines, g); n != "" {
					name, group = n, g
					break
				}
			}
			var b strings.Builder
			for i, line := range lines {
				fmt.Fprintf(&b, "%6d→%s\n", i+1, line)
			}
			v := view{of: c, set: "files", call: c.Path, task: "Go on with the next item.", text: b.String(), edited: group}
			v.said = "Now let me read this file."
			unnamed := v
			out = append(out, &unnamed)
			if name != "" {
				v.named, v.said = true, "Let me look at "+name+" in this file."
				out = append(out, &v)
			}
		case "views":
			call, said, _ := strings.Cut(c.Goal, "\n")
			v := &view{of: c, set: "views", call: call, said: said, task: c.Task, text: c.Text, edited: c.Gold}
			v.named = namesEdit(c)
			out = append(out, v)
		}
	}
	return out
}

var (
	keyworded = regexp.MustCompile(`\b(?:func|def|defp|function|fn)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w{2,})`)
	signature = regexp.MustCompile(`^(?:[\w<>\[\],:*&?~ ]+[ *&])?(?:\w+::)?([A-Za-z_]\w{2,})\s*\([^=.]*[{(,)]$`)
	blockWord = regexp.MustCompile(`^(?:\} )?(?:if|else|elif|for|foreach|while|switch|try|catch|case|match|return|with|do|default|select|go|defer|new|await|throw|class|struct|impl|unsafe|loop)\b`)
)

// functionOf returns the name of the innermost function around a group of lines.
func functionOf(c *cases.Case, lines []string, group []int) string {
	name := ""
	for _, n := range c.Context {
		if n > group[0] {
			break
		}
		line := strings.TrimSpace(lines[n-1])
		if blockWord.MatchString(line) || !encloses(lines, n, group[0]) {
			continue
		}
		if m := keyworded.FindStringSubmatch(line); m != nil {
			name = m[1]
		} else if m := signature.FindStringSubmatch(line); m != nil {
			name = m[1]
		}
	}
	return name
}

// encloses reports whether every non-blank line between a header and a line is indented deeper than
// the header.
func encloses(lines []string, header, line int) bool {
	depth := indentOf(lines[header-1])
	for _, l := range lines[header:line] {
		body := strings.TrimSpace(l)
		if body != "" && indentOf(l) <= depth && !strings.HasPrefix(body, "{") && !strings.HasPrefix(body, ")") && !strings.HasPrefix(body, "#") {
			return false
		}
	}
	return true
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// namesEdit reports whether a view's call, or the text before it, names something in the edited
// lines or the headers around them.
func namesEdit(c *cases.Case) bool {
	lines := strings.Split(c.Text, "\n")
	has := map[string]bool{}
	for _, numbers := range [][]int{c.Gold, c.Context} {
		for _, n := range numbers {
			cases.EachIdentifier(lines[n-1], func(w string) { has[w] = true })
		}
	}
	named := false
	_, said, _ := strings.Cut(c.Goal, "\n")
	cases.EachIdentifier(said, func(w string) { named = named || has[w] })
	return named
}

// read returns the view's result as sent on first pass; false: it is sent whole.
func (v *view) read() (string, bool, error) {
	arguments, _ := json.Marshal(map[string]string{"file_path": v.call})
	body, err := json.Marshal(map[string]any{"model": "any", "messages": []any{
		map[string]any{"role": "user", "content": v.task},
		map[string]any{"role": "assistant", "content": v.said, "tool_calls": []any{map[string]any{
			"id": "call_1", "type": "function", "function": map[string]any{"name": "Read", "arguments": string(arguments)},
		}}},
		map[string]any{"role": "tool", "tool_call_id": "call_1", "content": v.text},
	}})
	if err != nil {
		return "", false, err
	}
	c, err := chat.Read(body)
	if err != nil {
		return "", false, err
	}
	s := chat.DefaultPruning()
	s.Enabled = true
	for _, job := range c.Jobs(s, chat.Past{}) {
		out, ok := c.Prune(s, job, "prn_R5JT960T52MN9N4FMKV3BW2QZ4", nil)
		return out, ok, nil
	}
	return "", false, nil
}

// survival is what is left of the views of one kind.
type survival struct {
	Views, Pruned int     // long enough to be pruned, and pruned
	Lines, Whole  float64 // share of the edited lines that is left, and of views with all of them
	Before, After int     // tokens of all, including markers
	Again         int     // plus those of a second read if some edited lines are missing
}

func (s *survival) add(v *view) error {
	if utf8.RuneCountInString(v.text) < chat.DefaultPruning().MinChars {
		return nil
	}
	s.Views++
	before := bpe.Count(v.text)
	s.Before += before
	out, ok, err := v.read()
	if err != nil {
		return err
	}
	if !ok {
		s.After += before
		s.Lines++
		s.Whole++
		return nil
	}
	s.Pruned++
	s.After += bpe.Count(out)
	left := map[string]bool{}
	for line := range strings.Lines(out) {
		left[strings.TrimRight(line, "\n")] = true
	}
	lines, kept := strings.Split(v.text, "\n"), 0
	for _, n := range v.edited {
		if left[lines[n-1]] {
			kept++
		}
	}
	s.Lines += float64(kept) / float64(len(v.edited))
	if kept == len(v.edited) {
		s.Whole++
	} else {
		s.Again += before
	}
	return nil
}

// editKinds are the rows of the table.
var editKinds = []struct {
	set   string
	named bool
	title string
}{
	{"files", true, "files, the function is named"},
	{"files", false, "files, nothing is named"},
	{"views", true, "views, something of the edit is named"},
	{"views", false, "views, nothing is named"},
}

// measureEdits prunes every view with a model that was not fitted to its project.
func measureEdits(all, used []*cases.Case, folds int) ([]survival, error) {
	set := fit.Chosen("code")
	data, err := fit.Measure(fit.Course("code", all, used), set.Bins, nil)
	if err != nil {
		return nil, err
	}
	out := make([]survival, len(editKinds))
	views := editViews(all)
	err = data.Unseen(set, folds, func(model []prune.TrialTree, isUnseen func(*cases.Case) bool) error {
		defer prune.TryModel(prune.Code, model)()
		for _, v := range views {
			for i, k := range editKinds {
				if k.set == v.set && k.named == v.named && isUnseen(v.of) {
					if err := out[i].add(v); err != nil {
						return fmt.Errorf("%s: %w", v.of.ID, err)
					}
				}
			}
		}
		return nil
	})
	return out, err
}

func printEdits(w io.Writer, rows []survival) {
	fmt.Fprintln(w, "| read for an edit | read | pruned | edited lines left | all of them | tokens left | and of a second read where a line is missing |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	for i, s := range rows {
		n := float64(max(1, s.Views))
		part := func(tokens int) string { return short(float64(tokens) / float64(max(1, s.Before))) }
		fmt.Fprintf(w, "| %s | %d | %d | %s | %s | %s | %s |\n", editKinds[i].title, s.Views, s.Pruned, short(s.Lines/n), short(s.Whole/n),
			part(s.After), part(s.After+s.Again))
	}
}

// unseenEdits measures the views of all cases.
func unseenEdits(all []*cases.Case, folds int) ([]survival, error) {
	used, err := cases.Sessions(sessionsFolder(), kindOf)
	if err != nil {
		return nil, err
	}
	return measureEdits(all, used, folds)
}

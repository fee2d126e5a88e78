package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"

	"secateur/internal/llm/chat"
	"secateur/test/eval/cases"
)

// firstPass counts the results of recorded runs that the chat proxy prunes on first pass. It also
// counts those that lose an identifier which a later answer uses and no other sent text has.
type firstPass struct {
	Pruned  int
	Lost    int     // with the names in markers
	Unnamed int     // the same without names in markers
	Kept    float64 // mean share of the remaining characters
}

// markerNames matches the names that a marker lists.
var markerNames = regexp.MustCompile(`(?:; noms:| names:) [^⟧\n]*`)

// measureFirstPass plays the recorded runs below a folder.
func measureFirstPass(dir string) (firstPass, error) {
	runs, err := cases.Runs(dir)
	if err != nil {
		return firstPass{}, err
	}
	var out firstPass
	for i := range runs {
		if err := out.play(&runs[i]); err != nil {
			return out, fmt.Errorf("%s: %w", runs[i].ID, err)
		}
	}
	out.Kept /= float64(max(1, out.Pruned))
	return out, nil
}

// play prunes the results of one run and looks for what its answers miss.
func (f *firstPass) play(run *cases.Run) error {
	named, bare := newPrompt(), newPrompt()
	begun := 0 // messages before the last answer's results
	for i, m := range run.Messages {
		switch m.Role {
		case "assistant":
			f.Lost += named.answer(m)
			f.Unnamed += bare.answer(m)
			begun = i
		case "tool":
			text, ok, err := pruned(run, i, begun)
			if err != nil {
				return err
			}
			if ok {
				f.Pruned++
				f.Kept += float64(len(text)) / float64(len(m.Content))
				named.add(m.Content, text)
				bare.add(m.Content, markerNames.ReplaceAllString(text, ""))
				continue
			}
		}
		named.add("", m.Words())
		bare.add("", m.Words())
	}
	return nil
}

// pruned returns the result of a run as sent; false: it is sent whole.
func pruned(run *cases.Run, result, begun int) (string, bool, error) {
	s := chat.DefaultPruning()
	s.Enabled = true
	if len(run.Messages[result].Content) < s.MinChars {
		return "", false, nil
	}
	body, err := json.Marshal(map[string]any{"model": "any", "messages": run.Raw[:result+1]})
	if err != nil {
		return "", false, err
	}
	c, err := chat.Read(body)
	if err != nil {
		return "", false, err
	}
	for _, job := range c.Jobs(s, chat.Past{}) {
		if job.Message == result && result > begun {
			text, ok := c.Prune(s, job, "prn_R5JT960T52MN9N4FMKV3BW2QZ4", nil)
			return text, ok, nil
		}
	}
	return "", false, nil
}

// prompt is what the model has been sent so far.
type prompt struct {
	holds   map[string]bool // its identifiers
	missing map[string][]*cut
}

// cut is a pruned result.
type cut struct {
	size int
	lost bool
}

func newPrompt() *prompt { return &prompt{map[string]bool{}, map[string][]*cut{}} }

// add sends a message: whole is its unpruned text; "": not pruned.
func (p *prompt) add(whole, sent string) {
	here := map[string]bool{}
	cases.EachIdentifier(sent, func(w string) { p.holds[w], here[w] = true, true })
	c := &cut{size: len(whole)}
	cases.EachIdentifier(whole, func(w string) {
		if !here[w] {
			here[w] = true
			p.missing[w] = append(p.missing[w], c)
		}
	})
}

// answer looks for the identifiers of an answer that were cut and occur nowhere else. It returns
// how many results first turn out to be missed: for each such identifier the smallest result that
// has it, unless one of them is known to be missed.
func (p *prompt) answer(m cases.Message) (lost int) {
	cases.EachIdentifier(m.Words(), func(w string) {
		from := p.missing[w]
		if len(from) == 0 || p.holds[w] {
			return
		}
		least := from[0]
		for _, c := range from {
			if c.lost {
				return
			}
			if c.size < least.size {
				least = c
			}
		}
		least.lost = true
		lost++
	})
	return lost
}

func sessionsFolder() string { return filepath.Join(filepath.Dir(cases.Folder()), "sessions") }

package hook

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"secateur/internal/cut/mask"
	"secateur/internal/llm/chat"
	"secateur/internal/llm/tokens"
	"secateur/internal/prune"
	"secateur/internal/rawjson"
	"secateur/internal/store/originals"
)

// Options make a Hook.
type Options struct {
	Settings       Settings
	Originals      originals.Store // where originals go before they are cut
	StateDir       string          // where it is noted what was cut in a session
	RecoverCommand string          // to which an id and lines are added
	Observe        func(context.Context, Cut)
}

// Cut is a text that was cut.
type Cut struct {
	ID, Tool    string
	Chars, Kept int // of the original, and of what is left of it
	Tokens      int // an estimate of what is missing
	Goal        string
	Sent        string
}

// Hook answers the events of an agent's program. Its methods may be used by many goroutines.
type Hook struct {
	opt      Options
	pruning  chat.Pruning
	sessions sessions
}

// New makes a Hook.
func New(opt Options) (*Hook, error) {
	if opt.Originals == nil || opt.StateDir == "" {
		return nil, errors.New("hook: a store and a state directory are needed")
	}
	h := &Hook{opt: opt, pruning: chat.DefaultPruning(), sessions: sessions{SessionDir(opt.StateDir)}}
	h.pruning.MinChars, h.pruning.TargetChars = opt.Settings.MinChars, opt.Settings.TargetChars
	return h, nil
}

// SocketDir is where daemons of this user have their sockets for events.
func SocketDir(stateDir string) string { return filepath.Join(stateDir, "hook") }

// SessionDir is where sessions are noted.
func SessionDir(stateDir string) string { return filepath.Join(SocketDir(stateDir), "sessions") }

// Caller is who sends an event.
type Caller struct {
	Tenant string
	Local  bool // it is on this machine: the transcript that it names may be read
}

// timeout is how long an event may take.
const timeout = 5 * time.Second

// Answer answers an event of Claude Code; nil: there is nothing to say.
func (h *Hook) Answer(ctx context.Context, who Caller, event []byte) ([]byte, error) {
	event = rawjson.Trim(event)
	if err := rawjson.Check(event, maxDepth); err != nil {
		return nil, fmt.Errorf("the event is no JSON: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	e := readEvent(event)
	switch {
	case e.name == "PostToolUse":
		return h.prune(ctx, who, e)
	case e.name == "PreCompact", e.name == "SessionStart" && (e.source == "compact" || e.source == "clear"):
		return nil, errors.Join(h.sessions.forget(who.Tenant, e.session), h.sessions.sweep(time.Now()))
	}
	return nil, nil
}

// event is what a client tells.
type event struct {
	name, source, session, agent, transcript, tool string
	input, response                                []byte
}

func readEvent(doc []byte) event {
	at := rawjson.FindAll(doc, "hook_event_name", "source", "session_id", "agent_id", "transcript_path", "tool_name", "tool_input", "tool_response")
	word := func(i int) string { return string(rawjson.Word(at[i].Of(doc))) }
	return event{word(0), word(1), word(2), word(3), word(4), word(5), at[6].Of(doc), at[7].Of(doc)}
}

// prune answers the end of a call.
func (h *Hook) prune(ctx context.Context, who Caller, e event) ([]byte, error) {
	if !h.opt.Settings.prunes(e.tool) || chat.IsSpared(e.tool) || len(e.response) < h.opt.Settings.MinChars {
		return nil, nil
	}
	s, ok := find(e.tool, e.response)
	if !ok {
		return nil, nil
	}
	chars := rawjson.Chars(s.text)
	if chars < h.opt.Settings.MinChars || mask.IsRecovered(s.text) || prune.HasMark(s.text) || mask.NamesOriginal(e.input) || isWanted(e) {
		return nil, nil
	}
	file := h.sessions.fileOf(who.Tenant, e.session, e.agent)
	before, err := h.sessions.read(file)
	if err != nil {
		return nil, fmt.Errorf("what was cut in the session is not known: %w", err)
	}
	n := note{text: h.opt.Originals.ID(who.Tenant, s.text)}
	if key, ok := chat.AskKey(e.tool, e.input); ok {
		n.ask = key.String()
	}
	if before.texts[n.text] || before.asks[n.ask] {
		return nil, nil // asked for twice
	}
	var told said
	if who.Local && e.transcript != "" {
		tail, unread := readTail(transcriptOf(e.transcript, e.agent))
		if unread == nil {
			told = readSaid(tail)
		}
	}
	if e.tool == "Read" && isAboutToEdit(told.assistant, rawjson.GetText(e.input, "file_path")) {
		return nil, nil
	}
	return h.cut(ctx, who, e, s, cutting{file: file, note: n, isFirst: before.cuts == 0, chars: chars, told: told})
}

// cutting is a cut that may be made.
type cutting struct {
	file    string // of the session
	note    note
	isFirst bool // of the session
	chars   int
	told    said
}

// cut prunes the text of a spot, keeps its original, notes that, and answers.
func (h *Hook) cut(ctx context.Context, who Caller, e event, s spot, c cutting) ([]byte, error) {
	id := c.note.text
	asked := chat.AskedBy(string(e.input), c.told.assistant, c.told.tasks, c.told.words)
	var by chat.Recovery
	if c.isFirst {
		by = chat.Recovery{Tool: c.told.recover, Shell: h.opt.RecoverCommand}
	}
	out, ok := h.pruning.Prune(s.text, asked, by, id, func() bool { return ctx.Err() != nil })
	if ok && s.first > 0 {
		out, ok = renumber(out, s.first)
	}
	if !ok {
		return nil, nil
	}
	response := s.put(e.response, out)
	if len(response) >= len(e.response) {
		return nil, nil
	}
	c.note.tokens = max(0, tokens.Sample(s.text, tokens.Logs)-tokens.Sample(out, tokens.Logs))
	if _, err := h.opt.Originals.Put(ctx, who.Tenant, s.text); err != nil { // content fails open: what cannot be kept is not cut
		return nil, fmt.Errorf("original not kept: %w", err)
	}
	if err := h.sessions.add(c.file, c.note); err != nil {
		return nil, fmt.Errorf("cut not noted: %w", err)
	}
	if h.opt.Observe != nil {
		h.opt.Observe(ctx, Cut{ID: id, Tool: e.tool, Chars: c.chars, Kept: rawjson.Chars(out), Tokens: c.note.tokens, Goal: asked.Goal, Sent: out})
	}
	answer := append(make([]byte, 0, len(response)+128), `{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":`...)
	return append(append(answer, response...), "}}\n"...), nil
}

// smallFile is how many lines a file has at least of which a Read is pruned.
const smallFile = 400

// isWanted tells whether a call asks for just this text: a part of a file, or a small file.
func isWanted(e event) bool {
	if e.tool != "Read" {
		return false
	}
	for _, at := range rawjson.FindAll(e.input, "offset", "limit", "pages") {
		if !rawjson.IsNothing(at.Of(e.input)) {
			return true
		}
	}
	if rawjson.GetText(e.response, "type") != "text" {
		return false
	}
	lines, err := strconv.Atoi(string(rawjson.Get(rawjson.Get(e.response, "file"), "totalLines")))
	return err != nil || lines < smallFile
}

// changes are words with which an agent says that it is going to change a file.
var changes = regexp.MustCompile(`(?i)\b(edit|chang|fix|modif|updat|rewrit|replac|refactor|renam|patch|implement|add|remov|delet|insert|mov|extract|adjust|appl|wir|extend)(e|es|ed|ing|y|ies|ied|s)?\b`)

// isAboutToEdit tells whether an agent has just said that it will change a file.
func isAboutToEdit(said, file string) bool {
	name := filepath.Base(filepath.ToSlash(file))
	return file != "" && strings.Contains(said, name) && changes.MatchString(said)
}

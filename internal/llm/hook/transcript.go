package hook

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"secateur/internal/cut/mask"
	"secateur/internal/rawjson"
)

// maxTail is how much of the end of a transcript is read.
const maxTail = 256 << 10

// maxDepth is how many containers an event or a line of a transcript may have within each other.
const maxDepth = 512

// readTail reads the end of a transcript, from the beginning of a line on.
func readTail(path string) ([]byte, error) {
	if !filepath.IsAbs(path) || filepath.Ext(path) != ".jsonl" {
		return nil, errors.New("transcript_path is no absolute path of a .jsonl file")
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("the transcript is no regular file"))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-maxTail)
	tail := make([]byte, min(info.Size(), maxTail))
	n, err := f.ReadAt(tail, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	tail = tail[:n]
	if from > 0 {
		_, tail, _ = bytes.Cut(tail, []byte("\n"))
	}
	return tail, nil
}

// transcriptOf is the transcript of a session, or of a sub-agent in it, which has one of its own.
func transcriptOf(path, agent string) string {
	if agent == "" || strings.ContainsAny(agent, `/\`) {
		return path
	}
	return filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-"+agent+".jsonl")
}

// said is what a transcript tells of why a tool was called.
type said struct {
	assistant string   // what it said last
	tasks     []string // what the user asked for: first, and last where that is another
	words     [][]byte // of both, raw, and the arguments of calls, in order
	recover   string   // the tool that gives back lines of an original, as the client lists it; "": none was seen
}

// readSaid reads the lines of a transcript. The last one may be half a line.
func readSaid(tail []byte) (s said) {
	for rest := tail; len(rest) > 0; {
		at := bytes.LastIndexByte(bytes.TrimSuffix(rest, []byte("\n")), '\n') + 1
		line := bytes.TrimSpace(rest[at:])
		rest = rest[:at]
		if len(line) == 0 || rawjson.Check(line, maxDepth) != nil {
			continue
		}
		s.readLine(line)
	}
	slices.Reverse(s.words)
	slices.Reverse(s.tasks)
	if n := len(s.tasks); n > 2 {
		s.tasks = []string{s.tasks[0], s.tasks[n-1]}
	}
	return s
}

// readLine takes in a line; those behind it were read before.
func (s *said) readLine(line []byte) {
	found := rawjson.FindAll(line, "type", "message", "isMeta", "isCompactSummary")
	kind := string(rawjson.Word(found[0].Of(line)))
	content := rawjson.Get(found[1].Of(line), "content")
	switch {
	case kind == "attachment":
		s.readTools(rawjson.Get(line, "attachment"))
	case string(found[2].Of(line)) == "true" || string(found[3].Of(line)) == "true" || len(content) == 0:
	case kind == "assistant":
		s.readAssistant(content)
	case kind == "user":
		s.readUser(content)
	}
}

// readTools takes in a list of the tools that the client has. Servers' own words about their tools do not count.
func (s *said) readTools(attachment []byte) {
	if s.recover != "" || rawjson.GetText(attachment, "type") != "deferred_tools_delta" {
		return
	}
	for item := range rawjson.Items(rawjson.Get(attachment, "addedNames")) {
		if name := string(rawjson.Word(item)); strings.HasPrefix(name, mcpPrefix) && strings.HasSuffix(name, mask.RecoverTool) {
			s.recover = name
		}
	}
}

func (s *said) readAssistant(content []byte) {
	for block := range rawjson.Items(content) {
		switch rawjson.GetText(block, "type") {
		case "text":
			if text := rawjson.GetText(block, "text"); s.assistant == "" && strings.TrimSpace(text) != "" {
				s.assistant = text
			}
			s.words = append(s.words, rawjson.Get(block, "text"))
		case "tool_use":
			s.words = append(s.words, rawjson.Get(block, "input"))
		}
	}
}

func (s *said) readUser(content []byte) {
	text := ""
	if rawjson.IsString(content) {
		text = rawjson.Unquote(content)
		s.words = append(s.words, content)
	}
	for block := range rawjson.Items(content) {
		if rawjson.GetText(block, "type") == "text" && text == "" {
			text = rawjson.GetText(block, "text")
			s.words = append(s.words, rawjson.Get(block, "text"))
		}
	}
	if text = strings.TrimSpace(text); text != "" && !isClients(text) {
		s.tasks = append(s.tasks, text)
	}
}

// isClients tells whether a text in the user's name is the client's own.
func isClients(text string) bool {
	for _, start := range []string{"<system-reminder>", "<command-", "<local-command-", "<bash-", "Caveat: ", "[Request interrupted", "<task-notification>"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

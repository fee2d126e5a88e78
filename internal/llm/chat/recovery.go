package chat

import (
	"bytes"
	"fmt"
	"strings"

	"secateur/internal/cut/mask"
	"secateur/internal/prune"
)

// Recovery says how a model can get cut text back. The first marker of a conversation mentions it;
// the zero value mentions nothing.
type Recovery struct {
	Tool  string // a tool that the client offers; "": none
	Shell string // a command to which an id and lines are added; "": none
	Note  string // a sentence that tells it instead; "": none
}

// RecoveryBy returns the way that a client has: our MCP door's tool if the request names it, else a
// shell command.
func (c *Conversation) RecoveryBy(shell string) Recovery {
	r := Recovery{Tool: c.recoverTool, Shell: shell}
	if r.Tool == "" && c.Format == Messages && len(c.Messages) > 0 {
		begins := c.List()[:c.Messages[c.root()-1].End()]
		r.Tool = recoverToolIn(begins[:min(len(begins), maxBegins)], deferredPrefix)
	}
	return r
}

// Engine identifies the pruning engine together with these markers: equal engines give equal
// results.
func (r Recovery) Engine(p Pruning) uint64 {
	d := newDigest()
	d.write([]byte(r.Tool))
	d.write([]byte(r.Shell))
	k := d.step(p.Engine(), mixA).sum()
	return max(1, word(k[:]))
}

const (
	// deferredPrefix begins the names of MCP tools in Claude Code. It lists them in a text if it
	// does not send all definitions.
	deferredPrefix = "mcp__"
	// maxBegins is how many bytes of a conversation are searched for that list.
	maxBegins = 256 << 10
)

// note returns the sentence that the first marker of a conversation adds.
func (r Recovery) note(m prune.Mark) string {
	switch {
	case r.Note != "":
		return r.Note
	case r.Tool != "" && m.Unit == prune.InChars:
		tool := strings.TrimSuffix(r.Tool, mask.RecoverTool) + "recover_chars"
		return fmt.Sprintf("Left out to save context; to read it, call %s with prune_id, start and end.", tool)
	case r.Tool != "":
		return fmt.Sprintf("These lines were left out to save context; to read any of them, call %s with prune_id and ranges.", r.Tool)
	case r.Shell == "":
		return ""
	case m.Unit == prune.InChars:
		return fmt.Sprintf("Left out to save context; to read it, run `%s %s --chars %d-%d` in a shell.", r.Shell, m.ID, m.Start, m.End)
	}
	return fmt.Sprintf("These lines were left out to save context; to read any of them, run `%s %s %d-%d` in a shell.", r.Shell, m.ID, m.Start, m.End)
}

// recoverToolIn finds the name of the pruner's recovery tool in a list of tools, or in a text that
// names tools.
func recoverToolIn(raw []byte, begins string) string {
	for rest := raw; ; {
		at := bytes.Index(rest, []byte(mask.RecoverTool))
		if at < 0 {
			return ""
		}
		start, end := at, at+len(mask.RecoverTool)
		for start > 0 && (isWordByte(rest[start-1]) || strings.IndexByte("-:./", rest[start-1]) >= 0) {
			start--
		}
		if begins != "" {
			// An escaped line end may precede it.
			start += max(0, bytes.Index(rest[start:end], []byte(begins)))
		}
		name := string(rest[start:end])
		isWhole := end == len(rest) || !isWordByte(rest[end]) && rest[end] != '-'
		if isWhole && strings.HasPrefix(name, begins) && isNamed(rest[:start], begins) {
			return name
		}
		rest = rest[end:]
	}
}

// isNamed reports whether the text before a word makes it the name of a tool.
func isNamed(before []byte, begins string) bool {
	if begins != "" {
		return true
	}
	before = bytes.TrimRight(before, " ")
	before, quoted := bytes.CutSuffix(before, []byte(`"`))
	before, isMember := bytes.CutSuffix(bytes.TrimRight(before, " "), []byte(":"))
	return quoted && isMember && bytes.HasSuffix(bytes.TrimRight(before, " "), []byte(`"name"`))
}

package chat

import (
	"bytes"
	"fmt"
	"strings"

	"secateur/internal/cut/mask"
	"secateur/internal/prune"
)

// Recovery is how a model gets back what was cut. The first marker of a conversation tells it; the zero value tells nothing.
type Recovery struct {
	Tool  string // that the client offers; "": none
	Shell string // a command to which an id and lines are added; "": none
}

// RecoveryBy is the way that a client has: a tool of our MCP door where the request names it, else a command for its shell.
func (c *Conversation) RecoveryBy(shell string) Recovery {
	r := Recovery{Tool: c.recoverTool, Shell: shell}
	if r.Tool == "" && c.Format == Messages && len(c.Messages) > 0 {
		begins := c.List()[:c.Messages[c.root()-1].End()]
		r.Tool = recoverToolIn(begins[:min(len(begins), maxBegins)], deferredPrefix)
	}
	return r
}

// Engine names what prunes where results are marked so: they come out the same where it is the same.
func (r Recovery) Engine(p Pruning) uint64 {
	d := newDigest()
	d.write([]byte(r.Tool))
	d.write([]byte(r.Shell))
	k := d.step(p.Engine(), mixA).sum()
	return max(1, word(k[:]))
}

const (
	// deferredPrefix begins the names of MCP tools in Claude Code, which lists them in a text where it does not send all of them.
	deferredPrefix = "mcp__"
	// maxBegins is how many bytes of a conversation are looked at for that list.
	maxBegins = 256 << 10
)

// note is the sentence that the first marker of a conversation adds.
func (r Recovery) note(m prune.Mark) string {
	switch {
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

// recoverToolIn finds the name under which a list of tools, or a text that names tools, has the pruner's tool that brings lines back.
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
			start += max(0, bytes.Index(rest[start:end], []byte(begins))) // an escaped end of a line may stand before it
		}
		name := string(rest[start:end])
		isWhole := end == len(rest) || !isWordByte(rest[end]) && rest[end] != '-'
		if isWhole && strings.HasPrefix(name, begins) && isNamed(rest[:start], begins) {
			return name
		}
		rest = rest[end:]
	}
}

// isNamed tells whether what stands before a word makes it the name of a tool.
func isNamed(before []byte, begins string) bool {
	if begins != "" {
		return true
	}
	before = bytes.TrimRight(before, " ")
	before, quoted := bytes.CutSuffix(before, []byte(`"`))
	before, isMember := bytes.CutSuffix(bytes.TrimRight(before, " "), []byte(":"))
	return quoted && isMember && bytes.HasSuffix(bytes.TrimRight(before, " "), []byte(`"name"`))
}

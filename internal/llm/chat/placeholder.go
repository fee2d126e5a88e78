package chat

import (
	"strconv"
	"strings"

	"secateur/internal/rawjson"
)

// placeholder is a parsed template.
type placeholder struct {
	parts []string // texts and, at odd indexes, the names of the fields between them
	hint  bool
	tells bool // it includes the id
	fixed int  // characters of the texts and of the hint
}

// unknownTool stands for a tool without a known name.
const unknownTool = "inconnu"

func parsePlaceholder(s Settings) placeholder {
	p := placeholder{hint: s.Recover == RecoverHint && !strings.Contains(s.PlaceholderTemplate, "{id}")}
	rest, text := s.PlaceholderTemplate, ""
	for {
		open := strings.IndexByte(rest, '{')
		if open < 0 {
			break
		}
		end := strings.IndexByte(rest[open:], '}') + open
		if end < open {
			break
		}
		switch name := rest[open+1 : end]; name {
		case "tool_call_id", "tool_name", "original_chars", "id":
			p.tells = p.tells || name == "id"
			p.parts = append(p.parts, text+rest[:open], name)
			text, rest = "", rest[end+1:]
		default:
			text, rest = text+rest[:open+1], rest[open+1:]
		}
	}
	p.parts = append(p.parts, text+rest)
	for i := 0; i < len(p.parts); i += 2 {
		p.fixed += rawjson.Chars(p.parts[i])
	}
	if p.hint {
		p.tells = true
		p.fixed += rawjson.Chars(hintFor(someID))
	}
	return p
}

// appendTo appends the filled template. Filled-in values are not expanded again.
func (p *placeholder) appendTo(dst []byte, callID, tool string, chars int, id string) []byte {
	if tool == "" {
		tool = unknownTool
	}
	for i, part := range p.parts {
		if i%2 == 0 {
			dst = append(dst, part...)
			continue
		}
		switch part {
		case "tool_call_id":
			dst = append(dst, callID...)
		case "tool_name":
			dst = append(dst, tool...)
		case "original_chars":
			dst = strconv.AppendInt(dst, int64(chars), 10)
		case "id":
			dst = append(dst, id...)
		}
	}
	if p.hint && id != "" {
		dst = append(dst, hintFor(id)...)
	}
	return dst
}

func (p *placeholder) render(callID, tool string, chars int, id string) string {
	return string(p.appendTo(nil, callID, tool, chars, id))
}

// hintFor says how to recover an original.
func hintFor(id string) string {
	return " [original: outil recover_text, prune_id=" + id + ", ou `secateur recover " + id + "`]"
}

// chars returns the length of the placeholder; all ids have the same length.
func (p *placeholder) chars(callID, tool string, chars int) int {
	if tool == "" {
		tool = unknownTool
	}
	n := p.fixed
	for i := 1; i < len(p.parts); i += 2 {
		switch p.parts[i] {
		case "tool_call_id":
			n += rawjson.Chars(callID)
		case "tool_name":
			n += rawjson.Chars(tool)
		case "original_chars":
			n += digits(chars)
		case "id":
			n += len(someID)
		}
	}
	return n
}

// digits returns the number of digits of a non-negative number.
func digits(n int) int {
	d := 1
	for ; n >= 10; n /= 10 {
		d++
	}
	return d
}

// someID is as long as an id.
const someID = "prn_00000000000000000000000000"

// made reports whether text is such a placeholder, with any number of characters and any id.
func (p *placeholder) made(text, callID, tool string) bool {
	if !strings.HasPrefix(text, p.parts[0]) {
		return false
	}
	const mark = "\x00"
	marked := placeholder{parts: p.asTexts(mark)}
	pieces := strings.Split(marked.render(callID, tool, 0, ""), mark)
	if len(text) > maxPlaceholder || !strings.HasPrefix(text, pieces[0]) {
		return false
	}
	for _, piece := range pieces {
		i := strings.Index(text, piece)
		if i < 0 {
			return false
		}
		text = text[i+len(piece):]
	}
	return p.hint || text == ""
}

// maxPlaceholder is the maximum length of a placeholder.
const maxPlaceholder = 1000

// asTexts returns the parts with the mark in place of a number or an id.
func (p *placeholder) asTexts(mark string) []string {
	parts := append([]string(nil), p.parts[0])
	for i := 1; i < len(p.parts); i += 2 {
		if name := p.parts[i]; name == "tool_call_id" || name == "tool_name" {
			parts = append(parts, name, p.parts[i+1])
		} else {
			parts[len(parts)-1] += mark + p.parts[i+1]
		}
	}
	return parts
}

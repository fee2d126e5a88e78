package hook

import (
	"strconv"
	"strings"

	"secateur/internal/rawjson"
)

// spot is the text of a tool's response that may be pruned.
type spot struct {
	at     rawjson.Span // its value in the response
	text   string
	isList bool // the value is a list of strings: the lines of the text
	first  int  // the number that the client writes before the first line; 0: it numbers no lines
}

// finder lists the texts of a response.
type finder func(response []byte) []rawjson.Span

// texts has the finders of Claude Code's own tools, by name. What a tool of another name answers is left alone, and so is a response
// that has another shape than its tool's.
var texts = map[string]finder{
	"Bash":                members("stdout", "stderr"),
	"BashOutput":          members("stdout", "stderr"),
	"PowerShell":          members("stdout", "stderr"),
	"Grep":                members("content"),
	"WebFetch":            members("result"),
	"WebSearch":           searchTexts,
	"ReadMcpResource":     within("contents", "text"),
	"ReadMcpResourceTool": within("contents", "text"),
}

// lists are the members that hold lines as a list of strings, by tool.
var lists = map[string]string{"Glob": "filenames", "Grep": "filenames"}

// mcpPrefix begins the names of the tools of MCP servers.
const mcpPrefix = "mcp__"

// find returns the longest text of a tool's response. It is not ok for a failure, for media, and for an unknown shape.
func find(tool string, response []byte) (s spot, ok bool) {
	if strings.HasPrefix(tool, mcpPrefix) {
		return longest(response, mcpTexts(response))
	}
	if !rawjson.IsObject(response) || isSpecial(response) {
		return spot{}, false
	}
	if tool == "Read" {
		return findRead(response)
	}
	if listed, isList := listOf(response, lists[tool]); isList {
		s, ok = listed, true
	}
	if f := texts[tool]; f != nil {
		if text, found := longest(response, f(response)); found && len(text.text) > len(s.text) {
			s, ok = text, true
		}
	}
	return s, ok
}

// isSpecial tells whether a response is a failure, was broken off, holds a picture, or stands for an output that the client has put into a
// file.
func isSpecial(response []byte) bool {
	for _, at := range rawjson.FindAll(response, "isError", "is_error", "interrupted", "isImage", "persistedOutputPath", "backgroundTaskId") {
		if raw := at.Of(response); !rawjson.IsNothing(raw) && string(raw) != "false" && string(raw) != `""` {
			return true
		}
	}
	return false
}

// findRead finds the text of a file. The client writes the number of each line before it.
func findRead(response []byte) (spot, bool) {
	at := rawjson.Find(response, "file")
	file := at.Of(response)
	switch kind := rawjson.GetText(response, "type"); {
	case !rawjson.IsObject(file) || kind != "text" && kind != "notebook":
		return spot{}, false
	case kind == "notebook":
		return longest(response, outputTexts(response, rawjson.Find(file, "cells").Within(at)))
	}
	s, ok := longest(response, []rawjson.Span{rawjson.Find(file, "content").Within(at)})
	first, err := strconv.Atoi(string(rawjson.Get(file, "startLine")))
	s.first = first
	return s, ok && err == nil && first > 0
}

// outputTexts are what the cells of a notebook have printed. Their sources are left alone: an edit needs them.
func outputTexts(response []byte, cells rawjson.Span) (all []rawjson.Span) {
	for _, cell := range itemsOf(response, cells) {
		for _, at := range within("outputs", "text")(cell.Of(response)) {
			all = append(all, at.Within(cell))
		}
	}
	return all
}

// longest is the longest of some values that are strings.
func longest(response []byte, all []rawjson.Span) (s spot, ok bool) {
	for _, at := range all {
		if raw := at.Of(response); rawjson.IsString(raw) && len(raw) > s.at.End-s.at.Start {
			s.at, ok = at, true
		}
	}
	if ok {
		s.text = rawjson.Unquote(s.at.Of(response))
	}
	return s, ok
}

// listOf reads a member that is a list of strings, none of them of several lines.
func listOf(response []byte, name string) (s spot, ok bool) {
	if name == "" {
		return spot{}, false
	}
	s.at, s.isList = rawjson.Find(response, name), true
	raw := s.at.Of(response)
	if len(raw) == 0 || raw[0] != '[' {
		return spot{}, false
	}
	var b strings.Builder
	for item := range rawjson.Items(raw) {
		line := rawjson.Unquote(item)
		if !rawjson.IsString(item) || strings.Contains(line, "\n") {
			return spot{}, false
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	s.text = b.String()
	return s, true
}

// put returns the response with another text in the place of the spot's.
func (s spot) put(response []byte, text string) []byte {
	if !s.isList {
		return rawjson.Replace(response, s.at, rawjson.AppendQuoted(nil, text))
	}
	return rawjson.Replace(response, s.at, rawjson.AppendTexts(nil, strings.Split(strings.TrimSuffix(text, "\n"), "\n")))
}

// members finds members of a response by their names.
func members(names ...string) finder {
	return func(response []byte) []rawjson.Span { return rawjson.FindAll(response, names...) }
}

// within finds a member in the objects of a list.
func within(list, name string) finder {
	return func(response []byte) (all []rawjson.Span) {
		for _, item := range itemsOf(response, rawjson.Find(response, list)) {
			object := item.Of(response)
			if rawjson.IsObject(object) {
				all = append(all, rawjson.Find(object, name).Within(item))
			}
		}
		return all
	}
}

// searchTexts are what a search says: texts, and the pages of hits.
func searchTexts(response []byte) (all []rawjson.Span) {
	for _, item := range itemsOf(response, rawjson.Find(response, "results")) {
		raw := item.Of(response)
		if rawjson.IsString(raw) {
			all = append(all, item)
		}
		if rawjson.IsObject(raw) {
			for _, at := range within("content", "snippet")(raw) {
				all = append(all, at.Within(item))
			}
		}
	}
	return all
}

// mcpTexts are the texts of what an MCP server's tool answers: a string, blocks, or a result with blocks. One with structuredContent is left
// alone, since the client may show that instead.
func mcpTexts(response []byte) []rawjson.Span {
	switch {
	case rawjson.IsString(response):
		return []rawjson.Span{{End: len(response)}}
	case len(response) > 0 && response[0] == '[':
		return blockTexts(response, rawjson.Span{End: len(response)})
	case !rawjson.IsObject(response) || isSpecial(response) || !rawjson.IsNothing(rawjson.Get(response, "structuredContent")):
		return nil
	}
	at := rawjson.Find(response, "content")
	if rawjson.IsString(at.Of(response)) {
		return []rawjson.Span{at}
	}
	return blockTexts(response, at)
}

// blockTexts are the texts of a list of content blocks.
func blockTexts(response []byte, list rawjson.Span) (all []rawjson.Span) {
	for _, item := range itemsOf(response, list) {
		if block := item.Of(response); rawjson.IsObject(block) && rawjson.GetText(block, "type") == "text" {
			all = append(all, rawjson.Find(block, "text").Within(item))
		}
	}
	return all
}

// itemsOf are the items of a list.
func itemsOf(doc []byte, list rawjson.Span) (all []rawjson.Span) {
	raw := list.Of(doc)
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	c := rawjson.NewCursor(raw)
	for c.Enter(); !c.Done(); {
		all = append(all, c.Value().Within(list))
	}
	return all
}

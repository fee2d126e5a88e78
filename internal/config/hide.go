package config

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/config/document"
	"secateur/internal/secret"
)

// HideSecrets returns the text of a file for display: literal secrets are replaced where they are
// set, and nowhere else. A command, its arguments, its directory and the host of a URL are always
// shown, because people decide by them.
func HideSecrets(path string, data []byte) []byte {
	text, refused := readableText(data)
	if refused != nil {
		return data
	}
	root, _, _ := parse(document.FormatOf(path, text), text)
	h := hider{text: text}
	h.walk(root, "", false)
	return h.result()
}

// hider finds the secrets of a file.
type hider struct {
	text   []byte
	starts []int // offsets of the file's keys and items
	secret []secretValue
}

// secretValue is a value to hide, or to show in part.
type secretValue struct {
	off         int // of its key
	value, show string
}

func (h *hider) walk(n *node, name string, hidden bool) {
	for _, m := range n.members {
		h.starts = append(h.starts, m.off)
		switch m.name {
		case "command", "args", "cwd":
			h.walk(m.value, m.name, false)
			continue
		case "headers", "http_headers", "otlp_headers":
			h.walk(m.value, m.name, true)
			continue
		}
		h.walk(m.value, m.name, hidden)
		if m.value.kind != kindString || m.value.text == "" || strings.Contains(m.value.text, "${") {
			continue
		}
		show := secret.URL(m.value.text)
		if isURL := m.name == "url" || m.name == "httpUrl" || m.name == "serverUrl"; !isURL {
			inEnv := name == "env" || name == "environment"
			if hidden || nameLooksSecret(m.name) || inEnv && valueLooksSecret(m.value.text) {
				show = secret.Mask
			}
		}
		if show != m.value.text {
			h.secret = append(h.secret, secretValue{m.off, m.value.text, show})
		}
	}
	for _, item := range n.items {
		h.starts = append(h.starts, item.off)
		h.walk(item, name, hidden)
	}
}

// result returns the text without the secrets.
func (h *hider) result() []byte {
	slices.Sort(h.starts)
	slices.SortFunc(h.secret, func(a, b secretValue) int { return cmp.Compare(a.off, b.off) })
	var out []byte
	done := 0
	for _, s := range h.secret {
		from := keyEnd(h.text, s.off)
		if from < done {
			continue
		}
		next, _ := slices.BinarySearch(h.starts, from)
		to := len(h.text)
		if next < len(h.starts) {
			to = h.starts[next]
		}
		out = append(append(out, h.text[done:from]...), s.hide(string(h.text[from:to]))...)
		done = to
	}
	return append(out, h.text[done:]...)
}

// hide replaces the value in the text from its key to the next one. A value in an unexpected
// spelling is hidden together with the rest of that text, up to the last line end.
func (s secretValue) hide(text string) string {
	sign := strings.IndexAny(text, "=:") + 1
	quoted, _ := jsontext.AppendQuote(nil, s.value)
	for _, written := range []string{string(quoted[1 : len(quoted)-1]), s.value} {
		if before, after, found := strings.Cut(text[sign:], written); found {
			return text[:sign] + before + s.show + after
		}
	}
	end := ""
	if i := strings.LastIndexByte(text, '\n'); i >= sign {
		end = text[i:]
	}
	return text[:sign] + " " + s.show + end
}

// keyEnd returns the end of the key that begins at an offset.
func keyEnd(text []byte, off int) int {
	if off < 0 || off >= len(text) {
		return len(text)
	}
	quote := text[off]
	if quote != '"' && quote != '\'' {
		if i := bytes.IndexAny(text[off:], "=:\n"); i >= 0 {
			return off + i
		}
		return len(text)
	}
	for i := off + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return len(text)
}

package pins

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/rawjson"
)

// Kind is a kind of pinned item.
type Kind string

// The kinds.
const (
	Tool         Kind = "tool"
	Prompt       Kind = "prompt"
	Resource     Kind = "resource"
	Template     Kind = "template"
	Instructions Kind = "instructions" // of a server, about its use
)

// id returns the member that names an item of this kind in a list.
func (k Kind) id() string {
	switch k {
	case Resource:
		return "uri"
	case Template:
		return "uriTemplate"
	default:
		return "name"
	}
}

// pinnedMembers come first in a definition. Earlier versions pinned only these members of a tool.
var pinnedMembers = []string{"title", "description", "inputSchema", "outputSchema", "annotations"}

// maxDefinition limits the stored text of a definition. A longer one is stored as a hash.
const maxDefinition = 64 << 10

// Definition returns the pinned text of a listed item: all members except the name, one per line.
// Order and formatting of members do not matter. A resource's size and last modification are
// ignored.
func Definition(kind Kind, item []byte) string {
	if kind == Instructions {
		return "instructions: " + string(item) + "\n"
	}
	var rest []string
	for name, at := range rawjson.Members(item) {
		if n := string(name); n != kind.id() && !slices.Contains(pinnedMembers, n) && !isSize(kind, n, at.Of(item)) {
			rest = append(rest, n)
		}
	}
	slices.Sort(rest)
	if kind == Resource || kind == Template {
		if annotations := rawjson.Get(item, "annotations"); isTime(rawjson.GetText(annotations, "lastModified")) {
			item = rawjson.Set(item, "annotations", rawjson.Remove(annotations, "lastModified"))
		}
	}
	return definition(item, append(slices.Clone(pinnedMembers), slices.Compact(rest)...))
}

func isSize(kind Kind, name string, value []byte) bool {
	return kind == Resource && name == "size" && len(value) > 0 && '0' <= value[0] && value[0] <= '9'
}

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

// formerDefinition returns what earlier versions pinned of a tool.
func formerDefinition(item []byte) string { return definition(item, pinnedMembers) }

func definition(item []byte, members []string) string {
	var b strings.Builder
	for _, name := range members {
		value := rawjson.Get(item, name)
		if value == nil {
			continue
		}
		canonical := jsontext.Value(append([]byte(nil), value...))
		if err := canonical.Canonicalize(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err == nil {
			_ = canonical.Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		}
		b.WriteString(name + ": " + string(canonical) + "\n")
	}
	if b.Len() > maxDefinition {
		sum := sha256.Sum256([]byte(b.String()))
		return "sha256: " + hex.EncodeToString(sum[:]) + "\n"
	}
	return b.String()
}

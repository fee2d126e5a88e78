package pins

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/rawjson"
)

// pinnedMembers are what a model or a person is told about a tool.
var pinnedMembers = []string{"title", "description", "inputSchema", "outputSchema", "annotations"}

// maxDefinition bounds what is kept of a definition; of a longer one it is the hash.
const maxDefinition = 64 << 10

// Definition is what is pinned of a tool as its server lists it: its description and schemas, one member a line. The order of members and
// how they are written make no difference.
func Definition(tool []byte) string {
	var b strings.Builder
	for _, name := range pinnedMembers {
		value := rawjson.Get(tool, name)
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

package catalog

import "strings"

// ServerInstructions is what a server tells about its use.
type ServerInstructions struct {
	Server string // id
	Text   string // "" where it says nothing
}

// Instructions joins what the servers say, each under its id. Before that, since
// some clients read no more than the beginning, stands how to get back what was
// cut, if there is a tool for it under some name for this client.
func Instructions(servers []ServerInstructions, recoverTool string) string {
	var b strings.Builder
	if recoverTool != "" {
		b.WriteString("Long texts in tool results are shortened. Where a part was taken out stands a marker in brackets with " +
			"original_chars, the length of the whole text, and id=prn_…, its id. Nothing is lost: the tool ")
		b.WriteString(recoverTool)
		b.WriteString(` gives lines of the whole text back, for example with {"prune_id":"prn_…",` +
			`"ranges":[{"start_line":1,"end_line":200}],"include_line_numbers":false}.`)
	}
	for _, s := range servers {
		said := strings.TrimSpace(s.Text)
		if said == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("# " + s.Server + "\n\n" + said)
	}
	return b.String()
}

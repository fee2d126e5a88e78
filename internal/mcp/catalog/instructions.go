package catalog

import "strings"

// ServerInstructions are a server's instructions.
type ServerInstructions struct {
	Server string // id
	Text   string // "": none
}

// Instructions joins the servers' instructions, each under its id. Some clients read only the
// beginning: first comes search, the sentence about tools that are not listed, if any, then how to
// recover cut texts. recoverTool is the client's name for the tool that does; "": none.
func Instructions(servers []ServerInstructions, recoverTool, search string) string {
	var b strings.Builder
	b.WriteString(search)
	if recoverTool != "" {
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("Long texts in tool results are shortened: a marker in brackets stands where a part was left out, such as " +
			"⟦PRUNED lines 27-41 id=prn_…⟧ with the id of the whole text. Nothing is lost: the tool ")
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

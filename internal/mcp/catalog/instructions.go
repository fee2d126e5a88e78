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
		b.WriteString("Long tool results are shortened. For ⟦PRUNED lines 27-41 id=prn_…⟧ call ")
		b.WriteString(recoverTool)
		b.WriteString(` with {"prune_id":"prn_…","ranges":[{"start_line":27,"end_line":41}]}. ` +
			"For chars: recover_chars with start and end. For items and members: search_text with a pattern finds these numbers.")
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

package config

// pending are the keys that are checked and otherwise ignored, because the part they belong to is not built yet. A part
// that is built takes its lines out of here.
var pending = []struct{ path, part string }{
	{"page_size", aggregatePart},
	{"first_list_wait", aggregatePart},
	{"naming", aggregatePart},
	{"observation_masking.mcp", aggregatePart},
}

const aggregatePart = "the aggregate is"

// pendingKeys are those of the table that stand in the file.
func (d *decoder) pendingKeys() []finding {
	var out []finding
	for _, p := range pending {
		if at, ok := d.places[p.path]; ok && at.file == "" {
			out = append(out, finding{
				place:    at,
				text:     p.part + " not part of this version yet; this is checked and otherwise ignored",
				severity: Notice,
			})
		}
	}
	return out
}

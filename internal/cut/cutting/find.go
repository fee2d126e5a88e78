package cutting

import (
	"secateur/internal/cut/mask"
	"secateur/internal/prune/excerpt"
	"secateur/internal/rawjson"
)

// Limit returns how many characters of a result the client gets whole.
func (c *Cutter) Limit(call Call) int {
	if most := c.opt.Masker.LongString(); call.MaxChars == 0 || most < call.MaxChars {
		return most
	}
	return call.MaxChars
}

// room returns how many of a result's characters should be left.
func (c *Cutter) room(call Call, chars int) int {
	room := c.Limit(call)
	if c.opt.Target > 0 {
		room = excerpt.TargetOf(c.opt.Target, chars)
	}
	if call.MaxChars > 0 {
		room = min(room, call.MaxChars-markersRoom)
	}
	return room
}

// markersRoom is the part of a client's limit that is left to markers.
const markersRoom = 1000

// TextCuts finds what to cut out of the texts of a result, so that all together are short enough.
func (c *Cutter) TextCuts(call Call, result []byte) []mask.Cut {
	room := mask.RoomFor(result, c.Limit(call), func(total int) int { return c.room(call, total) })
	if room == 0 {
		return nil
	}
	return c.opt.Masker.TextCuts(result, room)
}

// StructuredCuts finds what to cut out of the structuredContent of a result.
func (c *Cutter) StructuredCuts(call Call, result []byte) []mask.Cut {
	chars := rawjson.Chars(string(call.StructuredAt.Of(result)))
	if chars <= c.Limit(call) {
		return nil
	}
	room := c.room(call, chars)
	if c.opt.Target > 0 {
		return []mask.Cut{mask.Whole(call.StructuredAt, chars, room)}
	}
	return c.opt.Masker.StructuredCuts(result, call.StructuredAt, room, call.Schema)
}

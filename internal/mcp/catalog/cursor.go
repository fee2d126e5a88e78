package catalog

import (
	"encoding/base64"
	"errors"
	"math"
	"strconv"

	"secateur/internal/rawjson"
)

// ErrStaleCursor means that a list has changed since the cursor was issued.
var ErrStaleCursor = errors.New("stale cursor")

// An Ask is the part of a list that a client requests.
type Ask struct {
	Cursor    string
	HasCursor bool // false: the first page
	Limit     int  // maximum number of items; 0: a full page
}

// ReadAsk reads the params of a list method; nil: none. Params must be well-formed. The error is a
// *ParamsError.
func ReadAsk(params []byte) (Ask, error) {
	var ask Ask
	if raw := rawjson.Get(params, "cursor"); !rawjson.IsNothing(raw) {
		ask.Cursor, ask.HasCursor = rawjson.Text(raw)
		if !ask.HasCursor {
			return Ask{}, &ParamsError{Path: "/cursor", Problem: "expected a string"}
		}
	}
	if raw := rawjson.Get(params, "limit"); !rawjson.IsNothing(raw) {
		limit, ok := count(raw)
		if !ok {
			return Ask{}, &ParamsError{Path: "/limit", Problem: "expected an integer, 0 or more"}
		}
		ask.Limit = limit
	}
	return ask, nil
}

// count parses a number of items in any JSON notation. Huge numbers are clamped.
func count(raw []byte) (int, bool) {
	if n, err := strconv.Atoi(string(raw)); err == nil {
		return n, n >= 0
	}
	if len(raw) == 0 || raw[0] == '"' || rawjson.Check(raw, 0) != nil {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange), f < 0, f != math.Trunc(f):
		return 0, false
	case f > math.MaxInt32:
		return math.MaxInt32, true
	default:
		return int(f), true
	}
}

// cursor returns the cursor for the items from an offset on.
func cursor(offset int, generation string) string {
	o := rawjson.Object{'{'}
	o.Int("offset", int64(offset))
	o.Text("generation", generation)
	return base64.StdEncoding.EncodeToString(append(o, '}'))
}

// readCursor returns the offset in a cursor. A cursor without a generation counts as one of this
// list.
func readCursor(s, generation string, length int) (int, error) {
	b, err := decodeBase64(s)
	offset, isOffset := 0, false
	if err == nil {
		for name, value := range members(b) {
			switch name {
			case "offset":
				offset, isOffset = count(value)
			case "generation":
				if g, ok := rawjson.Text(value); !ok || g != generation {
					return 0, &ParamsError{
						Path: "/cursor", Err: ErrStaleCursor,
						Problem: "the list has changed since this cursor was given out: start again without one",
					}
				}
			}
		}
	}
	if !isOffset || offset > length {
		return 0, &ParamsError{Path: "/cursor", Problem: "not a cursor of this list"}
	}
	return offset, nil
}

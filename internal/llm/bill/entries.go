package bill

import "slices"

// found returns how many pieces the cache finds if the first same pieces are unchanged.
func (a Account) found(t Terms, req Request, same int) int {
	if !t.precise() || a.Last.Pieces == 0 { // assume that an unknown history was sent whole
		return same
	}
	return a.entry(t, req, same)
}

// entry returns the last known entry that this request lets the cache find, if the first same
// pieces are unchanged.
func (a Account) entry(t Terms, req Request, same int) (best int) {
	for _, e := range a.Entries {
		if e.Pieces > best && e.Pieces <= same && t.alive(e, req.At) && t.reaches(req, e.Pieces) {
			best = e.Pieces
		}
	}
	return best
}

// upTo returns how many tokens the cache has if it finds that many pieces. The head before the
// first piece is found only if an earlier request had a mark behind it.
func (a Account) upTo(t Terms, req Request, found int) float64 {
	isHead := func(e Entry) bool { return e.Pieces == 0 && t.alive(e, req.At) && t.reaches(req, 0) }
	if found == 0 && t.precise() && a.Last.Pieces > 0 && !slices.ContainsFunc(a.Entries, isHead) {
		return 0
	}
	return a.position(req, found)
}

// reachable returns every place that entry could return, in order. The first is 0: no entry.
func (a Account) reachable(t Terms, req Request) []int {
	places := make([]int, 1, 1+len(a.Entries))
	for _, e := range a.Entries {
		if e.Pieces > 0 && t.alive(e, req.At) && t.reaches(req, e.Pieces) {
			places = append(places, e.Pieces)
		}
	}
	slices.Sort(places)
	return places
}

// remember returns the entries of the cache after the request.
func (a Account) remember(t Terms, req Request) (entries []Entry) {
	if !t.precise() {
		return nil
	}
	hit := a.found(t, req, req.Same)
	for _, e := range a.Entries {
		if e.Pieces > min(req.Same, len(req.Pieces)) || !t.alive(e, req.At) {
			continue // no longer part of the prompt, or expired
		}
		if e.Pieces == hit {
			e.At = req.At
		}
		entries = append(entries, e)
	}
	for _, m := range t.kept(req) {
		i, known := slices.BinarySearchFunc(entries, m.Pieces, func(e Entry, n int) int { return e.Pieces - n })
		e := Entry{Pieces: m.Pieces, At: req.At, Hour: m.Hour}
		if known {
			entries[i] = e
		} else {
			entries = slices.Insert(entries, i, e)
		}
	}
	if more := len(entries) - maxEntries; more > 0 { // keep the first two: every request reads them
		entries = slices.Delete(entries, 2, 2+more)
	}
	return entries
}

package bill

import "slices"

// found is how many pieces the cache finds of a prompt of which so many are as they were.
func (a Account) found(t Terms, req Request, same int) int {
	if !t.precise() || a.Last.Pieces == 0 { // what was never seen is taken to have been sent whole
		return same
	}
	return a.entry(t, req, same)
}

// entry is the last of the known entries that this request lets the cache find, of a prompt of which so many pieces are
// as they were.
func (a Account) entry(t Terms, req Request, same int) (best int) {
	for _, e := range a.Entries {
		if e.Pieces > best && e.Pieces <= same && t.alive(e, req.At) && t.reaches(req, e.Pieces) {
			best = e.Pieces
		}
	}
	return best
}

// upTo is how many tokens the cache has of a prompt of which it finds so many pieces. What stands before the first piece is
// found only if an earlier request was marked there.
func (a Account) upTo(t Terms, req Request, found int) float64 {
	isHead := func(e Entry) bool { return e.Pieces == 0 && t.alive(e, req.At) && t.reaches(req, 0) }
	if found == 0 && t.precise() && a.Last.Pieces > 0 && !slices.ContainsFunc(a.Entries, isHead) {
		return 0
	}
	return a.position(req, found)
}

// reachable are all that entry would give, in their order: the first is none.
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

// remember is what the cache has when a request was sent.
func (a Account) remember(t Terms, req Request) (entries []Entry) {
	if !t.precise() {
		return nil
	}
	hit := a.found(t, req, req.Same)
	for _, e := range a.Entries {
		if e.Pieces > min(req.Same, len(req.Pieces)) || !t.alive(e, req.At) {
			continue // of a prompt that is not sent any more, or gone
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
	if more := len(entries) - maxEntries; more > 0 { // the first ones every request comes back to
		entries = slices.Delete(entries, 2, 2+more)
	}
	return entries
}

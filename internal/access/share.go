package access

// Holder names a consumer of a shared quota. HolderOf makes one of a caller; other holders use
// names that are no principal's key.
type Holder struct {
	Principal string // the principal's key
	Tenant    string // "": none
}

// HolderOf returns the holder for a caller. Callers of the default tenant have no tenant here, so
// they do not share a quota. All unknown callers are one holder.
func HolderOf(p *Principal) Holder { return Holder{p.Key(), p.Owner()} }

// Share divides a quota among callers, so that no caller can take all of it. A tenant may hold
// three quarters of what other tenants leave. A principal may hold three quarters of what others of
// its tenant leave of that. A new caller therefore finds room until too many have come. The zero
// value is unused. Its owner's lock guards it.
type Share struct {
	used int64
	// usage by principal, and by tenant under an empty principal; zero entries are deleted
	of map[Holder]int64
}

// Take reserves n of limit for a holder, and reports whether it could.
func (s *Share) Take(h Holder, n, limit int64) bool {
	room, own := limit-s.used, s.of[h]
	if h.Tenant != "" {
		tenant := s.of[Holder{Tenant: h.Tenant}]
		room = share(room+tenant) - tenant
	}
	if own+n > share(room+own) {
		return false
	}
	if s.of == nil {
		s.of = map[Holder]int64{}
	}
	s.add(h, n)
	return true
}

// Give returns n that a holder has reserved.
func (s *Share) Give(h Holder, n int64) { s.add(h, -n) }

// Used returns the total in use.
func (s *Share) Used() int64 { return s.used }

func (s *Share) add(h Holder, n int64) {
	s.used += n
	s.count(h, n)
	if h.Tenant != "" {
		s.count(Holder{Tenant: h.Tenant}, n)
	}
}

func (s *Share) count(h Holder, n int64) {
	if s.of[h] += n; s.of[h] <= 0 {
		delete(s.of, h)
	}
}

// share returns three quarters of room, rounded up so that the last piece can be used.
func share(room int64) int64 { return room - room/4 }

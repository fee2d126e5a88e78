package access

// Holder names who takes from something that all callers share. HolderOf makes it of a caller; others have a name that is no principal's key.
type Holder struct {
	Principal string // its key
	Tenant    string // "": none
}

// HolderOf returns the holder that a caller is. Callers of the default tenant belong together no more than any others: they have no tenant here.
// Strangers are one holder.
func HolderOf(p *Principal) Holder { return Holder{p.Key(), p.Owner()} }

// Share divides a bounded amount among callers, so that none of them can take it from all others. A tenant may hold three quarters of what other
// tenants leave, and a principal three quarters of what the others of its tenant leave of that. A newcomer finds room whatever the others hold,
// until there are too many of them. The zero value has given out nothing. Its owner's lock guards it.
type Share struct {
	used int64
	of   map[Holder]int64 // what each principal holds, and each tenant as the holder without a principal; those with nothing are not in it
}

// Take gives n of limit to a holder, and reports whether it did.
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

// Give takes back n that a holder has.
func (s *Share) Give(h Holder, n int64) { s.add(h, -n) }

// Used returns what all hold.
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

// share returns how much of what others leave one may have: three quarters, rounded up, so that the last piece is somebody's.
func share(room int64) int64 { return room - room/4 }

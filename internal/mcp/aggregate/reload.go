package aggregate

import (
	"errors"

	"secateur/internal/cut/cutting"
)

// live is what a reload changes. A request sees one from beginning to end.
type live struct {
	Options
	cutter *cutting.Cutter // nil: nothing is cut
	last   *cutting.Cutter // the newest there was; nil: none yet
}

// Reload has requests from now on obey other options: who may do what, what is cut, how long a page is. The pool, the times, the metrics
// and the log stay those that the Server was made with.
func (s *Server) Reload(opt Options) error {
	if opt.Authenticate == nil || opt.Masker != nil && opt.Originals == nil {
		return errors.New("aggregate: a way to tell callers apart and, for masking, a store are needed")
	}
	next := &live{Options: opt}
	if before := s.now.Load(); before != nil {
		next.last = before.last
	}
	if opt.Masker != nil {
		var err error
		next.cutter, err = cutting.New(cutting.Options{
			Masker: opt.Masker, Originals: opt.Originals, Target: opt.TargetChars, Door: "mcp", Metrics: s.opt.Metrics, Observe: opt.Cut, Log: s.log, Replaces: next.last,
		})
		if err != nil {
			return err
		}
		next.last = next.cutter
	}
	s.now.Store(next)
	return nil
}

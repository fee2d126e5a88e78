package originals

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Together is a store in an engine that accepts several texts in one round trip, along with other
// commands.
type Together interface {
	// PutEach is Put for each of the texts, in one round trip. It returns their ids, or why they
	// were not stored. Commands that others adds to the pipeline are sent along; their own results
	// say whether they succeeded.
	PutEach(ctx context.Context, tenant string, texts []string, others func(context.Context, redis.Pipeliner)) (ids []string, errs []error)
}

// InOneTrip returns a store made by Open as Together; false: each text needs its own Put.
func InOneTrip(store Store) (Together, bool) {
	switch s := store.(type) {
	case *Redis:
		return s, true
	case *timed:
		each, ok := InOneTrip(s.store)
		return &timedEach{s, each}, ok
	case *reported:
		each, ok := InOneTrip(s.StoreCloser)
		return &reportedEach{s, each}, ok
	}
	return nil, false
}

type timedEach struct {
	*timed

	each Together
}

// PutEach waits for the response, however late: the caller must know the outcome of its commands
// before it writes more. Texts that took longer than the put timeout count as not stored.
func (t *timedEach) PutEach(ctx context.Context, tenant string, texts []string, others func(context.Context, redis.Pipeliner)) (ids []string, errs []error) {
	began := time.Now()
	ids, errs = t.each.PutEach(ctx, tenant, texts, others)
	took := time.Since(began)
	for i := range errs {
		if errs[i] == nil && took > t.limit {
			ids[i], errs[i] = "", fmt.Errorf("%w: it took %s", ErrUnavailable, took.Round(time.Millisecond))
		}
		if errs[i] != nil {
			t.lost.Add(1)
		}
	}
	return ids, errs
}

type reportedEach struct {
	*reported

	each Together
}

func (r *reportedEach) PutEach(ctx context.Context, tenant string, texts []string, others func(context.Context, redis.Pipeliner)) (ids []string, errs []error) {
	ids, errs = r.each.PutEach(ctx, tenant, texts, others)
	for _, err := range errs {
		if err != nil {
			r.refused(ctx, err)
		}
	}
	r.kept(ctx)
	return ids, errs
}

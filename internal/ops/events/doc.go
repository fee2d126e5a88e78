// Package events remembers what has happened lately and tells it to whoever listens: the control plane's event stream, the
// lists of recent cuts and the log of the running program.
//
// One [Feed] is made for the whole program and handed to the parts that see something happen. They publish a value:
//
//	feed.Publish(events.Refusal{RequestID: id, Door: "mcp", Reason: "acl", Rule: "no-secrets"})
//	feed.PublishRequest(events.Request{…}) // the same for requests, without an allocation
//
// Whoever listens has a [Subscription], which is a cursor into the feed's ring and holds no queue of its own: a listener
// that is too slow misses the oldest events and is told how many.
//
//	sub := feed.Subscribe(r.Header.Get("Last-Event-ID")) // "": from now on; events.FromStart: all that is remembered
//	for {
//		batch, err := sub.Next(ctx) // waits; err is ctx's
//		if err != nil {
//			return
//		}
//		if batch.Gap {
//			// event: gap, data: {"lost": batch.Lost}
//		}
//		for _, e := range batch.Events {
//			// id: e.ID, event: e.Type, data: e.Data as JSON
//		}
//	}
//
// Without waiting, [Feed.Recent] gives the newest events of one type, and [Feed.Cuts] the newest cuts with whether they
// were recovered since.
//
// Ids are made of the feed's own name and a number, so that an id of an earlier run of the program is told apart from one
// of this run. A nil *Feed takes everything and remembers nothing.
package events

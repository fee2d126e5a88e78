// Package events keeps recent events and passes them to listeners: the control plane's event
// stream, the lists of recent cuts, and the log of the running program.
//
// The program has one [Feed]. Packages publish values to it:
//
//	feed.Publish(events.Refusal{RequestID: id, Door: "mcp", Reason: "acl", Rule: "no-secrets"})
//	feed.PublishRequest(events.Request{…}) // the same for requests, without an allocation
//
// A listener has a [Subscription]: a cursor into the feed's ring, without a queue. A slow listener
// misses the oldest events and learns how many.
//
//	// "": from now on; events.FromStart: everything in the ring
//	sub := feed.Subscribe(r.Header.Get("Last-Event-ID"))
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
// [Feed.Recent] returns the latest events of one type without waiting. [Feed.Cuts] returns the
// latest cuts, and whether they were recovered.
//
// Ids consist of the feed's epoch and a number, so ids of an earlier run are recognized. A nil
// *Feed accepts everything and keeps nothing.
package events

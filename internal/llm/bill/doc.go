// Package bill counts the cost of a conversation and decides when rewriting an earlier part of the
// prompt pays off.
//
// [Prices] are dollars per million tokens, from the settings or from the built-in table ([Lookup],
// [Table]). [Terms] hold what decisions need of them. These are the [Rates] as multiples of an
// uncached input token, the behaviour of the provider's [Cache], and the size above which a prompt
// costs more. A [Usage] is the provider's count of one request. [ParseUsage] and [Meter] read it
// from the response in any of three shapes.
//
// Each lane has one [Account]. A lane is a conversation as one provider cache sees it. The amount
// spent comes from the provider's counts. The pass-through cost, without any cuts, adds the rate
// that the removed tokens would have paid. The two are equal if nothing was removed. Only the
// removed tokens are estimated. A [Scale] learns from the differences between requests how the
// provider counts them. [Learned] holds what all conversations have shown about one model of a
// provider.
//
// A provider caches the beginning of a prompt as long as it does not change. Removing M tokens from
// a cached prompt makes the D tokens behind the first change uncached. That costs (w−r)·D − r·M now
// and returns r·M with each later request. Here r and w are the rates for reading and writing the
// cache. [Account.Choose] weighs the two.
//
// # Caches
//
// How much of a changed prompt the cache still finds depends on the [Kind] of cache. The four kinds
// are blocks of 128 tokens, intervals of 2048, endings of messages, and marks in the request. An
// account remembers the endings and marks of earlier requests ([Entry]). With blocks, the D above
// begins at the change. With the other kinds it begins at the last such place before the change.
// Only places that this request lets the cache look for count.
//
// # How a door calls it
//
// This package knows no request format. A prompt is a list of [Piece] values: the messages of a
// chat completion, the content blocks of the Messages format, or the items of Responses. For each
// request:
//
//	terms := prices.In(bill.Messages, model) // format and model choose the cache
//	cold := learned.After(pause, terms.With(marks).Cache) // marks decide the lifetime
//	req := bill.Request{
//		Head:   …, // tools, and everything else before the first piece
//		Pieces: …, // Ends is set where a cache of endings can find the prompt: at a user message,
//		           // the last of a run of results, the last of the first instructions
//		Sent:   …, Same: …, Likely: …, Root: …, Cold: cold != bill.MayBeWarm, Pause: pause,
//		Marks:  marks, // in order
//		At:     now,   // seconds; cache entries age
//	}
//	account.StaysCached(terms, req)         // may results be sent pruned?
//	event := account.Choose(bill.Choice{…}) // from which piece on to mask, if at all
//	// Once the response has reported the usage:
//	req = account.Recount(req, usage)           // correct the size of masked text
//	account = account.Settle(terms, req, usage) // book the cost
//	account = account.Estimate(terms, req)      // or this, if it reported none
//
// Chat completions carry no marks; they only have to say where their messages end. A request in the
// Responses format may turn implicit caching off (prompt_cache_options.mode "explicit"). Its terms
// then get Kind = [Markers], and its breakpoints are the marks. If the provider keeps the history,
// the pieces are those that pass through the door.
//
// Account, Size and Learned encode themselves (AppendBinary) for a record that outlives the
// process.
package bill

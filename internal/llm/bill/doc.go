// Package bill counts what a conversation costs and says when changing what was
// sent before pays.
//
// [Prices] are dollars per million tokens, from the settings or from the
// built-in table ([Lookup], [Table]). [Terms] are what follows from them for decisions: the
// [Rates] as multiples of an uncached input token, how the provider's [Cache] works, and
// from which size on a prompt is dearer. A [Usage] is what a provider counted, read from
// its answer in whichever of three shapes it comes ([ParseUsage], [Meter]).
//
// An [Account] is kept for each lane, which is a conversation as one cache of a provider
// sees it. What was spent is what the provider counted. What passing through would have
// cost is that and, for the tokens that were taken out, the rate they would have paid:
// where nothing was taken out both are the same. Only the removed tokens are estimated, and
// a [Scale] learns from the differences between requests how the provider counts them.
// [Learned] is what all conversations have taught about a model of a provider.
//
// A provider caches the beginning of a prompt as long as it does not change.
// Taking M tokens out of a cached prompt makes the D tokens behind the first
// change uncached, so that it costs (w−r)·D − r·M now and returns r·M with each
// later request, r and w being the rates of reading and writing the cache.
// [Account.Choose] weighs that.
//
// # Caches
//
// Up to where a changed prompt is still found hangs on the [Kind] of cache, of which there are four: blocks of 128
// tokens, intervals of 2048, the endings of messages, and marks that a request carries. An account remembers where the
// endings and marks of earlier requests were ([Entry]). With blocks the D above begins at the change, with the
// others at the last of these places before it that this request lets the cache look for.
//
// # How a door calls it
//
// Nothing here knows the format of a request: a prompt is a list of [Piece] values, the
// messages of a chat completion, the content blocks of the Messages format, the items of Responses. For each request:
//
//	terms := prices.In(bill.Messages, model)              // the format chooses the cache, together with the model
//	cold := learned.After(pause, terms.With(marks).Cache) // marks say how long the cache keeps a prompt
//	req := bill.Request{
//		Head:   …, // all that stands before the first piece: tools, and what else is no piece
//		Pieces: …, // with Ends where a message ends that a cache of endings can find: a user message, the last
//		           // of a run of results, the last of the first instructions
//		Sent:   …, Same: …, Likely: …, Root: …, Cold: cold != bill.MayBeWarm, Pause: pause,
//		Marks:  marks, // of the request, in order: behind how many pieces, and whether for an hour
//		At:     now,   // seconds; entries of a cache grow old
//	}
//	account.StaysCached(terms, req)             // whether results may go out pruned
//	event := account.Choose(bill.Choice{…})     // from where on old results are masked now, if at all
//	req = account.Recount(req, usage)           // when the answer has told the usage: it also shows how much was masked
//	account = account.Settle(terms, req, usage) // and what was spent,
//	account = account.Estimate(terms, req)      // or where it does not
//
// Chat completions carry no marks, and only have to say where their messages end; a request in the Responses format that
// turns implicit caching off (prompt_cache_options.mode "explicit") is one whose terms get Kind = [Markers], its
// breakpoints being the marks. Where a format lets the provider keep the history, the pieces are those that pass.
//
// Account, Size and Learned write themselves down (AppendBinary) for a record that outlives the process.
package bill

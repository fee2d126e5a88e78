// Package bill counts what a conversation costs and says when changing what was
// sent before pays.
//
// [Prices] are dollars per million tokens, from the settings or from the
// built-in table ([Lookup]); [Rates] are the same as multiples of an uncached
// input token, which is all that decisions need. A [Usage] is what a provider
// counted, read from its answer. An [Account] is kept for each conversation: what
// was really spent on input, and what it would have cost to pass everything
// through. It learns from every Usage how large the provider's tokens are.
//
// A provider caches the beginning of a prompt as long as it does not change.
// Taking M tokens out of a cached prompt makes the D tokens behind the first
// change uncached, so that it costs (w−r)·D − r·M now and returns r·M with each
// later request, r and w being the rates of reading and writing the cache.
// [Account.Choose] weighs that.
//
// Tokens in this package are estimates in whatever unit the caller counts,
// until an Account has seen what the provider makes of them.
package bill

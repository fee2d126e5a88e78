// Package bill counts what a conversation costs and says when changing what was
// sent before pays.
//
// [Prices] are dollars per million tokens, from the settings or from the
// built-in table ([Lookup]). [Terms] are what follows from them for decisions: the
// [Rates] as multiples of an uncached input token, how the provider's [Cache] works, and
// from which size on a prompt is dearer. A [Usage] is what a provider counted, read from
// its answer.
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
// Nothing here knows the format of a request: a prompt is a list of [Piece] values, the
// messages of a chat completion as well as the blocks or items of another format.
package bill

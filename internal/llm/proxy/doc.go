// Package proxy stands between a client and the providers of language models. It speaks their protocols, OpenAI's
// chat completions and Responses and Anthropic's Messages (endpoint.go, format.go), so that a client only needs another
// base URL. It does not translate between them: a request goes to a provider that speaks its format.
//
// A request is read whole and parsed once; what it begins with like the request before it is only compared
// (beginnings.go). Its model chooses the provider (route.go). What stands in the conversation is masked and pruned as
// the core packages chat and bill decide (masking.go); every text that is taken out is kept in originals first, and
// whatever goes wrong on the way, the request goes out as it came. In which form a request
// goes out is written down before it is sent, and what it is likely to cost before it is answered, as a rule (ahead.go). The rest of the request,
// its headers included, reaches the provider byte for byte (send.go, headers.go, transport.go).
//
// The answer is passed on as it comes (answer.go). A copy is read aside for the provider's counts (usage.go), which
// correct the conversation's account (settle.go); a next request that comes while this is being written down finds it
// among those under way (flights.go). A stream that breaks off, or in which nothing comes any more, ends with an error
// event, any other answer with a broken connection: half an answer never looks like a whole one.
//
// ServeModels lists what may be asked for (models.go). ServeOther passes everything else to the default provider.
package proxy

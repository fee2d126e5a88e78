// Package proxy connects clients with the providers of language models. It speaks their protocols:
// OpenAI's chat completions and Responses, and Anthropic's Messages (endpoint.go, format.go). A
// client only needs another base URL. The proxy does not translate formats: a request goes to a
// provider of its format.
//
// A request is read whole and parsed once; the part equal to an earlier request is only compared
// (beginnings.go). Its model selects the provider (route.go). The conversation is masked and pruned
// as the core packages chat and bill decide (masking.go). Every removed text is first stored in
// originals. On any failure the request is sent unchanged. The sent form is recorded before the
// request is sent, and its likely cost, as a rule, before the response (ahead.go). The rest of the
// request, including its headers, reaches the provider byte for byte (send.go, headers.go,
// transport.go).
//
// The response is streamed as it comes (answer.go). A copy is read for the provider's counts
// (usage.go), which correct the conversation's account (settle.go). The next request may come while
// this is being recorded; it finds the flight (flights.go). A stream that breaks off or goes silent
// ends with an error event, any other response with a broken connection: an incomplete response
// never looks complete.
//
// ServeModels lists the available models (models.go). ServeOther passes everything else to the
// default provider.
package proxy

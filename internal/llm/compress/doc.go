// Package compress is the door for gateways that have their conversations thinned out by an engine: POST /v1/compress takes messages and gives
// them back with big tool results pruned, GET /v1/retrieve/{hash} gives an original. It is stateless: what becomes of a message depends on it and
// on those before it alone, so that a provider's cache holds. No provider is called.
package compress

// Package replay runs recorded conversations through the masking code and reports what each
// strategy would have cost.
//
// [ReadFile] reads sessions (read.go). [Run] sends every request of each session through the same
// code as the proxy (play.go). It simulates the provider's prompt cache (cache.go, render.go) and
// hands the resulting counts back as usage. It then compares the bill with the pass-through cost,
// for each [Strategy] and each price [Table]. It also looks for what the model may have missed
// (lost.go): recorded answers do not change, however little is left of an old result.
//
// Tokens are counted exactly ([Tokens], ruler.go), each message once. Without a [Ruler] they are
// characters divided by the session's characters per token. Output tokens cost the same under every
// strategy and are left out.
//
// [Dollars] reports what the sessions cost at the prices of their own models, and which settings to
// write into the configuration.
//
// [ReadRequest] makes a session from its last request alone (onerequest.go). [Try] shows how that
// request would be sent.
package replay

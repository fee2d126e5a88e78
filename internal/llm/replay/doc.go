// Package replay plays recorded conversations through the masking and says what
// each strategy would have cost.
//
// [ReadFile] reads sessions (read.go). [Run] sends every request of each through the very
// code the proxy runs (play.go), counts what a provider's prompt cache would have
// made of what was sent (cache.go, render.go), hands these counts back as usage,
// and compares the bill with that of passing everything through, for each
// [Strategy] and each price [Table]. It also looks for what the model may have
// missed (lost.go): the recorded answers do not change, however little of an old
// result is left.
//
// Tokens are counted exactly ([Tokens], ruler.go), each message once; or they
// are characters over the session's measured characters per token, where no [Ruler] is
// given. Output tokens cost the same either way and are left out.
//
// [Dollars] says first what the sessions cost at the prices of their own models, and what
// to write into the configuration.
//
// [ReadRequest] makes a session of its last request alone (onerequest.go), and [Try] shows what goes out for that.
package replay

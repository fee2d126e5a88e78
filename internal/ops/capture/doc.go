// Package capture keeps what requests and answers say, for a person who looks for a fault. It is off unless it is configured, and then it keeps
// little, for a short time, in memory alone:
//
//	w, r, end := recorder.Begin(principal, requestID, w, r)
//	defer end()
//
// A [Recorder] copies the first bytes of both on their way, takes out what is secret when the answer is out (redact.go), and puts the rest
// into a [Book], where the newest few hundred are until their time is over. Headers are never kept.
package capture

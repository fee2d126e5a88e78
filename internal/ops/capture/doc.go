// Package capture keeps the contents of requests and responses, for debugging. It is off by
// default. If enabled, it keeps little, for a short time, and only in memory:
//
//	w, r, end := recorder.Begin(principal, requestID, w, r)
//	defer end()
//
// A [Recorder] copies the first bytes of both. After the response it masks secrets (redact.go) and
// puts the rest into a [Book]. That holds the latest few hundred until they expire. Headers are
// never kept.
package capture

// Package limit decides whether a call may proceed now. [Limits] are the configured limits:
// sustained rate and burst by GCRA, concurrent calls with a bounded queue, tokens and dollars per
// day. [Local] is a plain rate per principal. Both count in this process; limits that replicas
// share count in a [Store].
package limit

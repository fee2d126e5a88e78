// Package limit answers one question: may this call go ahead now? [Limits] are those of the configuration: sustained rate and burst by
// the generic cell rate algorithm, calls at a time with a bounded queue, and tokens and dollars a day. [Local] is a rate for each principal
// alone. Both count in this process, limits that replicas share in a [Store].
package limit

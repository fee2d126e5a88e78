// Package budget bounds the bytes that all requests under way hold at once: what was read of their bodies, and what
// servers have answered. A request has a [Hold]; what it holds is counted as it comes and given back when the request is
// over. Where the memory of this process or the share of one principal is used up, the next byte is refused with [ErrFull]
// (load shedding, backpressure), so that nobody's burst ends the process and with it everybody else's requests.
//
// [Memory] says how much there is: what the control group (cgroup), a resource limit or the machine gives this process.
package budget

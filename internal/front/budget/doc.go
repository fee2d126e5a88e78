// Package budget limits the bytes that all running requests hold at once: request bodies read, and
// responses of servers. Each request has a [Hold], which counts bytes as they arrive and releases
// them at the end. If the process's memory or a principal's share is used up, the next byte fails
// with [ErrFull] (load shedding, backpressure). So one caller's burst cannot end the process and
// all other requests.
//
// [Memory] returns how much there is: by the control group (cgroup), resource limits or the
// machine.
package budget

// Package clock provides time for data that outlives a process, such as the expiry of a file. The
// monotonic clock alone cannot serve for that. The system clock steps when a person or NTP corrects
// it. Such a step must not count as elapsed time.
package clock

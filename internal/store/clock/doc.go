// Package clock tells the time to what outlives a process, and so cannot count by the monotonic clock alone: when a file expires, when a
// provider last saw a conversation. A system's clock steps, when it was wrong and somebody or NTP sets it. What is measured from one such
// time to another must not be taken for hours that have passed, or for none.
package clock

// Package overdue tells of what has lasted too long: calls that are not answered yet, say. One timer serves all that wait
// as long, since most is over long before it fires: a timer of its own for each would cost more than the wait.
package overdue

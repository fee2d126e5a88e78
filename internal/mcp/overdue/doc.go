// Package overdue reports operations that take too long, such as unanswered calls. One timer serves
// all operations with the same limit. Most of them end long before it fires, so a timer for each
// would cost more than the wait.
package overdue

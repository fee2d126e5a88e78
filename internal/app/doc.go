// Package app builds the program from its parts and runs it. It is the only package that knows all others: it
// opens the store, starts the servers, hangs the doors behind the guard that every HTTP request passes, and takes
// all of it down again in the opposite order.
package app

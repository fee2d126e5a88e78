// Package app builds the program from its parts and runs it. It is the only package that knows all
// others. It opens the store, starts the servers and registers the doors behind the guard that
// every HTTP request passes. It shuts everything down in the opposite order.
package app

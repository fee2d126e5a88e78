// Package routing decides which sessions receive requests and notifications from MCP servers: log
// messages, resource updates, requests. [Settings] is the table of the configuration, and
// [Settings.Decide] finds the row for a server and a method. The package does nothing else.
package routing

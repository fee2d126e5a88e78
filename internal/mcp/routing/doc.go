// Package routing decides to which sessions goes what MCP servers send of their own accord: log messages, news of resources, requests.
// A [Settings] is the table of the configuration; [Settings.Decide] finds the row for a server and a method, and nothing else is done here.
package routing

// Package demo is a small MCP server with large answers, so that cutting and recovery can be seen without any
// other server: a build log with one failure in it, a source file with one fault in it, and a stock list as JSON.
// Its texts are made, always the same, by the few rules in this package.
package demo

// Package redisdb connects to the Redis or Valkey that several replicas share: one server, one found through Sentinel,
// or a Cluster. It owns the connections, knows whether the engine answers, and says how keys are written; what is kept
// under them is the business of the packages that use it (originals, records, ratelimit).
//
// Nothing here waits for the engine, and while it does not answer nobody who calls does: a program starts without it, and works again with it without being started anew.
// [DB.Up] tells which of the two it is.
package redisdb

// Package redisdb connects to the Redis or Valkey that replicas share: one server, one behind
// Sentinel, or a Cluster. It owns the connections, knows whether the engine answers, and defines
// the format of keys. The packages that use it define the contents.
//
// The program starts without the engine, and recovers by itself when the engine comes back. While
// the engine is down, calls fail at once instead of waiting. [DB.Up] returns the state.
package redisdb

// Package admin serves operators: liveness, readiness, the state of servers, and the control plane
// below /api/v1. It gets its data and actions as functions, so that it depends on no other part of
// the program.
//
// Each operation of the control plane is one [Operation]: path, parameters, response type and
// function. [API.Operations] lists them. The OpenAPI document is generated from the same values,
// with schemas derived from the Go types (openapi.go, schema.go). An operation without a function
// does not exist.
package admin

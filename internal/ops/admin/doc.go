// Package admin answers those who run the program: is it alive, is it ready, how do its servers fare, and the control plane
// below /api/v1. What it shows and does it is handed as functions, so that it knows no other part of the program.
//
// Each operation of the control plane is one value of [Operation]: its path, what it takes, what it answers, and the function that does
// it. [API.Operations] lists those there are; the OpenAPI document is made of the same values, and shapes are read off the Go types
// (openapi.go, schema.go). An operation whose function was not handed over is not there.
package admin

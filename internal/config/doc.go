// Package config loads the one configuration file, gathers every package's Settings and reports all mistakes at once,
// each with file, line, column and key.
//
// A file, TOML or JSON by its ending, becomes a small tree of nodes that remember where they stood (tree.go,
// tomltree.go, jsontree.go). What a client's own file says about servers is rewritten into our shape (client.go). The
// tree is decoded over the defaults by reflection (decode.go), variables being expanded on the way (expand.go), then
// the environment and the command line have their say (override.go), and every Settings validates itself
// (validate.go). Each step adds to one list of findings; none stops the others.
//
// The package reads neither the environment nor, below [ReadFile], the disk: both are handed in with [Options].
//
// What the keys mean is said once, in keys.go: [Schema] and the "did you mean" hints are made from it.
package config

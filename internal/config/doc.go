// Package config loads the configuration file and collects every package's Settings. It reports all
// mistakes at once, each with file, line, column and key.
//
// A file, TOML or JSON by its extension, becomes a small tree of nodes with their positions
// (tree.go, tomltree.go, jsontree.go). Servers in a client's own file are converted into our form
// (client.go). Reflection decodes the tree over the defaults (decode.go) and expands variables on
// the way (expand.go). Then the environment and the command line override values (override.go), and
// every Settings validates itself (validate.go). Each step adds to one list of findings; none stops
// the others.
//
// The package reads neither the environment nor, apart from [ReadFile], the disk: both come with
// [Options].
//
// keys.go documents the keys once. [Schema] and the "did you mean" hints are made from it.
package config

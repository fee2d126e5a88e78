// Package suggest finds the known name nearest to an unknown one. The configuration uses it for
// keys, the command line for commands and flags.
package suggest

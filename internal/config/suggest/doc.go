// Package suggest finds what a person probably meant: the known name that is nearest to one that is not known. The
// configuration asks it for keys, the command line for commands and flags.
package suggest

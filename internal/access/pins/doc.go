// Package pins remembers what servers told when they were first seen (trust on first use): their tools, prompts, resources and instructions. A definition that
// changes later (a rug pull), or comes later, is noticed, told with a diff and, where that is asked for, held back until a person has approved of it.
// What is pinned is a file for each server in the state directory, which a running program and the command line share. What looks
// like an attempt to deceive in a definition is found too: see Findings.
package pins

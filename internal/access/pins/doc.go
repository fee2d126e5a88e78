// Package pins remembers what servers offered when they were first seen (trust on first use):
// tools, prompts, resources and instructions. It reports definitions that change (a rug pull) or
// appear later, with a diff. In strict mode they are held back until a person approves. Each
// server's pins are a file in the state directory, shared by a running program and the command
// line. The package also finds suspicious definitions: see Findings.
package pins

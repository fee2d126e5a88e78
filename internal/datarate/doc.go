// Package datarate ends requests whose client sends or reads too slowly to be worth its place: a body that trickles or
// falls silent (slowloris), an answer that nobody takes. It holds a minimum data rate in both directions, as other
// servers call it, for every handler behind [Limits.Guard]; the handlers themselves need no deadlines.
package datarate

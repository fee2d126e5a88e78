// Package datarate ends requests whose client sends or reads too slowly to be worth its place: a body that trickles or
// falls silent (slowloris), an answer that nobody takes. It holds a minimum data rate in both directions, as other
// servers call it, for every handler behind [Guard.Handler]; the handlers themselves need no deadlines. Once the program stops
// it waits for nobody as long as before ([Guard.Drain]).
package datarate

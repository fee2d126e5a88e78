// Package datarate ends requests whose client sends or reads too slowly: a body that trickles or
// stops (slowloris), or a response that is not read. It enforces a minimum data rate in both
// directions for every handler behind [Guard.Handler]. The handlers themselves need no deadlines.
// While the program stops, it waits for a shorter time ([Guard.Drain]).
package datarate

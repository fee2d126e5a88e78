// Package cutting cuts long observations out of a server's answer, for every door that does: first the original is
// kept, then the cut is made. What cannot be kept is not cut (content fails open), and what a recovery gives back is
// never cut again.
//
// What is spared, in the order it is asked: a server or tool that its settings exempt; a text that holds our marker
// already, which package mask sees; the tools of a pruner that give originals back ([mask.RecoveryTools]), wherever
// the server that offers them stands.
package cutting

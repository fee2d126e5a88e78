package rawjson

import "golang.org/x/sys/cpu"

// canSkim tells whether skim may be called. Only tests change it.
var canSkim = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasPOPCNT

// skim moves over the blocks of a string from p on, as long as they hold nothing but
// plain characters, simple escapes and UTF-8. It returns the offset of the first byte
// that is something else, and by how many the bytes before it outnumber their
// characters; unsure says that the character before that byte may not be whole: it
// is the next byte that does not go with it, or the last block has ended.
//
//go:noescape
func skim(b []byte, p int) (next, extra int, unsure bool)

// Package atomicfile puts files in their places whole or not at all: a file is written aside, under a name of its own in the same
// folder, and renamed. Whoever reads it, also after a crash, has the old one or the new one.
//
// [Replace] is for the one file of a path; [Write] for whoever has a folder to make, a lock to hold or another way to the place.
// [NoFollow] opens what other programs could have put in the place of a file.
package atomicfile

// Package atomicfile writes files atomically. A file is written under a temporary name in the same
// folder, and then renamed. A reader sees the old or the new one, even after a crash.
//
// [Replace] replaces the file at a path. [Write] is for callers that must create a folder, hold a
// lock, or place the file in another way. [NoFollow] safely opens paths that other programs could
// have replaced.
package atomicfile

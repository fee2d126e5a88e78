// Package records keeps small values under keys for a while: what was sent to a provider before, so that it can be
// sent again in the same form.
//
// To lose a value costs a little money and is never wrong, which is the difference to originals: here the bound is
// kept by forgetting what was not used for longest, and nothing is forced to a disk. What a provider holds us to, the form in
// which a result went out, must not be lost: [File.Keep] is for that (keep.go). [Memory] keeps values in this
// process, [File] one file each in a directory that processes may share and that outlives them, [Redis] in an engine that
// replicas share. All may be used concurrently. A value's time to live starts anew whenever it is put or got.
package records

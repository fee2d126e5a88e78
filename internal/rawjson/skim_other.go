//go:build !amd64

package rawjson

const canSkim = false

func skim(_ []byte, p int) (next, extra int, unsure bool) { return p, 0, true }

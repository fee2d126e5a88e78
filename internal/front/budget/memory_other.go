//go:build !linux

package budget

func addressSpace() int64 { return 0 }

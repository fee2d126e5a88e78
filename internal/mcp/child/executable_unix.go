//go:build unix

package child

import "os"

// executable reports whether this path is a program.
func executable(path string, _ []string) (string, bool) {
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

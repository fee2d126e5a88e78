//go:build !linux

package child

import "os"

// howEnded describes how a child ended.
func howEnded(state *os.ProcessState) string {
	switch {
	case state == nil:
		return "ended"
	case state.Exited():
		return exitText(state.ExitCode())
	default:
		return "ended by " + state.String()
	}
}

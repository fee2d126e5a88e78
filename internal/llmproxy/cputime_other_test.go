//go:build !unix

package llmproxy_test

import "time"

func cpuTime() time.Duration { return 0 }

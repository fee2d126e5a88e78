package child

import (
	"strings"
	"testing"
)

func TestBaseEnvOnWindows(t *testing.T) {
	got := baseEnv([]string{"Path=C:\\x", "SystemRoot=C:\\Windows", "ComSpec=cmd", "SECRET=x"}, true)
	if strings.Join(got, " ") != `Path=C:\x SystemRoot=C:\Windows ComSpec=cmd` {
		t.Errorf("baseEnv = %q", got)
	}
}

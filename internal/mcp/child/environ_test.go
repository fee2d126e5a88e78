package child

import (
	"slices"
	"strings"
	"testing"
)

func TestBaseEnvOnWindows(t *testing.T) {
	got := baseEnv([]string{"Path=C:\\x", "SystemRoot=C:\\Windows", "ComSpec=cmd", "SECRET=x"}, nil, true)
	if strings.Join(got, " ") != `Path=C:\x SystemRoot=C:\Windows ComSpec=cmd` {
		t.Errorf("baseEnv = %q", got)
	}
}

func TestServersGetTheVariablesTheyName(t *testing.T) {
	environ := []string{"PATH=/bin", "DISPLAY=:0", "XDG_RUNTIME_DIR=/run", "AWS_PROFILE=a", "AWS_REGION=b", "KUBECONFIG=k", "MODEL_KEY=secret"}
	cases := map[string]struct {
		pass []string
		want string
	}{
		"the base":           {nil, "PATH=/bin DISPLAY=:0 XDG_RUNTIME_DIR=/run"},
		"names and patterns": {[]string{"KUBECONFIG", "AWS_*"}, "PATH=/bin DISPLAY=:0 XDG_RUNTIME_DIR=/run AWS_PROFILE=a AWS_REGION=b KUBECONFIG=k"},
		"everything":         {[]string{"*"}, strings.Join(environ, " ")},
		"another case":       {[]string{"kubeconfig"}, "PATH=/bin DISPLAY=:0 XDG_RUNTIME_DIR=/run"},
	}
	for name, c := range cases {
		if got := strings.Join(baseEnv(environ, c.pass, false), " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := baseEnv(environ, []string{"kubeconfig"}, true); !slices.Contains(got, "KUBECONFIG=k") {
		t.Errorf("on Windows names have no case: %q", got)
	}
}

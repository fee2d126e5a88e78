package upstream

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"secateur/internal/mcp/confine"
)

// A server whose sandbox is required does not start where the system cannot enforce it; another
// one does, and the gaps are logged once.
func TestRequiredSandboxesAreWholeOrNotAtAll(t *testing.T) {
	for name, c := range map[string]struct {
		box      *confine.Settings
		kernel   confine.Kernel
		required bool
		refused  string
		logged   string
	}{
		"enforced":              {&confine.Settings{Profile: "package"}, confine.Kernel{OS: "linux", ABI: 7, Filters: true}, true, "", ""},
		"not enforced":          {&confine.Settings{Profile: "package"}, confine.Kernel{OS: "darwin"}, false, "", "no sandbox on darwin"},
		"required, not there":   {&confine.Settings{Profile: "package"}, confine.Kernel{OS: "linux"}, true, "cannot enforce: files", ""},
		"required, macOS":       {&confine.Settings{Profile: "package"}, confine.Kernel{OS: "darwin"}, true, "no sandbox on darwin", ""},
		"required, not wanted":  {nil, confine.Kernel{OS: "linux", ABI: 7, Filters: true}, true, "there is no sandbox", ""},
		"neither":               {nil, confine.Kernel{OS: "windows"}, false, "", ""},
		"required and off":      {&confine.Settings{Profile: "off"}, confine.Kernel{OS: "linux", ABI: 7}, true, "there is no sandbox", ""},
		"an older kernel":       {&confine.Settings{Profile: "package"}, confine.Kernel{OS: "linux", ABI: 5, Filters: true}, false, "", "signals"},
		"an older one required": {&confine.Settings{Profile: "package"}, confine.Kernel{OS: "linux", ABI: 5, Filters: true}, true, "signals", ""},
	} {
		var log bytes.Buffer
		u, err := New(Options{
			Settings:  Settings{ID: "a", Command: []string{"x"}, Sandbox: c.box, SandboxRequired: c.required},
			Sandboxes: Sandboxes{Kernel: c.kernel, Dir: t.TempDir()}, Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err = u.sandbox(context.Background())
		}
		if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		}
		if c.logged == "" && log.Len() > 0 || c.logged != "" && strings.Count(log.String(), c.logged) != 1 {
			t.Errorf("%s: logged %s", name, log.String())
		}
	}
}

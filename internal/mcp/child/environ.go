package child

import (
	"maps"
	"runtime"
	"slices"
	"strings"

	"secateur/internal/secret"
)

// markerVariable marks a child and, because environments are inherited, all that descends from it. Its value is the
// server's id, a full stop and a nonce that no other child has.
const markerVariable = "SECATEUR_SERVER"

// baseNames are the variables that a child needs to find its programs, its user's files, its language, the way out
// and whom to trust. Nothing else of our environment is a child's business.
var baseNames = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ", "TMPDIR",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
}

// windowsNames are what programs on Windows cannot do without, in upper case.
var windowsNames = []string{
	"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS", "OS", "PATHEXT",
	"PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "SYSTEMDRIVE",
	"SYSTEMROOT", "TEMP", "TMP", "USERDOMAIN", "USERNAME", "USERPROFILE", "WINDIR",
}

// BaseEnv picks from an environment ("NAME=value") what every child gets.
func BaseEnv(environ []string) []string { return baseEnv(environ, runtime.GOOS == "windows") }

func baseEnv(environ []string, windows bool) []string {
	var base []string
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			continue
		}
		keep := slices.Contains(baseNames, name) || strings.HasPrefix(name, "LC_")
		if windows {
			upper := strings.ToUpper(name)
			keep = keep || slices.Contains(baseNames, upper) || slices.Contains(windowsNames, upper)
		}
		if keep {
			base = append(base, entry)
		}
	}
	return base
}

// childEnv is the base, overridden by the server's own variables, and the marker.
func childEnv(base []string, own map[string]secret.Text, marker string) []string {
	env := slices.Clone(base)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		env = append(env, name+"="+own[name].Reveal()) // of two entries of a name the last one counts
	}
	return append(env, markerVariable+"="+marker)
}

// lookupEnv finds the last value of a name.
func lookupEnv(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		n, value, ok := strings.Cut(entry, "=")
		if ok && (n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name)) {
			return value
		}
	}
	return ""
}

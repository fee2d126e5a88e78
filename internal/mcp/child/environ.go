package child

import (
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"

	"secateur/internal/secret"
)

// markerVariable marks a child and, because environments are inherited, its descendants. Its value
// is the server's id, a full stop and a nonce unique to the child.
const markerVariable = "SECATEUR_SERVER"

// baseNames are the variables that a child needs to find its programs, its user's files, its language, proxies and
// certificates, the display, the ssh agent and Docker. None of them holds a secret. A server gets others of our
// environment only where its pass_env names them.
var baseNames = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ", "TMPDIR",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK",
	"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY", "DOCKER_API_VERSION",
}

// basePrefixes are families of such variables: languages, and the folders and the session of a desktop.
var basePrefixes = []string{"LC_", "XDG_"}

// windowsNames are what programs on Windows cannot do without, in upper case.
var windowsNames = []string{
	"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS", "OS", "PATHEXT",
	"PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "SYSTEMDRIVE",
	"SYSTEMROOT", "TEMP", "TMP", "USERDOMAIN", "USERNAME", "USERPROFILE", "WINDIR",
}

// BaseEnv returns the variables of an environment ("NAME=value") that every child gets, and those whose names match a
// pattern of pass, as path.Match has them.
func BaseEnv(environ []string, pass ...string) []string {
	return baseEnv(environ, pass, runtime.GOOS == "windows")
}

func baseEnv(environ, pass []string, windows bool) []string {
	var base []string
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			continue
		}
		if windows {
			name = strings.ToUpper(name)
		}
		isPrefix := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		matches := func(pattern string) bool {
			if windows {
				pattern = strings.ToUpper(pattern)
			}
			ok, err := path.Match(pattern, name)
			return ok && err == nil
		}
		if slices.Contains(baseNames, name) || slices.ContainsFunc(basePrefixes, isPrefix) ||
			windows && slices.Contains(windowsNames, name) || slices.ContainsFunc(pass, matches) {
			base = append(base, entry)
		}
	}
	return base
}

// childEnv returns the base, overridden by the server's own variables, and the marker.
func childEnv(base []string, own map[string]secret.Text, marker string) []string {
	env := slices.Clone(base)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		// of two entries of a name the last one counts
		env = append(env, name+"="+own[name].Reveal())
	}
	return append(env, markerVariable+"="+marker)
}

// lookupEnv returns the last value of a name.
func lookupEnv(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		n, value, ok := strings.Cut(entry, "=")
		if ok && (n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name)) {
			return value
		}
	}
	return ""
}

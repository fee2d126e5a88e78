package confine

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// systemPrograms are directories that every server may read and execute.
var systemPrograms = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/snap",
	"/nix/store", "/gnu/store", "/run/current-system", "/home/linuxbrew/.linuxbrew",
}

// homePrograms are directories below the home that hold interpreters and programs, and no secrets.
var homePrograms = []string{
	".pyenv", ".nvm", ".rbenv", ".asdf", ".volta", ".bun", ".deno", ".sdkman", ".linuxbrew", ".rustup", ".cargo/bin", "go/bin", ".local/bin",
	".local/share/uv", ".local/share/fnm", ".local/share/mise", ".local/share/pnpm", ".local/share/pipx",
}

// systemFiles may be read. Below /proc, the kernel shows a confined process only names and
// command lines of others.
var systemFiles = []string{"/proc", "/sys", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"}

// linkedFiles are often links to a place that is not below /etc.
var linkedFiles = []string{"/etc/resolv.conf", "/etc/hosts", "/etc/localtime"}

var systemDevices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"}

// certificateNames are variables that name files with certificates.
var certificateNames = []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}

// system grants what every program needs.
func (b *builder) system() {
	for _, dir := range systemPrograms {
		b.add(dir, Execute)
	}
	for _, dir := range homePrograms {
		if path := filepath.Join(b.Home, dir); b.Home != "" && isDir(path) {
			b.add(path, Execute)
		}
	}
	for _, path := range slices.Concat(systemFiles, configFiles(os.Geteuid() == 0)) {
		b.add(path, Read)
	}
	for _, path := range linkedFiles {
		if file, err := filepath.EvalSymlinks(path); err == nil {
			b.add(file, Read)
		}
	}
	for _, path := range systemDevices {
		b.add(path, Device)
	}
	for _, name := range certificateNames {
		if path := lookup(b.Env, name); filepath.IsAbs(path) {
			b.add(path, Read)
		}
	}
}

// configFiles returns /etc or, for root, the entries of it that everybody may read.
func configFiles(root bool) []string {
	if !root {
		return []string{"/etc"}
	}
	var paths []string
	for _, dir := range []string{"/etc", "/etc/ssl"} {
		entries, _ := os.ReadDir(dir) // nothing can be granted then
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			info, err := os.Stat(path)
			if err == nil && info.Mode().Perm()&0o004 != 0 && path != "/etc/ssl" && path != "/etc/ssh" {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// program grants the program, its interpreters, and the package of its script.
func (b *builder) program() {
	b.executable(b.Path, 0)
	if script := b.script(); script != "" {
		b.add(b.packageOf(script), Execute)
	}
}

// maxInterpreters bounds a chain of scripts.
const maxInterpreters = 4

// executable grants a program, the file that it is a link to, and the interpreter of its first
// line. Below a writable directory no link is followed.
func (b *builder) executable(path string, depth int) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.Dir, path)
	}
	b.add(b.prefix(path), Execute)
	if b.isWritable(path) || depth == maxInterpreters {
		return
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		b.executable(real, depth+1)
		return
	}
	words := interpreterOf(path)
	if len(words) == 0 {
		return
	}
	if filepath.Base(words[0]) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") || strings.ContainsRune(w, '=') })
		if len(words) == 0 {
			return
		}
		words[0] = search(words[0], lookup(b.Env, "PATH"))
	}
	if words[0] != "" {
		b.executable(words[0], depth+1)
	}
}

func (b *builder) isWritable(path string) bool {
	return slices.ContainsFunc(b.rules, func(r Rule) bool {
		return (r.Rights == Write || r.Rights == Both) && isBelow(path, r.Path)
	})
}

// prefix returns the directory that a program is installed in: the parent of bin, else its own.
func (b *builder) prefix(path string) string {
	dir := filepath.Dir(path)
	if up := filepath.Dir(dir); filepath.Base(dir) == "bin" && filepath.Base(up) != ".local" && !b.tooWide(up) {
		return up
	}
	if b.tooWide(dir) || filepath.Base(dir) == "tmp" {
		return path
	}
	return dir
}

// interpreterOf returns the words of a script's first line; nil: it is no script.
func interpreterOf(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	line, _ := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	rest, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return nil
	}
	return strings.Fields(rest)
}

// search finds a program in a PATH; "": it is not there.
func search(name, path string) string {
	if strings.ContainsRune(name, '/') {
		return name
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return file
		}
	}
	return ""
}

func lookup(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// interpreters are programs whose first file argument is the program that they run.
var interpreters = []string{"node", "nodejs", "python", "deno", "bun", "ruby", "perl", "php", "sh", "bash", "dash", "zsh", "java", "dotnet", "tsx", "ts-node", "Rscript", "uv"}

// script returns the file that an interpreter runs; "": none.
func (b *builder) script() string {
	name := strings.TrimRight(filepath.Base(b.Command[0]), "0123456789.")
	if !slices.Contains(interpreters, name) {
		return ""
	}
	for _, arg := range b.Command[1:] {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		path := b.abs(arg)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// packageMarks are files in the top directory of a package.
var packageMarks = []string{"package.json", "node_modules", "pyproject.toml", "setup.py", "requirements.txt", "deno.json", "go.mod", "Cargo.toml", "Gemfile", ".git"}

// maxPackageDepth is how far a script may be below the top of its package.
const maxPackageDepth = 6

// packageOf returns the directory of a script's package with its dependencies.
func (b *builder) packageOf(script string) string {
	if b.isWritable(script) {
		return script
	}
	if real, err := filepath.EvalSymlinks(script); err == nil {
		script = real
	}
	if i := strings.Index(script, "/node_modules/"); i >= 0 {
		return script[:i+len("/node_modules")]
	}
	dir := filepath.Dir(script)
	for range maxPackageDepth {
		if b.tooWide(dir) {
			break
		}
		for _, mark := range packageMarks {
			if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
				return dir
			}
		}
		dir = filepath.Dir(dir)
	}
	if dir = filepath.Dir(script); b.tooWide(dir) || filepath.Base(dir) == "tmp" {
		return script
	}
	return dir
}

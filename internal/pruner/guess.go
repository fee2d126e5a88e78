package pruner

import (
	"path"
	"regexp"
	"strings"

	"secateur/internal/prune"
)

// GuessSource tells what kind of text a file holds, by its name where that says it, else by how its lines look.
func GuessSource(name, text string) prune.Source {
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	if kind, ok := byName(base); ok {
		return kind
	}
	return byLook(text)
}

// names are endings and whole names that say what a file holds; base names without a dot stand for themselves.
var names = map[prune.Source]string{
	prune.Code: ".go .py .pyi .js .mjs .cjs .jsx .ts .mts .tsx .java .kt .kts .c .h .cc .cpp .cxx .hh .hpp .hxx .cs .fs .rb .rs .php " +
		".swift .scala .sh .bash .zsh .fish .ps1 .pl .pm .lua .r .jl .dart .ex .exs .erl .hs .ml .mli .clj .cljs .groovy .gradle .m .mm " +
		".sql .vue .svelte .css .scss .sass .less .html .htm .xml .xsd .proto .thrift .graphql .tf .hcl .nix .zig .v .sv .vhd .asm .s " +
		".json .jsonc .yaml .yml .toml .ini .cfg .conf .properties .patch .diff .cmake .mk .bazel .bzl .ipynb .el .lisp .scm .vim " +
		"makefile gnumakefile dockerfile jenkinsfile vagrantfile rakefile gemfile procfile justfile build workspace cmakelists.txt go.mod go.sum",
	prune.Logs: ".log .out .err .trace .journal .stdout .stderr syslog messages dmesg stdout stderr nohup.out catalina.out",
	prune.Docs: ".md .markdown .mdx .rst .adoc .asciidoc .org .tex .textile .wiki .pod " +
		"readme changelog changes contributing authors license licence copying news notice",
}

var byEnding = func() map[string]prune.Source {
	m := map[string]prune.Source{}
	for kind, list := range names {
		for name := range strings.FieldsSeq(list) {
			m[name] = kind
		}
	}
	return m
}()

func byName(base string) (prune.Source, bool) {
	if kind, ok := byEnding[base]; ok {
		return kind, true
	}
	// A rotated or packed log is still a log: app.log.1, app.log.2026-03-14, app.log.gz.
	if strings.Contains(base, ".log.") || strings.Contains(base, ".log-") {
		return prune.Logs, true
	}
	ending := path.Ext(base)
	if len(ending) > 1 && strings.Trim(ending[1:], "0123456789") == "" {
		return byName(strings.TrimSuffix(base, ending)) // messages.1
	}
	kind, ok := byEnding[ending]
	return kind, ok
}

var (
	stamped = regexp.MustCompile(`^\W?(\d{4}[-/.]\d\d[-/.]\d\d|\d\d?[/-](\d\d|[A-Z][a-z]{2})[/-]\d{2,4}|(\d\d:){2}\d\d|` +
		`[A-Z][a-z]{2} +\d+ \d\d:\d\d|\[ *\d+\.\d+\]|\d{9,})|^\S+ \S+ \S+ \[\d\d/`)
	leveled = regexp.MustCompile(`^\W?(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b|\b(level=(\w+)|(DEBUG|INFO|WARN|WARNING|ERROR|FATAL)[\]: |])`)
	coded   = regexp.MustCompile(`[{};]\s*$|^\s*(func|def|class|import|from \S+ import|package|return|if|for|while|else|elif|fn|let|const|var|public|private|` +
		`static|#include|using|namespace|export|try|catch|end)\b|^\s*(//|/\*|\*/|@\w+|</?\w+[^>]*>\s*$)|\)\s*:\s*$|^\s*[\w.\[\]]+\s*:?=\s*\S`)
)

// byLook counts what kind of line the first few hundred are. What looks like nothing is prose.
func byLook(text string) prune.Source {
	if trimmed := strings.TrimSpace(text[:min(len(text), 512)]); strings.HasPrefix(trimmed, "#!") {
		return prune.Code
	}
	lines, logs, code := 0, 0, 0
	for line := range strings.SplitSeq(text[:min(len(text), 64<<10)], "\n") {
		line = strings.TrimRight(line[:min(len(line), 400)], "\r")
		if strings.TrimSpace(line) == "" {
			continue
		}
		lines++
		switch {
		case stamped.MatchString(line) || leveled.MatchString(line):
			logs++
		case coded.MatchString(line):
			code++
		}
		if lines == 400 {
			break
		}
	}
	switch {
	case logs*5 >= lines*2 && lines > 0:
		return prune.Logs
	case code*5 >= lines*2 && lines > 0:
		return prune.Code
	}
	return prune.Docs
}

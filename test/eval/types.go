package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"secateur/internal/prune"
	"secateur/test/eval/cases"
)

// specimen is a real text without its name, and its type.
type specimen struct {
	from   string
	source prune.Source
	form   prune.Form
	text   string
}

// typeRow counts how often one kind of text is recognized.
type typeRow struct {
	from            string
	n, source, form int // texts; with the right source type; with the right form
	wrong           []string
}

// typeTable guesses the types of texts as they come from a pipe: the evaluation data, files of the
// Go installation and of this program's modules, and the output of common commands on this
// repository.
func typeTable(ctx context.Context, all []*cases.Case) []typeRow {
	specimens := slices.Concat(fromCases(all), fromFiles(ctx), fromCommands(ctx))
	var rows []typeRow
	for _, s := range specimens {
		i := slices.IndexFunc(rows, func(r typeRow) bool { return r.from == s.from })
		if i < 0 {
			i = len(rows)
			rows = append(rows, typeRow{from: s.from})
		}
		r := &rows[i]
		r.n++
		source, form := prune.Guess("", s.text), prune.FormOf(s.text)
		if source == s.source {
			r.source++
		} else {
			r.wrong = append(r.wrong, source.String())
		}
		if form == s.form {
			r.form++
		}
	}
	return rows
}

func fromCases(all []*cases.Case) (out []specimen) {
	for _, c := range all {
		source, err := prune.ParseSource(c.SourceType)
		if err != nil {
			continue
		}
		name := map[string]string{"code": "source files", "views": "views of files by agents", "docs": "documents"}[c.Set]
		if c.Set == "logs" {
			name = "logs of systems"
			if strings.HasPrefix(c.Subset, "ci-") {
				name = "logs of CI"
			}
		}
		out = append(out, specimen{name, source, prune.Plain, c.Text})
	}
	return out
}

// kindsOf are the wanted files, by extension.
var kindsOf = map[string]specimen{
	".go": {"Go", prune.Code, prune.Plain, ""}, ".c": {"C", prune.Code, prune.Plain, ""}, ".h": {"C", prune.Code, prune.Plain, ""},
	".js": {"JavaScript", prune.Code, prune.Plain, ""}, ".ts": {"TypeScript", prune.Code, prune.Plain, ""}, ".py": {"Python", prune.Code, prune.Plain, ""},
	".sh": {"shell scripts", prune.Code, prune.Plain, ""}, ".bash": {"shell scripts", prune.Code, prune.Plain, ""}, ".proto": {"proto", prune.Code, prune.Plain, ""},
	".md": {"markdown", prune.Docs, prune.Plain, ""}, ".json": {"JSON", prune.Code, prune.JSON, ""},
	".yml": {"YAML", prune.Code, prune.YAML, ""}, ".yaml": {"YAML", prune.Code, prune.YAML, ""}, ".toml": {"TOML", prune.Code, prune.TOML, ""},
	".diff": {"diffs", prune.Code, prune.Diff, ""}, ".patch": {"diffs", prune.Code, prune.Diff, ""}, ".csv": {"CSV", prune.Logs, prune.Table, ""},
	".html": {"HTML", prune.Docs, prune.HTML, ""}, ".htm": {"HTML", prune.Docs, prune.HTML, ""}, ".xml": {"XML", prune.Code, prune.Markup, ""},
	".tsv": {"CSV", prune.Logs, prune.Table, ""}, ".jsonl": {"NDJSON", prune.Logs, prune.NDJSON, ""}, ".ndjson": {"NDJSON", prune.Logs, prune.NDJSON, ""},
}

const (
	mostOfAKind = 60
	minBytes    = 400
	maxBytes    = 200_000
)

func fromFiles(ctx context.Context) (out []specimen) {
	count := map[string]int{}
	for _, variable := range []string{"GOROOT", "GOMODCACHE"} {
		root := strings.TrimSpace(string(output(ctx, "go", "env", variable)))
		if root == "" {
			continue
		}
		_ = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || ctx.Err() != nil {
				return nil //nolint:nilerr // unreadable files are skipped
			}
			kind, ok := kindsOf[strings.ToLower(filepath.Ext(name))]
			info, err := entry.Info()
			if !ok || err != nil || info.Size() < minBytes || info.Size() > maxBytes || count[kind.from] >= mostOfAKind {
				return nil //nolint:nilerr // as above
			}
			if h := fnvOf(name); h%7 != 0 && kind.from == "Go" { // not all of one package
				return nil
			}
			b, err := os.ReadFile(name) //nolint:gosec // files of the Go installation
			if err != nil || bytes.IndexByte(b, 0) >= 0 || kind.form == prune.HTML && isTemplate(b) {
				return nil //nolint:nilerr // as above
			}
			count[kind.from]++
			kind.text = string(b)
			out = append(out, kind)
			return nil
		})
	}
	return out
}

// isTemplate reports whether a page is a template, which is code.
func isTemplate(page []byte) bool {
	return bytes.Contains(page, []byte("{{")) || bytes.Contains(page, []byte("{%"))
}

func fnvOf(s string) (h uint32) {
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

func fromCommands(ctx context.Context) (out []specimen) {
	add := func(from string, source prune.Source, form prune.Form, command ...string) {
		if text := output(ctx, command[0], command[1:]...); len(text) > minBytes {
			out = append(out, specimen{from, source, form, string(text[:min(len(text), maxBytes)])})
		}
	}
	for commit := range strings.FieldsSeq(string(output(ctx, "git", "rev-list", "-n", "40", "--no-merges", "HEAD"))) {
		add("git show, git diff", prune.Code, prune.Diff, "git", "show", "--format=", commit)
		add("git show, git diff", prune.Code, prune.Diff, "git", "diff", "-U8", commit+"~1", commit)
	}
	for _, word := range []string{"func", "return", "error", "type", "import", "test", "context", "string", "if err", "prune"} {
		add("grep -rn", prune.Code, prune.Hits, "grep", "-rn", word, "internal", "cmd")
		add("grep -rn -C2", prune.Code, prune.Hits, "grep", "-rn", "-C2", "--no-group-separator", word, "internal/prune", "internal/llm/chat")
		add("grep -n", prune.Code, prune.Plain, "grep", "-n", word, "internal/prune/match.go")
	}
	dirs, _ := filepath.Glob("internal/*")
	for _, dir := range dirs {
		add("ls -la, ls -lR, find", prune.Code, prune.Listing, "ls", "-la", dir)
		add("ls -la, ls -lR, find", prune.Code, prune.Listing, "ls", "-lR", dir)
		add("ls -la, ls -lR, find", prune.Code, prune.Listing, "find", dir)
	}
	files, _ := filepath.Glob("internal/*/*.go")
	for i, name := range files {
		if i%6 == 0 {
			add("nl, cat -n of Go", prune.Code, prune.Plain, "nl", "-ba", name)
			add("nl, cat -n of Go", prune.Code, prune.Plain, "cat", "-n", name)
		}
	}
	add("go test -v", prune.Logs, prune.Plain, "go", "test", "-v", "./internal/prune")
	add("go test -v", prune.Logs, prune.Plain, "go", "test", "-v", "./internal/llm/tokens")
	add("go test -json", prune.Logs, prune.NDJSON, "go", "test", "-json", "./internal/prune")
	add("go list -m -json", prune.Code, prune.JSON, "go", "list", "-json", "./internal/prune")
	return out
}

// output returns what a command prints; nil if it fails.
func output(ctx context.Context, name string, args ...string) []byte {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil && len(out) == 0 {
		return nil
	}
	return out
}

// printTypes shows the table.
func printTypes(out io.Writer, rows []typeRow) {
	n, wrong := 0, 0
	for _, r := range rows {
		fmt.Fprintf(out, "%-28s %4d  source %4d  form %4d  %s\n", r.from, r.n, r.source, r.form, strings.Join(r.wrong[:min(6, len(r.wrong))], " "))
		n += r.n
		wrong += r.n - r.source
	}
	fmt.Fprintf(out, "source type wrong: %d of %d\n", wrong, n)
}

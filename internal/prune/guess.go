package prune

import (
	"path"
	"strings"
)

// Guess returns the kind of text in a file or a pipe: by its name if possible, else by how it is
// written.
func Guess(name, text string) Source {
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	if kind, ok := byName(base); ok {
		return kind
	}
	return byLook(text)
}

// kindNames are extensions and file names that tell the contents of a file; names without a dot are
// whole base names.
var kindNames = map[Source]string{
	Code: ".go .py .pyi .js .mjs .cjs .jsx .ts .mts .tsx .java .kt .kts .c .h .cc .cpp .cxx .hh .hpp .hxx .cs .fs .rb .rs .php " +
		".swift .scala .sh .bash .zsh .fish .ps1 .pl .pm .lua .r .jl .dart .ex .exs .erl .hs .ml .mli .clj .cljs .groovy .gradle .m .mm " +
		".sql .vue .svelte .css .scss .sass .less .xml .xsd .proto .thrift .graphql .tf .hcl .nix .zig .v .sv .vhd .asm .s " +
		".json .jsonc .yaml .yml .toml .ini .cfg .conf .properties .patch .diff .cmake .mk .bazel .bzl .ipynb .el .lisp .scm .vim " +
		"makefile gnumakefile dockerfile jenkinsfile vagrantfile rakefile gemfile procfile justfile build workspace cmakelists.txt go.mod go.sum",
	Logs: ".log .out .err .trace .journal .stdout .stderr .ndjson .jsonl .csv .tsv syslog messages dmesg stdout stderr nohup.out catalina.out",
	Docs: ".md .markdown .mdx .rst .adoc .asciidoc .org .tex .textile .wiki .pod .html .htm " +
		"readme changelog changes contributing authors license licence copying news notice",
}

var byEnding = func() map[string]Source {
	m := map[string]Source{}
	for kind, list := range kindNames {
		for name := range strings.FieldsSeq(list) {
			m[name] = kind
		}
	}
	return m
}()

func byName(base string) (Source, bool) {
	if kind, ok := byEnding[base]; ok {
		return kind, true
	}
	// A rotated or compressed log is still a log: app.log.1, app.log.2026-03-14, app.log.gz.
	if strings.Contains(base, ".log.") || strings.Contains(base, ".log-") {
		return Logs, true
	}
	ending := path.Ext(base)
	if ending == ".gz" || len(ending) > 1 && strings.Trim(ending[1:], "0123456789") == "" {
		return byName(strings.TrimSuffix(base, ending)) // messages.1
	}
	kind, ok := byEnding[ending]
	return kind, ok
}

// byLook classifies the first few hundred lines. Without evidence the text is prose.
func byLook(text string) Source {
	text = text[:min(len(text), 128<<10)]
	if strings.HasPrefix(strings.TrimLeft(text, "\ufeff \t\r\n"), "#!") {
		return Code
	}
	lines := IndexLines(text)
	deco := findDecoration(lines, Logs)
	form := formOf(lines, deco)
	if kind, ok := form.source(); ok {
		return kind
	}
	if form == HTML {
		return Docs
	}
	var n look
	for i := 1; i <= lines.Len() && n.lines < 400; i++ {
		line := lines.Line(i)
		line = trimLine(line)
		if deco.kind != stampPrefix && deco.skip != nil {
			line = line[deco.skip[i-1]:]
		}
		n.count(line[:min(len(line), 400)])
	}
	return n.judge()
}

// look counts kinds of lines.
type look struct {
	lines                             int
	logs, code, prose, marked, frames int
	stamped, colours                  int
	fenced                            bool
}

func (n *look) count(line string) {
	body := strings.TrimSpace(line)
	if body == "" {
		return
	}
	n.lines++
	if strings.HasPrefix(body, "```") {
		n.fenced = !n.fenced
		n.marked++
		return
	}
	if n.fenced {
		n.marked++
		return
	}
	if strings.Contains(line, "\x1b[") {
		n.colours++
	}
	at, _ := skipSpace(line, 0, len(line))
	if at < len(line) {
		body = strings.TrimSpace(line[at:])
	}
	if body == "" {
		return
	}
	switch {
	case skipStamp(body) > 0 || isLeveled(body):
		n.logs++
		n.stamped++
	case isFrame(body) || strings.HasPrefix(body, "Traceback (most recent") || strings.HasPrefix(body, "goroutine "):
		n.frames++
	case isMarkdown(body):
		n.marked++
	case isRun(body):
		n.logs++
	case isCode(line, body):
		n.code++
	case isSentence(body):
		n.prose++
	}
}

// judge weighs the counts. Colours and stack traces come from programs.
func (n *look) judge() Source {
	if n.lines == 0 {
		return Docs
	}
	logs := n.logs + 2*n.frames + 2*n.colours
	code := n.code
	docs := n.prose + n.marked
	switch {
	case 5*n.stamped >= 2*n.lines, n.colours*20 >= n.lines && 3*code < 2*n.lines && n.colours > 2:
		return Logs
	case 10*logs >= 2*n.lines && logs > code && logs > n.marked:
		return Logs
	case 5*code >= 2*n.lines && code > docs, code > docs && code > logs && 4*code >= n.lines:
		return Code
	case 20*logs >= n.lines && logs > docs && logs > code:
		return Logs
	case docs == 0 && code == 0 && n.lines > 3 && logs > 0:
		return Logs
	}
	return Docs
}

// isLeveled reports whether a line has its log level where programs write it.
func isLeveled(body string) bool {
	start := strings.TrimLeft(body, "[<(* ")
	word := firstWord(start)
	if levels[word] && len(start) > len(word) && (start[len(word)] == ' ' || start[len(word)] == ':' || start[len(word)] == ']' || start[len(word)] == '|' || start[len(word)] == '>') {
		return word == strings.ToUpper(word) || body[0] == '['
	}
	if i := strings.Index(body, "level="); i >= 0 && (i == 0 || body[i-1] == ' ') {
		return true
	}
	for _, w := range [...]string{" INFO ", " DEBUG ", " WARN ", " ERROR ", "[info]", "[INFO]", "[error]", "[ERROR]", "[WARNING]", " INFO: ", " - - ["} {
		if strings.Contains(body, w) {
			return true
		}
	}
	return false
}

var levels = wordsOf("TRACE DEBUG INFO NOTICE WARN WARNING ERROR FATAL CRITICAL SEVERE info debug warn error warning")

// isRun reports whether a line is progress output of a build, a test or an installation.
func isRun(body string) bool {
	switch body[0] {
	case '$', '+':
		return len(body) > 2 && body[1] == ' ' && classes[body[2]] != sepClass
	case '=', '-', '#':
		return strings.HasPrefix(body, "===") || strings.HasPrefix(body, "---") && len(body) > 3 && body[3] != '-' && body[3] != ' ' || strings.HasPrefix(body, "--- FAIL") ||
			strings.HasPrefix(body, "--- PASS") || strings.HasPrefix(body, "##[") || strings.HasPrefix(body, "==> ")
	}
	word := firstWord(body)
	if runWords[word] || runWords[strings.ToLower(word)] && classes[body[0]] == upperClass {
		return true
	}
	for _, w := range [...]string{"... ok", "... FAIL", "... yes", "... no", "... done", " ... [", "PASSED", "FAILED", "travis_", "npm ERR!", ": error:", ": warning:", "100%", "kB/s", "MB/s", "exited with", "ms)", "took "} {
		if strings.Contains(body, w) {
			return true
		}
	}
	return false
}

var runWords = wordsOf(`compiling downloading downloaded installing installed building fetching running checking setting unpacking preparing selecting
	collecting requirement resolving extracting cloning receiving remote get ign hit fetched reading writing generating creating copying linking starting
	loading configuring testing scanning verifying uploading using executing processing updating removing packaging making entering leaving
	ok pass fail failed passed tests worker_info travis_time travis_fold npm yarn warning error note make cc gcc g++ javac added found successfully cached
	success finished completed step sending removing looking ran skipped`)

func isMarkdown(body string) bool {
	switch body[0] {
	case '#':
		rest := strings.TrimLeft(body, "#")
		return rest != "" && rest[0] == ' ' && len(body)-len(rest) <= 6 && len(rest) > 1 && classes[rest[1]] != sepClass && classes[rest[1]] != lowerClass
	case '*', '-':
		return len(body) > 3 && body[1] == ' ' && (classes[body[2]] == upperClass || body[2] == '[' || body[2] == '`' || body[2] == '*')
	case '|':
		return body[len(body)-1] == '|' && len(body) > 2
	case '>':
		return len(body) > 2 && body[1] == ' '
	}
	return strings.Contains(body, "](") || strings.HasPrefix(body, ".. ")
}

func isCode(line, body string) bool {
	last := body[len(body)-1]
	if last == '{' || last == '}' || last == ';' || last == '(' || last == ',' && line[0] == ' ' {
		return true
	}
	switch body[0] {
	case '}', ')', ']', '@', '{':
		return true
	case '/':
		return strings.HasPrefix(body, "//") || strings.HasPrefix(body, "/*")
	case '*':
		return body == "*/" || strings.HasPrefix(body, "* ") && line[0] == ' '
	case '#':
		return directiveWords[firstWord(body[1:])] || len(body) > 2 && body[1] == ' ' && classes[body[2]] == lowerClass
	case '<':
		return last == '>'
	}
	word := firstWord(body)
	if codeWords[word] && (len(body) == len(word) || body[len(word)] == ' ' || body[len(word)] == '(') && !isSentence(body) {
		return true
	}
	if last == ':' && (keywords[word]&(calls|defines|closes) != 0 || strings.Contains(body, "(")) {
		return true
	}
	if last == ')' && strings.Contains(body, "(") && classes[body[0]] != upperClass && !strings.Contains(body, ". ") && len(strings.Fields(body)) < 8 {
		return true
	}
	i := strings.Index(body, "=")
	return i > 0 && !isSentence(body) && (strings.Contains(body, " = ") || strings.Contains(body, " := ") || strings.Contains(body, " == ") || isKey(body, '='))
}

var codeWords = wordsOf(`func def class import from package return if for while else elif fn let const var public private protected static using namespace
	export try catch end async await interface struct enum impl use mod pub type module require include local function raise throw yield with assert pass`)

// isSentence reports whether a line has several words of a language, like prose.
func isSentence(body string) bool {
	words, odd := 0, 0
	for w := range strings.FieldsSeq(body) {
		words++
		for i := range len(w) {
			if c := w[i]; c == '=' || c == '{' || c == '}' || c == '(' && i > 0 || c == ';' || c == '_' || c == '/' || c == '\\' || classes[c] == digitClass {
				odd++
				break
			}
		}
	}
	return words >= 5 && 4*odd <= words
}

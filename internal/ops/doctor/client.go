package doctor

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"secateur/internal/access"
)

// Listed is the relevant content of a client's file.
type Listed struct {
	Client  string // name for 'secateur connect'
	Title   string
	File    string
	Program string   // program started as secateur; "": an address, or secateur is not listed
	HasUs   bool     // secateur is listed
	Others  []string // ids of its other servers

	Definitions int // tokens of the tools' definitions that it has in every request; 0: few, found, or not known
}

// manyDefinitions is from how many tokens on finding tools pays: a search and its answer take some hundred.
const manyDefinitions = 10_000

// CheckClient looks at how a client is connected: what it starts must be there, and a server that it also has by itself comes twice.
func CheckClient(l Listed, ours []string, environ []string) Check {
	return func(ctx context.Context) []Finding {
		f := Finding{Check: Client, Subject: l.Client, Level: OK, Cause: l.File + " lists secateur"}
		if !l.HasUs {
			f.Cause, f.Fix = l.Title+" does not use secateur", "'secateur connect "+l.Client+"' shows what that would change"
			return []Finding{f}
		}
		if l.Program != "" {
			if found := CheckCommand(l.Client, l.Program, environ)(ctx)[0]; found.Level != OK {
				f.Level, f.Cause, f.Fix = Fail, l.File+": "+found.Cause, "'secateur connect "+l.Client+"' writes the path of this program"
				return []Finding{f}
			}
		}
		var twice []string
		for _, id := range l.Others {
			if slices.Contains(ours, id) {
				twice = append(twice, id)
			}
		}
		if len(twice) > 0 {
			f.Level, f.Cause = Warn, l.Title+" also has "+strings.Join(twice, ", ")+" by itself: their tools fill the context twice, and nothing of them is cut"
			f.Fix = "take them out of " + l.File
		}
		if l.Definitions >= manyDefinitions && f.Level == OK {
			f.Level = Warn
			f.Cause = strconv.Itoa(l.Definitions/1000*1000) + " tokens of definitions in every request of " + l.Title
			f.Fix = `let it find tools instead: [tools.clients] "` + l.Client + `*" = { mode = "search" }`
		}
		return []Finding{f}
	}
}

// CheckClaudeCode reports the features that Claude Code disables behind our base URL. settings is
// its settings.json.
func CheckClaudeCode(settings string, lookup func(string) (string, bool)) Check {
	return func(context.Context) []Finding {
		env := claudeEnv(settings)
		value := func(name string) string { // the file overrides the shell
			if v, ok := env[name]; ok {
				return v
			}
			v, _ := lookup(name)
			return v
		}
		base, err := url.Parse(value("ANTHROPIC_BASE_URL"))
		if err != nil || !access.IsLoopback(base.Hostname()) {
			return nil
		}
		const off = "; remote control, voice and fine-grained tool streaming are off, which nothing here can change"
		f := Finding{Check: Client, Subject: "claude-code", Level: OK, Cause: "behind " + base.Host + ": tool search is on" + off}
		switch strings.ToLower(value("ENABLE_TOOL_SEARCH")) {
		case "":
			f.Cause = "behind " + base.Host + ": tool search is on since Claude Code 2.1.325 at the latest; an older one needs ENABLE_TOOL_SEARCH=true" + off
		case "false", "0":
			f.Level = Warn
			f.Cause = "ENABLE_TOOL_SEARCH switches Claude Code's tool search off, so that the definitions of all MCP tools fill the context from the start"
			f.Fix = `take ENABLE_TOOL_SEARCH out, or set it to "true" in env of ` + filepath.ToSlash(settings)
		}
		return []Finding{f}
	}
}

// claudeEnv returns the variables that a settings.json of Claude Code sets.
func claudeEnv(file string) map[string]string {
	var settings struct {
		Env map[string]string `json:"env"`
	}
	if data, err := os.ReadFile(file); err == nil {
		_ = json.Unmarshal(data, &settings) // missing values set nothing
	}
	return settings.Env
}

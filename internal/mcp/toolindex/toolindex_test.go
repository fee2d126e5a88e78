package toolindex_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"secateur/internal/mcp/toolindex"
)

var shelf = []toolindex.Item{
	{Server: "files", Name: "read_file", Description: "Read the text of a file."},
	{Server: "files", Name: "write_file", Description: "Create a file or overwrite it."},
	{Server: "files", Name: "delete_file", Description: "Remove a file for good."},
	{Server: "files", Name: "list_directory", Description: "List what is in a directory."},
	{Server: "git", Name: "git_commit", Description: "Record changes to the repository."},
	{Server: "weather", Name: "getForecast", Description: "Forecast for a place, up to a week."},
	{Server: "weather", Name: "get_alerts", Description: "Warnings of storms."},
	{Server: "eventgrid", Name: "topic_list", Description: "List topics."},
	{Server: "mail", Name: "send_message", Title: "Send an email", Description: "Deliver a letter to people.", Arguments: []string{"recipient", "subject"}},
}

func names(x *toolindex.Index, query string, limit int) (found []string) {
	for _, h := range x.Find(query, limit) {
		it := x.Item(h.Item)
		found = append(found, it.Server+"::"+it.Name)
	}
	return found
}

func TestWhatAQueryFindsFirst(t *testing.T) {
	x := toolindex.New(toolindex.NewPart(shelf))
	for _, c := range []struct{ rule, query, want string }{
		{"a whole name", "files::read_file", "files::read_file"},
		{"a bare name", "delete_file", "files::delete_file"},
		{"a name in another form", "get forecast", "weather::getForecast"},
		{"a name in camel case", "GetForecast", "weather::getForecast"},
		{"a part of a name", "list_dir", "files::list_directory"},
		{"a name within a sentence", "please call git_commit for me", "git::git_commit"},
		{"a synonym", "erase a document", "files::delete_file"},
		{"a synonym of the object", "show the contents of a folder", "files::list_directory"},
		{"a subject", "is it going to rain in Paris", "weather::getForecast"},
		{"a plural and an ending", "listing directories", "files::list_directory"},
		{"words that the name writes together", "event grid topics", "eventgrid::topic_list"},
		{"a title", "send an email to Bob", "mail::send_message"},
		{"a short form", "commit to the repo", "git::git_commit"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := names(x, c.query, 3); len(got) == 0 || got[0] != c.want {
				t.Errorf("Find(%q) = %q, want %q first", c.query, got, c.want)
			}
		})
	}
}

func TestLimitAndNothing(t *testing.T) {
	x := toolindex.New(toolindex.NewPart(shelf))
	if got := x.Find("file", 2); len(got) != 2 {
		t.Errorf("limit 2 gives %d", len(got))
	}
	for _, query := range []string{"", " ", "zzzqqq", "???", "\x00\xff", strings.Repeat("the ", 5000)} {
		if got := x.Find(query, 5); len(got) != 0 {
			t.Errorf("Find(%.20q) = %v, want nothing", query, got)
		}
	}
	if got := toolindex.New().Find("anything", 5); len(got) != 0 {
		t.Errorf("an empty index finds %v", got)
	}
}

// An index made of a part without some items is the index of a server that never had them: no number tells of what was left out.
func TestWhatIsLeftOutLeavesNoTrace(t *testing.T) {
	keep := func(it toolindex.Item) bool { return it.Name != "delete_file" && it.Server != "git" }
	left := toolindex.New(toolindex.NewPart(shelf).Only(keep))
	never := toolindex.New(toolindex.NewPart(slices.DeleteFunc(slices.Clone(shelf), func(it toolindex.Item) bool { return !keep(it) })))
	for _, query := range []string{"remove a file for good", "record changes", "read", "file", "delete_file", "list topics of the event grid"} {
		if a, b := fmt.Sprint(left.Find(query, 9)), fmt.Sprint(never.Find(query, 9)); a != b {
			t.Errorf("Find(%q) = %s, where it never was %s", query, a, b)
		}
	}
}

func TestTheSameQueryFindsTheSame(t *testing.T) {
	a, b := toolindex.New(toolindex.NewPart(shelf)), toolindex.New(toolindex.NewPart(shelf))
	for _, query := range []string{"remove a file", "weather tomorrow", "send"} {
		if x, y := fmt.Sprint(a.Find(query, 9)), fmt.Sprint(b.Find(query, 9)); x != y {
			t.Errorf("Find(%q) = %s, then %s", query, x, y)
		}
	}
}

func FuzzFind(f *testing.F) {
	x := toolindex.New(toolindex.NewPart(shelf))
	for _, s := range []string{"read_file", "<a", "'x", "\"", "日本語 file", "A1bC", "...", "aBcD-e_f.g"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		for _, h := range x.Find(query, 5) {
			if h.Item < 0 || h.Item >= x.Len() || !(h.Score >= 0 && h.Score <= 1) {
				t.Errorf("Find(%q) has %+v", query, h)
			}
		}
		toolindex.New(toolindex.NewPart([]toolindex.Item{{Server: query, Name: query, Title: query, Description: query, Arguments: []string{query}}})).Find(query, 1)
	})
}

// many makes a catalogue like real ones.
func many(n int) []toolindex.Item {
	verbs := []string{"get", "list", "create", "delete", "update", "search", "send", "export", "archive", "describe"}
	things := []string{"invoice", "customer", "repository", "branch", "pull request", "calendar event", "message", "channel", "document", "folder", "database", "table", "virtual machine", "cluster", "secret", "dashboard", "alert", "metric", "ticket", "comment"}
	var items []toolindex.Item
	for i := range n {
		v, th := verbs[i%len(verbs)], things[i/len(verbs)%len(things)]
		items = append(items, toolindex.Item{
			Server: fmt.Sprintf("server%d", i/50), Name: v + "_" + strings.ReplaceAll(th, " ", "_") + fmt.Sprint(i/200),
			Description: fmt.Sprintf("%s a %s of the workspace %d by its identifier. Returns the %s with its fields, its owner, the time of its last change and links to what belongs to it. Fails if the caller has no permission.", v, th, i/200, th),
			Arguments:   []string{"workspace_id", "identifier", "fields", "page_size", "page_token"},
		})
	}
	return items
}

func BenchmarkToolIndex(b *testing.B) {
	parts := func() (all []*toolindex.Part) {
		items := many(5000)
		for i := 0; i < len(items); i += 50 {
			all = append(all, toolindex.NewPart(items[i:i+50]))
		}
		return all
	}
	ratio := func(b *testing.B, limit float64) {
		b.Helper()
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/limit, "÷limit")
	}
	b.Run("find in 5000 tools", func(b *testing.B) {
		x := toolindex.New(parts()...)
		queries := []string{"show me all open tickets of a customer", "create a calendar event for tomorrow at noon", "which virtual machines are in the cluster", "server7::list_branch0", "send a message to the channel that the deployment has failed"}
		i := 0
		for b.Loop() {
			x.Find(queries[i%len(queries)], 5)
			i++
		}
		ratio(b, 2e6)
	})
	b.Run("build of 5000 tools", func(b *testing.B) {
		for b.Loop() {
			toolindex.New(parts()...)
		}
		ratio(b, 200e6)
	})
	b.Run("one server of 100 changes", func(b *testing.B) {
		all := parts()
		changed := many(50)
		for b.Loop() {
			all[0] = toolindex.NewPart(changed)
			toolindex.New(all...)
		}
		ratio(b, 200e6)
	})
}

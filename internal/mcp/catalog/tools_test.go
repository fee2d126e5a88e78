package catalog_test

import (
	"testing"

	"secateur/internal/mcp/catalog"
)

func TestToolSettingsAreChecked(t *testing.T) {
	for rule, s := range map[string]interface{ Validate() error }{
		"a mode that there is not":      catalog.ToolSettings{Mode: "find"},
		"no mode":                       catalog.ToolSettings{},
		"a negative threshold":          catalog.ToolSettings{Mode: "list", ThresholdTokens: -1},
		"a client that is no pattern":   catalog.ToolSettings{Mode: "list", Clients: map[string]catalog.ClientTools{"[": {}}},
		"a pinned tool without server":  catalog.ClientTools{Pinned: []string{"read_file"}},
		"a hidden one that is no glob":  catalog.ClientTools{Hidden: []string{"files::["}},
		"a client's mode that is wrong": catalog.ClientTools{Mode: "no"},
	} {
		if s.Validate() == nil {
			t.Errorf("%s passes", rule)
		}
	}
	for _, s := range []interface{ Validate() error }{catalog.DefaultTools(), catalog.ClientTools{Mode: "search", Pinned: []string{"*", "files::read_*"}, Hidden: []string{"github::*"}}} {
		if err := s.Validate(); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestTheMostParticularPatternCounts(t *testing.T) {
	p := catalog.NewToolProfiles(catalog.ToolSettings{Mode: "list", ThresholdTokens: 100, Clients: map[string]catalog.ClientTools{"cur*": {Mode: "list"}, "cursor*": {Mode: "search"}}})
	if got := p.For("Cursor-vscode", ""); !got.Search || got.Threshold != 100 {
		t.Errorf("For(Cursor-vscode) = %+v", got)
	}
	if got := p.For("curl", ""); got.Search {
		t.Errorf("For(curl) = %+v", got)
	}
	if got := p.For("curl", catalog.ModeSearch); !got.Search || got.Threshold != 0 {
		t.Errorf("what a client asks for goes first: %+v", got)
	}
	if got := (*catalog.ToolProfiles)(nil).For("x", ""); got.Finds() {
		t.Errorf("without settings: %+v", got)
	}
}

func TestReadToolsQuery(t *testing.T) {
	for query, want := range map[string]string{"": "", "separator=__": "", "tools=search": "search", "a=b&tools=list": "list"} {
		if got, err := catalog.ReadToolsQuery(query); got != want || err != nil {
			t.Errorf("ReadToolsQuery(%q) = %q, %v", query, got, err)
		}
	}
	if _, err := catalog.ReadToolsQuery("tools=no"); err == nil {
		t.Error("tools=no passes")
	}
}

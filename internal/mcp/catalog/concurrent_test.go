package catalog_test

import (
	"sync"
	"testing"

	"secateur/internal/mcp/catalog"
)

// Everything built on first use may be requested concurrently.
func TestManyClientsAtOnce(t *testing.T) {
	cat := catalog.Merge([]catalog.ServerLists{
		{Server: "a", Tools: tools("x", "y"), Resources: items(`{"uri":"a:1"}`), Prompts: items(`{"name":"p"}`)},
		{Server: "b", Tools: tools("z"), Templates: items(`{"uriTemplate":"a:{x}"}`)},
	}, nil)
	var wg sync.WaitGroup
	for _, client := range []string{"", "claude-code", "", "codex", "claude-code", "Cline"} {
		wg.Go(func() {
			v := cat.For(client)
			for _, l := range catalog.Lists() {
				if p, err := v.Page(l, catalog.Ask{}, 0); err != nil || p.Count == 0 {
					t.Errorf("%q: Page(%s) = %d, %v", client, l, p.Count, err)
				}
			}
			if server, _, ok := v.ResolveTool("b__z"); !ok || server != "b" {
				t.Errorf("%q: ResolveTool(b__z) = %q, %v", client, server, ok)
			}
		})
	}
	wg.Wait()
}

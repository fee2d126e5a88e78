package admission_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/access/auth"
	"secateur/internal/access/limit"
)

// The cost of access control per call: identity, rules, limits. "ours" has 1 000 rules and 100
// limits, "one" has one of each.
func BenchmarkAccess(b *testing.B) {
	for variant, rules := range map[string]int{"ours": 1000, "one": 1} {
		b.Run("principals=10000/"+variant, func(b *testing.B) { benchAccess(b, rules) })
	}
}

func benchAccess(b *testing.B, n int) {
	b.Helper()
	const principals = 10_000
	set := auth.Default()
	requests := make([]*http.Request, principals)
	tokens := make([][]string, principals)
	for i := range requests {
		text := fmt.Sprintf("sct_%s%08d", strings.Repeat("x", 35), i)
		sum := sha256.Sum256([]byte(text))
		set.Tokens = append(set.Tokens, auth.Token{Name: fmt.Sprintf("agent-%d", i), Hash: "sha256:" + hex.EncodeToString(sum[:]), Tenant: "team-a", Roles: []string{"dev"}})
		requests[i] = httptest.NewRequest(http.MethodPost, "/mcp", http.NoBody)
		tokens[i] = []string{text}
	}
	who, err := auth.New(auth.Options{Settings: set})
	if err != nil {
		b.Fatal(err)
	}
	list := make([]access.Rule, n)
	var limits []limit.Settings
	for i := range list {
		list[i] = access.Rule{Role: access.Globs{fmt.Sprintf("role-%d", i)}, Tool: access.Globs{fmt.Sprintf("tool_%d_*", i)}, Action: access.ActionDeny}
		if i < 100 {
			limits = append(limits, limit.Settings{Name: fmt.Sprint("limit ", i), Tool: access.Globs{fmt.Sprintf("tool_%d", i)}, Rate: limit.Rate{Number: 1, Per: time.Hour}})
		}
	}
	list[n-1] = access.Rule{Subject: access.Globs{"agent-*"}, Action: access.ActionAllow}
	rules, err := access.NewRules(list, true)
	if err != nil {
		b.Fatal(err)
	}
	c, err := admission.New(admission.Options{Rules: rules, PerMinute: 1_000_000_000, Limits: limits})
	if err != nil {
		b.Fatal(err)
	}
	target := []access.Target{{Door: access.DoorMCP, Server: "files", Kind: access.KindTool, Name: "read_text_file"}}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		r := requests[i%principals]
		r.Header["X-Secateur-Token"] = tokens[i%principals]
		p, _ := who.Authenticate(r)
		entry, over := c.Enter(b.Context(), p, access.DoorMCP)
		permit, no := c.Ask(b.Context(), p, "tools/call", target...)
		if over != nil || no != nil {
			b.Fatal(over, no)
		}
		permit.Done(1, 1)
		entry.Leave()
		i++
	}
}

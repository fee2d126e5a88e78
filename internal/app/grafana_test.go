package app

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// expressions returns the queries of the dashboard and of the alert rules, by purpose.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	read := func(name string) []byte {
		b, err := os.ReadFile("../../deploy/grafana/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var board struct {
		Panels []struct {
			Title   string `json:"title"`
			Type    string `json:"type"`
			Targets []struct {
				Expr  string `json:"expr"`
				RefID string `json:"refId"`
			} `json:"targets"`
		} `json:"panels"`
		Templating struct {
			List []struct {
				Name  string `json:"name"`
				Query any    `json:"query"`
			} `json:"list"`
		} `json:"templating"`
	}
	if err := json.Unmarshal(read("secateur.json"), &board); err != nil {
		t.Fatal(err)
	}
	for _, p := range board.Panels {
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %q shows nothing", p.Title)
		}
		for _, e := range p.Targets {
			found["panel "+p.Title+" "+e.RefID] = e.Expr
		}
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert       string            `yaml:"alert"`
				Expr        string            `yaml:"expr"`
				Labels      map[string]string `yaml:"labels"`
				Annotations map[string]string `yaml:"annotations"`
			} `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal(read("alerts.yaml"), &rules); err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" {
				t.Errorf("alert %q lacks its name, severity or summary", r.Alert)
			}
			found["alert "+r.Alert] = r.Expr
		}
	}
	if len(found) < 40 {
		t.Fatalf("only %d expressions found", len(found))
	}
	return found
}

var (
	metricInExpr = regexp.MustCompile(`\b(secateur_[a-z_]+)(\{[^}]*\})?`)
	labelInExpr  = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)`)
	grouping     = regexp.MustCompile(`\b(?:by|on) \(([a-z_, ]+)\)`)
)

// The dashboard and the alerts use existing metrics with existing labels.
func TestTheDashboardAndTheAlertsNameRealMetrics(t *testing.T) {
	a, _, _ := busy(t, "x")
	labels := map[string][]string{} // by metric
	for _, m := range registeredMetrics(a.registry) {
		name, in, _ := strings.Cut(m, "{")
		labels[name] = strings.Split(strings.TrimSuffix(in, "}"), ",")
	}
	used := map[string]bool{}
	for what, expr := range expressions(t) {
		if strings.Count(expr, "(") != strings.Count(expr, ")") {
			t.Errorf("%s: brackets do not match: %s", what, expr)
		}
		var has []string // labels of any metric in the expression
		for _, m := range metricInExpr.FindAllStringSubmatch(expr, -1) {
			name := m[1]
			if labels[name] == nil {
				name = strings.TrimSuffix(name, "_bucket")
				has = append(has, "le")
			}
			if labels[name] == nil {
				t.Errorf("%s: there is no metric %s", what, m[1])
				continue
			}
			used[name] = true
			has = append(has, labels[name]...)
			for _, l := range labelInExpr.FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(labels[name], l[1]) {
					t.Errorf("%s: %s has no label %s", what, name, l[1])
				}
			}
		}
		for _, g := range grouping.FindAllStringSubmatch(expr, -1) {
			for l := range strings.SplitSeq(g[1], ",") {
				if !slices.Contains(has, strings.TrimSpace(l)) {
					t.Errorf("%s: nothing in it has the label %s", what, strings.TrimSpace(l))
				}
			}
		}
	}
	for _, m := range contractMetrics {
		name, _, _ := strings.Cut(m, "{")
		switch name {
		case "secateur_cut_chars_total", "secateur_recovered_total", "secateur_recovered_tokens_total", "secateur_reloads_total",
			"secateur_config_last_reload_success_timestamp_seconds": // for a user's own queries
			continue
		}
		if !used[name] {
			t.Errorf("nobody looks at %s", name)
		}
	}
}

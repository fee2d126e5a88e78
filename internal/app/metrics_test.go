package app

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/config"
)

// docs/operations.md lists every metric of the program, with its labels.
func TestEveryMetricIsDocumented(t *testing.T) {
	cfg, problems := config.Default(config.Options{})
	if cfg == nil {
		t.Fatal(problems)
	}
	cfg.Store.URL = "memory:"
	a, err := New(Options{Config: cfg, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	_, err = a.live.Load().routes(&generation{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.closeMCP(t.Context())
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	registered, documented := registeredMetrics(a.registry), documentedMetrics(string(page))
	for _, m := range registered {
		if !slices.Contains(documented, m) {
			t.Errorf("docs/operations.md lacks `%s`", m)
		}
	}
	for _, m := range documented {
		if !slices.Contains(registered, m) {
			t.Errorf("docs/operations.md has `%s`, which is not registered", m)
		}
	}
}

// registeredMetrics returns the program's own metrics as name{label,label}.
func registeredMetrics(reg *prometheus.Registry) []string {
	ch := make(chan *prometheus.Desc)
	go func() {
		reg.Describe(ch)
		close(ch)
	}()
	form := regexp.MustCompile(`fqName: "([^"]*)".*constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}`)
	var found []string
	for d := range ch {
		m := form.FindStringSubmatch(d.String())
		if m == nil || !strings.HasPrefix(m[1], "secateur_") {
			continue
		}
		labels := m[3]
		if name, _, constant := strings.Cut(m[2], "="); constant {
			labels = name
		}
		found = append(found, metricName(m[1], labels))
	}
	return found
}

func documentedMetrics(page string) []string {
	var found []string
	for _, m := range regexp.MustCompile("`(secateur_[a-z_]+)(?:\\{([a-z,]+)\\})?`").FindAllStringSubmatch(page, -1) {
		found = append(found, metricName(m[1], m[2]))
	}
	return found
}

func metricName(name, labels string) string {
	if labels == "" {
		return name
	}
	sorted := strings.Split(labels, ",")
	slices.Sort(sorted)
	return name + "{" + strings.Join(sorted, ",") + "}"
}

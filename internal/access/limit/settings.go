package limit

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"secateur/internal/access"
)

// Settings is one [[limits]] entry. A missing key matches everything.
type Settings struct {
	Name    string       `toml:"name"` // "": limit- and its number
	Tenant  access.Globs `toml:"tenant"`
	Role    access.Globs `toml:"role"`
	Subject access.Globs `toml:"subject"`
	Door    access.Globs `toml:"door"`
	Server  access.Globs `toml:"server"`
	Tool    access.Globs `toml:"tool"`
	Model   access.Globs `toml:"model"`

	// attributes with separate buckets; none: one bucket for all
	By           []string      `toml:"by"`
	Rate         Rate          `toml:"rate"`         // zero: unlimited
	Burst        int           `toml:"burst"`        // burst after a pause; 0: the rate's number
	Concurrent   int           `toml:"concurrent"`   // concurrent calls; 0: unlimited
	Queue        int           `toml:"queue"`        // maximum number of waiting calls
	QueueWait    time.Duration `toml:"queue_wait_s"` // maximum wait in the queue
	TokensPerDay int64         `toml:"tokens_per_day"`
	USDPerDay    float64       `toml:"usd_per_day"`
	Shared       bool          `toml:"shared"`
	WithoutStore float64       `toml:"without_store"`
}

// The values of by.
const (
	ByTenant    = "tenant"
	ByPrincipal = "principal"
	ByServer    = "server"
	ByTool      = "tool"
	ByModel     = "model"
)

var byWords = []string{ByTenant, ByPrincipal, ByServer, ByTool, ByModel}

// defaultQueueWait is the default of QueueWait.
const defaultQueueWait = 10 * time.Second

// Validate reports every mistake.
func (s Settings) Validate() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for i, by := range s.By {
		if !slices.Contains(byWords, by) {
			complain("by[%d]: %q is none of %s", i, by, strings.Join(byWords, ", "))
		}
	}
	if s.Rate == (Rate{}) && s.Concurrent == 0 && s.TokensPerDay == 0 && s.USDPerDay == 0 {
		complain("rate: limits nothing; set rate, concurrent, tokens_per_day or usd_per_day")
	}
	if s.Burst != 0 && s.Rate == (Rate{}) {
		complain("burst: belongs to rate")
	}
	if (s.Queue != 0 || s.QueueWait != 0) && s.Concurrent == 0 {
		complain("queue: belongs to concurrent")
	}
	for key, n := range map[string]float64{
		"burst": float64(s.Burst), "concurrent": float64(s.Concurrent), "queue": float64(s.Queue), "tokens_per_day": float64(s.TokensPerDay),
		"usd_per_day": s.USDPerDay, "without_store": s.WithoutStore,
	} {
		if n < 0 {
			complain("%s: %v is negative", key, n)
		}
	}
	if s.WithoutStore > 1 {
		complain("without_store: more than 1, the whole rate")
	}
	if !s.Shared && s.WithoutStore > 0 {
		complain("without_store: belongs to shared")
	}
	rule := s.rule()
	rule.Action = access.ActionDeny
	errs = append(errs, rule.Validate())
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return errors.Join(errs...)
}

// rule returns the rule that matches the limit's calls.
func (s Settings) rule() access.Rule {
	return access.Rule{
		Tenant: s.Tenant, Role: s.Role, Subject: s.Subject, Door: s.Door, Server: s.Server, Tool: s.Tool, Model: s.Model,
		Action: access.ActionAllow,
	}
}

// SettingsName returns the limit's own name, or limit- and its number from 1.
func SettingsName(s Settings, i int) string {
	if s.Name != "" {
		return s.Name
	}
	return "limit-" + strconv.Itoa(i+1)
}

// Rate is a number of calls per time. The zero value is no limit.
type Rate struct {
	Number int
	Per    time.Duration
}

var units = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}

// UnmarshalText parses text such as "60/m".
func (r *Rate) UnmarshalText(text []byte) error {
	number, unit, ok := strings.Cut(string(text), "/")
	n, err := strconv.Atoi(strings.TrimSpace(number))
	per := units[strings.TrimSpace(unit)]
	if !ok || err != nil || n < 1 || per == 0 || n > int(per) {
		return errors.New(`expected a number of calls per s, m, h or d, such as "60/m"`)
	}
	*r = Rate{n, per}
	return nil
}

// MarshalText returns the form that UnmarshalText parses; empty for the zero value.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

func (r Rate) String() string {
	for unit, per := range units {
		if per == r.Per {
			return strconv.Itoa(r.Number) + "/" + unit
		}
	}
	return ""
}

// IsGeneral reports whether the limit depends only on the caller. It can then be applied before the
// target is known.
func (s Settings) IsGeneral() bool {
	return len(s.Server)+len(s.Tool)+len(s.Model) == 0 && s.TokensPerDay == 0 && s.USDPerDay == 0 &&
		!slices.Contains(s.By, ByServer) && !slices.Contains(s.By, ByTool) && !slices.Contains(s.By, ByModel)
}

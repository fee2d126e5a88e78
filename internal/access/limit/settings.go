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

// Settings are one [[limits]] entry. A key that is left out matches anything.
type Settings struct {
	Name    string       `toml:"name"` // "": limit- and its number
	Tenant  access.Globs `toml:"tenant"`
	Role    access.Globs `toml:"role"`
	Subject access.Globs `toml:"subject"`
	Door    access.Globs `toml:"door"`
	Server  access.Globs `toml:"server"`
	Tool    access.Globs `toml:"tool"`
	Model   access.Globs `toml:"model"`

	By           []string      `toml:"by"`           // what has a bucket of its own; none: one for all
	Rate         Rate          `toml:"rate"`         // zero: any
	Burst        int           `toml:"burst"`        // calls at once after a pause; 0: the rate's number
	Concurrent   int           `toml:"concurrent"`   // at a time; 0: any
	Queue        int           `toml:"queue"`        // how many more wait
	QueueWait    time.Duration `toml:"queue_wait_s"` // for so long at most
	TokensPerDay int64         `toml:"tokens_per_day"`
	USDPerDay    float64       `toml:"usd_per_day"`
	Shared       bool          `toml:"shared"`
	WithoutStore float64       `toml:"without_store"`
}

// The words of by.
const (
	ByTenant    = "tenant"
	ByPrincipal = "principal"
	ByServer    = "server"
	ByTool      = "tool"
	ByModel     = "model"
)

var byWords = []string{ByTenant, ByPrincipal, ByServer, ByTool, ByModel}

// defaultQueueWait is how long a call waits for its turn where the file does not say.
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

// rule is whom and what the limit is about.
func (s Settings) rule() access.Rule {
	return access.Rule{
		Tenant: s.Tenant, Role: s.Role, Subject: s.Subject, Door: s.Door, Server: s.Server, Tool: s.Tool, Model: s.Model,
		Action: access.ActionAllow,
	}
}

// SettingsName is the limit's own name, or limit- and its number from 1.
func SettingsName(s Settings, i int) string {
	if s.Name != "" {
		return s.Name
	}
	return "limit-" + strconv.Itoa(i+1)
}

// Rate is how many calls a time may have. The zero value is no limit.
type Rate struct {
	Number int
	Per    time.Duration
}

var units = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}

// UnmarshalText reads "60/m".
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

// MarshalText is the text that UnmarshalText reads; empty for the zero value.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

func (r Rate) String() string {
	for unit, per := range units {
		if per == r.Per {
			return strconv.Itoa(r.Number) + "/" + unit
		}
	}
	return ""
}

// IsGeneral reports whether the limit is about callers alone, so that it can be asked before it is known what they want.
func (s Settings) IsGeneral() bool {
	return len(s.Server)+len(s.Tool)+len(s.Model) == 0 && s.TokensPerDay == 0 && s.USDPerDay == 0 &&
		!slices.Contains(s.By, ByServer) && !slices.Contains(s.By, ByTool) && !slices.Contains(s.By, ByModel)
}

package limit

import (
	"time"

	"secateur/internal/access"
)

// DaySum is the amount spent on one day against one bucket of a limit.
type DaySum struct {
	Limit   string  `json:"limit"`
	Tenant  string  `json:"tenant,omitempty"`
	Issuer  string  `json:"issuer,omitempty"`
	Subject string  `json:"subject,omitempty"`
	Server  string  `json:"server,omitempty"`
	Tool    string  `json:"tool,omitempty"`
	Model   string  `json:"model,omitempty"`
	Day     int64   `json:"day"` // days since 1970, UTC
	Tokens  int64   `json:"tokens"`
	USD     float64 `json:"usd"`
}

// Budget returns the name of the first limit on the model costs of a caller at a door, or "".
func (l *Limits) Budget(p *access.Principal, door access.Door) string {
	if l == nil {
		return ""
	}
	var room [usualLimits]int
	for _, i := range l.rules.AppendAbout(room[:0], p, door) {
		if lim := l.limits[i]; (lim.TokensPerDay > 0 || lim.USDPerDay > 0) && (len(lim.Tool) == 0 || len(lim.Model) > 0) {
			return lim.Name
		}
	}
	return ""
}

// Days lists today's sums, for a new process or new limits.
func (l *Limits) Days() (list []DaySum) {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	today := dayOf(time.Now())
	for _, lim := range l.limits {
		for k, b := range lim.all {
			if b.day == today && (b.tokens > 0 || b.usd > 0) {
				list = append(list, DaySum{lim.Name, k.tenant, k.issuer, k.subject, k.server, k.tool, k.model, b.day, b.tokens, b.usd})
			}
		}
	}
	return list
}

// Restore adds the sums that Days listed, for limits that still exist.
func (l *Limits) Restore(list []DaySum) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, d := range list {
		if d.Day != dayOf(now) {
			continue
		}
		for _, lim := range l.limits {
			if lim.Name == d.Limit && (lim.TokensPerDay > 0 || lim.USDPerDay > 0) {
				who := access.HolderOf(&access.Principal{Issuer: d.Issuer, Subject: d.Subject, Tenant: d.Tenant})
				lim.bucketOf(who, key{d.Tenant, d.Issuer, d.Subject, d.Server, d.Tool, d.Model}, now).spend(now, d.Tokens, d.USD)
			}
		}
	}
}

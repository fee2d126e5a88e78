package admin

import (
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"

	"secateur/internal/access"
	"secateur/internal/store/history"
)

func (a *API) savingsCSV() Operation {
	return Operation{
		ID: "getSavingsCSV", Method: http.MethodGet, Path: "/savings.csv", Summary: "The savings as a table for a spreadsheet (RFC 4180)", file: "text/csv",
		query: savingsQuery,
		serve: func(w http.ResponseWriter, r *http.Request, _ *access.Principal) error {
			q, err := readSavingsQuery(r)
			if err != nil {
				return err
			}
			found, err := a.opt.Savings(q)
			if err != nil {
				return err
			}
			w.Header().Set("Content-Type", "text/csv; charset=utf-8")
			w.Header().Set("Content-Disposition", `attachment; filename="secateur-savings.csv"`)
			w.Header().Set("Cache-Control", "no-store")
			writeSavings(csv.NewWriter(w), q.By, found)
			return nil
		},
	}
}

// writeSavings writes a row for each key, then the totals. It ignores write errors: the client may
// be gone.
func writeSavings(out *csv.Writer, by history.By, found history.Savings) {
	name := string(by)
	if by == history.ByNothing {
		name = "all"
	}
	_ = out.Write([]string{name, "spent_usd", "passthrough_usd", "saved_usd", "lost_usd", "cut_tokens", "recovered_tokens", "recovery_rate", "cache_hit_rate"})
	row := func(key string, t history.Totals) {
		_ = out.Write([]string{
			plainCell(key), number(t.SpentUSD), number(t.PassthroughUSD), number(t.SavedUSD), number(t.LostUSD),
			strconv.FormatInt(t.CutTokens, 10), strconv.FormatInt(t.RecoveredTokens, 10), number(t.RecoveryRate), number(t.CacheHitRate),
		})
	}
	for _, item := range found.Items {
		row(item.Key, item.Totals)
	}
	row("total", found.Totals)
	out.Flush()
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// plainCell prevents a spreadsheet from reading a name chosen by a server or client as a formula
// (CSV injection).
func plainCell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

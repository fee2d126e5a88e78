package main

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"secateur/internal/admin"
	"secateur/internal/history"
)

func newSavings(w world) *cobra.Command {
	var flags daemonFlags
	var by, since string
	cmd := &cobra.Command{
		Use:   "savings",
		Short: "Show what was spent, saved and lost",
		Long: `savings shows what prompts have cost, what they would have cost untouched, and the difference: what was
saved, and, apart from it, what was lost. Then what was cut, and how much of that had to be
fetched back. It survives restarts; no contents are kept.` + daemonHelp,
		Example: `  secateur savings
  secateur savings --by tool --since 24h
  secateur savings --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := history.ParseBy(by); err != nil {
				return usage("--%w", err)
			}
			if _, err := admin.ParseSince(since); err != nil {
				return usage("--%w", err)
			}
			c, err := w.reach(cmd.Context(), flags)
			if err != nil {
				return err
			}
			query := url.Values{"since": {since}}
			if by != "" {
				query.Set("by", by)
			}
			s, raw, err := get[admin.Savings](cmd.Context(), c, "/savings?"+query.Encode())
			if err != nil {
				return err
			}
			if flags.asJSON {
				_, err = w.out.Write(raw)
				return err
			}
			w.printSavings(s, by, since)
			return nil
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&by, "by", "", "also by `server`, tool, model, feature or day")
	cmd.Flags().StringVar(&since, "since", "7d", "how far `back`: 90m, 24h, 7d")
	return cmd
}

func (w world) printSavings(s admin.Savings, by, since string) {
	fmt.Fprintf(w.out, "saved      %s in %s: prompts cost %s, untouched they would have cost %s\n", money(s.SavedUSD-s.LostUSD), since, money(s.SpentUSD), money(s.PassthroughUSD))
	fmt.Fprintf(w.out, "lost       %s, which is counted above\n", money(s.LostUSD))
	fmt.Fprintf(w.out, "cut        %s\n", plural(int(s.CutTokens), "token"))
	fmt.Fprintf(w.out, "recovered  %s, %s of what was cut\n", plural(int(s.RecoveredTokens), "token"), percent(s.RecoveryRate))
	fmt.Fprintf(w.out, "cache      %s of prompt tokens came from the provider's\n", percent(s.CacheHitRate))
	if by == "" {
		return
	}
	fmt.Fprintln(w.out)
	t := table{
		head:    []string{"BY " + by, "SPENT", "UNTOUCHED", "SAVED", "LOST", "CUT TOKENS", "RECOVERED", "CACHED"},
		numbers: map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true},
	}
	for _, i := range s.Items {
		t.rows = append(t.rows, []string{
			oneLine(i.Key), money(i.SpentUSD), money(i.PassthroughUSD), money(i.SavedUSD), money(i.LostUSD),
			strconv.FormatInt(i.CutTokens, 10), percent(i.RecoveryRate), percent(i.CacheHitRate),
		})
	}
	t.print(w)
}

// money is dollars for a person: cents where there is much of it, more digits where there is little.
func money(usd float64) string {
	sign := ""
	if usd < 0 {
		sign, usd = "-", -usd
	}
	if usd == 0 || usd >= 1 {
		return fmt.Sprintf("%s$%.2f", sign, usd)
	}
	return fmt.Sprintf("%s$%.4f", sign, usd)
}

func percent(part float64) string { return fmt.Sprintf("%.1f%%", 100*part) }

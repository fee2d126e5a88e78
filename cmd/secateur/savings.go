package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"secateur/internal/ops/admin"
	"secateur/internal/store/history"
	"secateur/internal/store/ledger"
)

func newSavings(w world) *cobra.Command {
	var flags daemonFlags
	var by, since, request string
	cmd := &cobra.Command{
		Use:   "savings",
		Short: "Show what was spent, saved and lost",
		Long: `savings shows what prompts have cost, what they would have cost untouched, and the difference: what was
saved, and, apart from it, what was lost. Then what was cut, and how much of that had to be
fetched back. Money is that of conversations that went through the chat door, from the provider's own
usage. What was cut out of results for MCP clients (the features mcp and gateway) is counted in tokens
alone: no account says which model reads them, how often, and at what price. It survives restarts; no
contents are kept. With --explain, the account of the
conversation that a request belongs to.` + daemonHelp,
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
			if request != "" {
				return w.explainRequest(cmd.Context(), c, request, flags.asJSON)
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
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{"server", "tool", "model", "feature", "day", "hour"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().StringVar(&request, "explain", "", "show what the `request` with this id has cost in its conversation, and why; ids are in the header X-Secateur-Request-Id")
	cmd.Flags().StringVar(&since, "since", "7d", "how far `back`: 90m, 24h, 7d")
	return cmd
}

func (w world) printSavings(s admin.Savings, by, since string) {
	fmt.Fprintf(w.out, "saved      %s in %s, estimated: prompts cost %s, untouched they would have cost %s\n", money(s.SavedUSD-s.LostUSD), since, money(s.SpentUSD), money(s.PassthroughUSD))
	if c := s.Counted; c != nil {
		fmt.Fprintf(w.out, "           %s, counted: without cuts %s have %s by the provider's own counter, and %.0f as we told (%+.1f%%)\n",
			money(c.SavedUSD), plural(int(c.Requests), "sampled request"), plural(int(c.CountedTokens), "token"), c.ToldTokens, 100*c.Difference)
	}
	fmt.Fprintf(w.out, "lost       %s, which is counted above\n", money(s.LostUSD))
	fmt.Fprintf(w.out, "cut        %s; those of MCP results have no price, since no account says which model reads them\n", plural(int(s.CutTokens), "token"))
	fmt.Fprintf(w.out, "recovered  %s, %s of what was cut\n", plural(int(s.RecoveredTokens), "token"), percent(share(s.RecoveredTokens, s.CutTokens)))
	fmt.Fprintf(w.out, "cache      %s of prompt tokens came from the provider's\n", percent(s.CacheHitRate))
	w.printHoldout(s.Holdout)
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

// printHoldout compares conversations that were cut with those that passed untouched.
func (w world) printHoldout(h *history.Holdout) {
	if h == nil {
		return
	}
	fmt.Fprintf(w.out, "holdout    a request cost %s in %s with cuts, and %s in %d that passed untouched\n",
		money(h.RequestUSD), plural(h.Conversations, "conversation"), money(h.HeldUSD), h.Held)
	switch s := h.SavedUSD; {
	case !h.Enough:
		fmt.Fprintln(w.out, "           these are too few to say how much is chance")
		return
	case s.Low > 0:
		fmt.Fprintf(w.out, "           so cuts save between %s and %s a day (95%%)\n", money(s.Low), money(s.High))
	case s.High < 0:
		fmt.Fprintf(w.out, "           so cuts cost between %s and %s a day (95%%)\n", money(-s.High), money(-s.Low))
	default:
		fmt.Fprintf(w.out, "           the difference may be chance: between %s lost and %s saved a day (95%%)\n", money(-s.Low), money(s.High))
	}
	fmt.Fprintf(w.out, "           a conversation took %.1f requests with cuts and %.1f without: between %+.1f and %+.1f (95%%)\n",
		h.Requests, h.HeldRequests, h.More.Low, h.More.High)
}

// share returns a part of a whole; 0 of nothing.
func share(part, whole int64) float64 { return float64(part) / float64(max(whole, 1)) }

// explainRequest shows one request in the account of its conversation.
func (w world) explainRequest(ctx context.Context, c *controlClient, id string, asJSON bool) error {
	found, _, err := all[ledger.Conversation](ctx, c, "/conversations?request="+url.QueryEscape(id))
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("no conversation that is remembered has a request %q; the newest 500 are, until the program ends", id)
	}
	a, raw, err := get[ledger.Account](ctx, c, "/conversations/"+url.PathEscape(found[0].ID))
	if err != nil {
		return err
	}
	if asJSON {
		_, err = w.out.Write(raw)
		return err
	}
	fmt.Fprintf(w.out, "conversation %s with %s/%s: cost %s, untouched %s\n\n", a.ID, a.Provider, a.Model, money(a.SpentUSD), money(a.PassthroughUSD))
	t := table{head: []string{"", "REQUEST", "PROMPT", "CACHED", "SPENT", "UNTOUCHED", "WHY"}, numbers: map[int]bool{2: true, 3: true, 4: true, 5: true}}
	for _, r := range a.Requests {
		mark := ""
		if r.RequestID == id {
			mark = ">"
		}
		t.rows = append(t.rows, []string{
			mark, r.RequestID, strconv.FormatInt(r.PromptTokens, 10), strconv.FormatInt(r.CachedTokens, 10), money(r.SpentUSD), money(r.PassthroughUSD), oneLine(r.Why),
		})
	}
	t.print(w)
	return nil
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

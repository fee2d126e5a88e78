package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/replay"
)

func newPrices(w world) *cobra.Command {
	var file, day string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "prices [MODEL…]",
		Short: "Print the built-in price table, or what models cost by the configuration",
		Long: `prices prints the built-in list prices, the first day of each, and the day they were last
compared with the vendors' lists: dollars per million tokens, and how the prompt cache of each works.
A model has the prices of the first row whose name its own name begins with. --at prints the
prices of an earlier day.

With models it prints the prices that 'secateur serve' uses for each: those of the configuration,
else those of the table. Prices age; write yours under [providers.NAME.prices].

Batches and flex processing cost half of these prices, priority and fast processing twice.`,
		RunE: func(_ *cobra.Command, models []string) error {
			if _, err := time.Parse(time.DateOnly, day); err != nil && day != "" {
				return usage("--at: %q is not a day; write it as 2026-09-30", day)
			}
			rows := bill.Table(day)
			if len(models) > 0 {
				cfg, err := w.usable(file, "", usersOwn)
				if err != nil {
					return err
				}
				if rows, err = pricesOf(models, day, configuredPrices(cfg)); err != nil {
					return err
				}
			}
			if asJSON {
				out, err := json.Marshal(struct {
					Dated  string        `json:"dated"`
					Prices []bill.Listed `json:"prices"`
				}{bill.Dated, rows}, jsontext.Multiline(true))
				fmt.Fprintf(w.out, "%s\n", out)
				return err
			}
			return writePrices(w.out, rows)
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().StringVar(&day, "at", "", "print the prices of this `day`, such as 2026-09-30")
	return cmd
}

func pricesOf(models []string, day string, of replay.Prices) ([]bill.Listed, error) {
	rows := make([]bill.Listed, len(models))
	for i, m := range models {
		p, ok := of(m, day)
		if !ok {
			return nil, fmt.Errorf("the price of %q is not known; write its prices into the configuration, under [providers.NAME.prices] or [models.%q.prices]", m, m)
		}
		known, _ := bill.Lookup(m)
		p.Cache = cmp.Or(p.Cache, known.Cache)
		rows[i] = bill.Listed{Models: m, Prices: p}
	}
	return rows, nil
}

// writePrices prints a table.
func writePrices(out io.Writer, rows []bill.Listed) error {
	fmt.Fprintf(out, "Dollars per million tokens, list prices as checked on %s.\n\n", bill.Dated)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "model\tsince\tinput\tcached\twrite\twrite, 1 h\toutput\tcache\tlives\tfrom\tdearer above")
	for _, r := range rows {
		minimum := cmp.Or(r.CacheMinimum, bill.Minimum)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Models, cmp.Or(r.Since, "-"), dollars(&r.Input), dollars(r.CachedInput), dollars(r.CacheWrite),
			dollars(r.CacheWriteHour), dollars(positive(r.Output)), cmp.Or(r.Cache, "-"), life(r.CacheTTL), count(minimum), band(r.Prices))
	}
	return w.Flush()
}

// dollars is a price; "-" where there is none or nobody knows.
func dollars(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'g', 4, 64)
}

func positive(v float64) *float64 {
	if v <= 0 {
		return nil
	}
	return &v
}

func count(tokens float64) string { return strconv.FormatFloat(tokens, 'f', -1, 64) }

func life(seconds float64) string {
	if seconds <= 0 {
		return "-"
	}
	d := time.Duration(seconds) * time.Second
	switch {
	case d%time.Hour == 0:
		return strconv.Itoa(int(d.Hours())) + "h"
	case d%time.Minute == 0:
		return strconv.Itoa(int(d.Minutes())) + "m"
	}
	return d.String()
}

func band(p bill.Prices) string {
	if p.LongAbove <= 0 {
		return "-"
	}
	text := count(p.LongAbove) + " x" + count(p.LongTimes)
	if p.LongOutputTimes != 0 && p.LongOutputTimes != p.LongTimes {
		text += ", output x" + count(p.LongOutputTimes)
	}
	return text
}

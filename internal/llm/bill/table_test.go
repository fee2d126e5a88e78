package bill

import (
	"cmp"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// vendorsPrice is a line of testdata/vendors.tsv; NaN stands for "-".
type vendorsPrice struct {
	model, since                                          string
	input, read, write, hour, output, above, longIn, long float64
}

func vendorsPrices(t *testing.T) (all []vendorsPrice) {
	t.Helper()
	data, err := os.ReadFile("testdata/vendors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), "\t")
		v := vendorsPrice{model: f[0], since: f[1]}
		for i, to := range []*float64{&v.input, &v.read, &v.write, &v.hour, &v.output, &v.above, &v.longIn, &v.long} {
			*to = math.NaN()
			if f[2+i] == "-" {
				continue
			}
			if *to, err = strconv.ParseFloat(f[2+i], 64); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		all = append(all, v)
	}
	return all
}

func TestTableHasTheVendorsPrices(t *testing.T) {
	checked := map[[2]string]bool{}
	for _, v := range vendorsPrices(t) {
		p, ok := LookupAt(v.model, v.since)
		if !ok {
			t.Errorf("%s is not in the table", v.model)
			continue
		}
		same := func(what string, got, want float64) {
			if !math.IsNaN(want) && math.Abs(got-want) > 1e-9 {
				t.Errorf("%s of %s since %s: %v, the vendor says %v", what, v.model, v.since, got, want)
			}
		}
		same("input", p.Input, v.input)
		same("cache read", *p.CachedInput, v.read)
		same("output", p.Output, v.output)
		write := v.write
		if math.IsNaN(write) {
			write = v.input
		}
		same("cache write", *p.CacheWrite, write)
		if !math.IsNaN(v.hour) {
			same("cache write for an hour", *p.CacheWriteHour, v.hour)
		}
		if math.IsNaN(v.above) {
			same("long prompts", p.LongAbove, 0)
		} else {
			same("long prompts", p.LongAbove, v.above)
			same("input of long prompts", p.Input*p.LongTimes, v.longIn)
			same("output of long prompts", p.Output*p.LongOutputTimes, v.long)
		}
		prefix, _ := Family(v.model)
		checked[[2]string{prefix, v.since}] = true
	}
	for _, e := range table {
		if !checked[[2]string{e.prefix, e.since}] {
			t.Errorf("%s since %s is not compared with a vendor's list", e.prefix, e.since)
		}
	}
}

func TestNewerPricesPrecedeOlderOnes(t *testing.T) {
	for i, e := range table {
		if _, err := time.Parse(time.DateOnly, e.since); err != nil {
			t.Error(err)
		}
		if e.output <= 0 {
			t.Errorf("%s has no price of output", e.prefix)
		}
		for _, later := range table[i+1:] {
			if later.prefix == e.prefix && (later.since >= e.since || table[i+1].prefix != e.prefix) {
				t.Errorf("%s since %s does not follow %s directly", e.prefix, later.since, e.since)
			}
		}
	}
}

func TestPricesHoldFromTheirFirstDayOn(t *testing.T) {
	for day, want := range map[string]float64{"2026-07-09": 30, "2026-08-20": 30, "2026-08-21": 20, "2026-11-16": 20, "2026-01-01": 30, "": 20} {
		if p, _ := LookupAt("openai/gpt-5.6-sol", day); p.Output != want {
			t.Errorf("on %s the output costs %v, want %v", cmp.Or(day, "the newest day"), p.Output, want)
		}
		for _, row := range Table(day) {
			if p, _ := LookupAt(row.Models, day); p.Output != row.Output || p.Input != row.Input {
				t.Errorf("%s on %s: the table prints %v, LookupAt %v", row.Models, day, row.Output, p.Output)
			}
		}
	}
}

func TestOutputOfALongPromptIsDearer(t *testing.T) {
	p, _ := Lookup("gpt-6.1-sol")
	for input, want := range map[float64]float64{272_000: 10, 272_001: 15} {
		if got := p.OutputCost(Usage{Input: input, Output: 1}); got != want {
			t.Errorf("a token behind %v costs %v, want %v", input, got, want)
		}
	}
	p.LongOutputTimes = 0
	if got := p.OutputCost(Usage{Input: 300_000, Output: 1}); got != 20 {
		t.Errorf("without a multiple of its own output costs %v, want 20", got)
	}
}

// Every model that a test or a document names has a price of input and output.
func TestNamedModelsHavePrices(t *testing.T) {
	model := regexp.MustCompile(`\b(?:claude-(?:opus|sonnet|haiku|fable|mythos|3)|gpt-[456]|kimi-k|deepseek-(?:v|c|f)|gemini-[23])[a-z0-9.-]*[a-z0-9]`)
	root, names := "../../..", map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "dist"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go") && filepath.Ext(path) != ".md" && filepath.Ext(path) != ".toml":
			return nil
		}
		data, err := os.ReadFile(path)
		for _, name := range model.FindAllString(string(data), -1) {
			names[name] = path
		}
		return err
	})
	if err != nil || len(names) < 20 {
		t.Fatalf("%d models found: %v", len(names), err)
	}
	for name, path := range names {
		if p, ok := Lookup(name); !ok || p.Input <= 0 || p.Output <= 0 {
			t.Errorf("%s names %s, whose prices are not known: %v in, %v out", path, name, p.Input, p.Output)
		}
	}
}

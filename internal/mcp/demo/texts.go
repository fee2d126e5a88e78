package demo

import (
	"fmt"
	"strings"
)

// dice is a small pseudo-random generator with the same sequence in every run.
type dice uint32

func (d *dice) roll(sides int) int {
	*d = *d*1664525 + 1013904223
	return int(*d>>8) % sides
}

func (d *dice) pick(words []string) string { return words[d.roll(len(words))] }

var (
	modules = []string{"ledger", "catalog", "pricing", "shipping", "invoices", "search", "accounts", "sessions", "reports", "webhooks"}
	verbs   = []string{"load", "merge", "index", "validate", "export", "archive", "refresh", "split", "rank", "notify"}
	nouns   = []string{"order", "customer", "refund", "parcel", "coupon", "payment", "session", "supplier", "receipt", "address"}
)

// Log returns the answer of the tool read_log: a continuous-integration log of about 2 500 lines
// with one failing test.
func Log() string {
	const lines, failure = 2500, 1634
	var b strings.Builder
	d := dice(7)
	for i := 1; i <= lines; i++ {
		at := fmt.Sprintf("2026-03-14T09:%02d:%02d.%03dZ", i/60%60, i%60, d.roll(1000))
		module, verb, noun := d.pick(modules), d.pick(verbs), d.pick(nouns)
		switch {
		case i == failure:
			fmt.Fprintf(&b, "%s ERROR --- FAIL: TestApplyDiscount/stacked_coupons (0.03s)\n", at)
			fmt.Fprintf(&b, "%s ERROR     discount_test.go:118: ApplyDiscount(100.00, [10%% 20%%]) = 70.00, want 72.00\n", at)
			fmt.Fprintf(&b, "%s ERROR     coupons must be applied one after the other, not added up\n", at)
		case i%97 == 0:
			fmt.Fprintf(&b, "%s WARN  %s: cache for %s is cold, reading from disk\n", at, module, noun)
		case i%3 == 0:
			fmt.Fprintf(&b, "%s INFO  compiling shop/%s/%s_%s.go (%d ms)\n", at, module, verb, noun, 5+d.roll(90))
		case i%3 == 1:
			fmt.Fprintf(&b, "%s DEBUG %s: %s %s %06d ok\n", at, module, verb, noun, d.roll(1_000_000))
		default:
			fmt.Fprintf(&b, "%s INFO  --- PASS: Test%s%s (0.%02ds)\n", at, title(verb), title(noun), d.roll(60))
		}
	}
	fmt.Fprintf(&b, "2026-03-14T09:59:59.000Z ERROR build failed: 1 of %d tests did not pass\n", lines/3)
	return b.String()
}

// sourceFile returns a Go file of about 1 400 lines. It contains the function behind the failure in
// the build log.
func sourceFile() string {
	var b strings.Builder
	b.WriteString("// Package shop keeps orders, prices and parcels.\npackage shop\n\nimport (\n\t\"errors\"\n\t\"fmt\"\n\t\"time\"\n)\n")
	d := dice(11)
	for i, module := range modules {
		for j, verb := range verbs {
			noun := nouns[(i+j)%len(nouns)]
			fmt.Fprintf(&b, "\n// %s%s%s takes a %s through the %s.\n", title(verb), title(noun), title(module), noun, module)
			fmt.Fprintf(&b, "func %s%s%s(id int, at time.Time) (*%s, error) {\n", title(verb), title(noun), title(module), title(noun))
			fmt.Fprintf(&b, "\tif id < %d {\n\t\treturn nil, errors.New(\"%s: id out of range\")\n\t}\n", d.roll(100), module)
			fmt.Fprintf(&b, "\tfound, err := store.%s(id, at.Add(-%d*time.Hour))\n", title(noun), 1+d.roll(72))
			fmt.Fprintf(&b, "\tif err != nil {\n\t\treturn nil, fmt.Errorf(\"%s %s %%d: %%w\", id, err)\n\t}\n", verb, noun)
			fmt.Fprintf(&b, "\tfound.Touched = at\n\treturn found, nil\n}\n")
			if module == "pricing" && verb == "validate" {
				b.WriteString(discount)
			}
		}
	}
	return b.String()
}

const discount = `
// ApplyDiscount takes coupons off a price, one after the other.
func ApplyDiscount(price float64, coupons []Coupon) float64 {
	total := 0.0
	for _, c := range coupons {
		total += c.Percent // adds the percentages up
	}
	return price * (1 - total/100)
}
`

// stockList returns a JSON document of about 900 articles, each with a description.
func stockList() string {
	var b strings.Builder
	d := dice(23)
	b.WriteString(`{"generated":"2026-03-14T09:00:00Z","articles":[`)
	for i := range 900 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"sku":"SKU-%05d","name":"%s %s","stock":%d,"price":%d.%02d,"description":"A %s for every %s, kept in %s."}`,
			10000+i, d.pick(verbs), d.pick(nouns), d.roll(500), 1+d.roll(200), d.roll(100), d.pick(nouns), d.pick(nouns), d.pick(modules))
	}
	b.WriteString(`]}`)
	return b.String()
}

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// Text is one of the large texts, and a question to ask about it.
type Text struct {
	Name, Title, Goal string
	Text              string
}

// Texts returns the answers of the tools.
func Texts() []Text {
	return []Text{
		{"read_log", "A build log in which one test fails", "why does the build fail", Log()},
		{"read_source", "A Go source file with the fault behind that failure", "how are coupons applied to a price", sourceFile()},
		{"read_json", "A stock list as one JSON text", "which articles have the name validate payment", stockList()},
	}
}

package prune

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const anID = "prn_R5JT960T52MN9N4FMKV3BW2QZ4"

func idMarker(b Block) string { return Marker(CostlyID, b) }

// Markers with other ids have no more tokens than those used for decisions.
func TestNoIDCostsMore(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		id := []byte("prn_00000000000000000000000000")
		for i := range id[4:] {
			id[4+i] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[random.IntN(32)]
		}
		b := Block{Start: 17, End: 40, Reason: shortReason}
		for _, source := range []Source{Code, Docs, Logs} {
			if most, n := source.Tokens(Marker(CostlyID, b)), source.Tokens(Marker(string(id), b)); n > most {
				t.Errorf("%s: %d tokens with %s, %d with the one that is to cost most", source, n, id, most)
			}
		}
	}
}

// For any text and request, no marker has more tokens than the text it replaces. The output never
// has more tokens than the input.
func TestMarkersNeverCostMoreThanTheySave(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		req := anyRequest().Draw(rt, "request")
		req.Marker, req.Fill = idMarker, rapid.Bool().Draw(rt, "fill")
		checkMarkers(rt, req, Plan(req))
	})
}

func checkMarkers(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, req Request, res Result,
) {
	t.Helper()
	checkPlan(t, req, res)
	lines := IndexLines(req.Text)
	for _, b := range res.Blocks {
		body, marker := req.Source.Tokens(lines.Range(b.Start, b.End)), req.Source.Tokens(Marker(anID, b)+"\n")
		if marker >= body {
			t.Fatalf("lines %d-%d have %d tokens, their marker %d", b.Start, b.End, body, marker)
		}
	}
	out, _ := Render(req.Text, res, anID, false, true)
	if before, after := req.Source.Tokens(req.Text), req.Source.Tokens(out); after > before {
		t.Fatalf("%d tokens became %d", before, after)
	}
	if len(out) > len(req.Text) && len(res.Blocks) > 0 {
		t.Fatalf("%d bytes became %d", len(req.Text), len(out))
	}
}

// In a text of many short values, like JSON, scattered cuts would each be smaller than their
// markers.
func TestManyShortLinesAreCutInRuns(t *testing.T) {
	var b strings.Builder
	b.WriteString("{\n")
	for i := range 800 {
		fmt.Fprintf(&b, "  \"key_%d\": {\n    \"resolved\": \"1.%d.0\",\n    \"dev\": true\n  },\n", i, i%7)
	}
	b.WriteString("}\n")
	text := b.String()
	for _, source := range []Source{Code, Docs, Logs} {
		for _, ratio := range []float64{.3, .5, .7, .9} {
			req := Request{Text: text, Goal: "why is key_417 resolved to 1.4", Source: source, MaxPruneRatio: ratio, Structure: Enclosing, Marker: idMarker}
			res := Plan(req)
			checkMarkers(t, req, res)
			if share := float64(res.Pruned()) / float64(res.Lines); share < ratio/2 {
				t.Errorf("%v at %v: only %.2f cut, in %d blocks", source, ratio, share, len(res.Blocks))
			}
			if !keepsLine(t, text, res, "key_417") {
				t.Errorf("%v at %v: the line asked for is cut", source, ratio)
			}
		}
	}
}

func TestTheRatioIsACeiling(t *testing.T) {
	all := strings.Repeat("the connection pool keeps a timeout for every host it knows of\n\nsome timeout of another connection\n", 50)
	if res := Plan(Request{Text: all, Goal: "connection timeout", Source: Docs, MaxPruneRatio: .8, Structure: Enclosing}); res.Pruned() > res.Lines/2 {
		t.Errorf("%d of %d lines cut, of which all but the blank ones match", res.Pruned(), res.Lines)
	}
	var b strings.Builder
	for i := range 200 {
		if i%5 == 0 {
			fmt.Fprintf(&b, "request %d: connection timeout\n", i)
		} else {
			fmt.Fprintf(&b, "request %d: served in some milliseconds\n", i)
		}
	}
	for _, ratio := range []float64{.75, .9, .95, 1} {
		req := Request{Text: b.String(), Goal: "connection timeout", Source: Logs, MaxPruneRatio: ratio, Structure: Enclosing}
		res := Plan(req)
		k := kept(res)
		for i := 0; i < 200; i += 5 {
			if !k[i+1] {
				t.Fatalf("ratio %v: line %d matches and is cut", ratio, i+1)
			}
		}
		if ratio < 1 && res.Pruned() < 100 {
			t.Errorf("ratio %v: %d of 200 cut, of which 160 do not match", ratio, res.Pruned())
		}
		req.Fill = true
		if res := Plan(req); ratio == .95 && res.Kept > 40 {
			t.Errorf("%d lines kept where the size is the point", res.Kept)
		}
	}
}

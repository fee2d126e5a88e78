package chat

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/bpe"
)

// New text, and the part removed from it, is measured with a byte pair encoding once the provider
// has counted it.
func TestPairsOfWhatIsNew(t *testing.T) {
	long, left := bigFile(400), "def function_7(argument):\n⟦PRUNÉ: prune_id=prn_A lignes 2-1200⟧\n"
	before := []string{"u:read it", "a:1", "t:1=" + bigFile(300)}
	words := slices.Concat(before, []string{"a:2,3", "t:2=" + long, "t:3=" + strings.Repeat("zqxj kvwf\n", 40)})
	first := reading(t, talk(before...))
	usage := bill.Usage{Input: 4000, Told: true}
	_, p := decideWith(t, talk(before...), Default(), nil, claude, nil)
	r := p.Record(&usage)
	usage.Input = 4600
	_, p = decideWith(t, talk(words...), Default(), &r, claude, map[int]string{4: left})
	if len(p.Cuts) != 1 || p.Cuts[0].Kind != Pruned {
		t.Fatalf("cuts: %+v", p.Cuts)
	}
	req := p.goes()
	for i := range first.Messages {
		if pairs := p.piece(&req, i).Size.Pairs; pairs != 0 {
			t.Errorf("message %d, which was counted before, has %v pairs", i, pairs)
		}
	}
	same := func(what string, size bill.Size, beside float64, want int) {
		t.Helper()
		if got := size.Tokens + size.Pairs - beside; math.Abs(got-float64(want)) > 0.5 {
			t.Errorf("%s: %v tokens, want %d", what, got, want)
		}
	}
	same("pruned", p.piece(&req, 4).Size, overhead, bpe.Count(left))
	same("taken out", p.piece(&req, 4).Removed, 0, bpe.Count(long)-bpe.Count(left))
	rest := p.c.Messages[5].size
	rest.add(p.c.sizes.of[5])
	if got := p.piece(&req, 5).Size.Pairs; got <= 0.3*float64(rest.tokens) {
		t.Errorf("words that no vocabulary has are %v tokens more than the %v we estimate", got, rest.tokens)
	}
	r = p.Record(&usage)
	same("written down as taken out", r.Cuts[0].Removed, 0, bpe.Count(long)-bpe.Count(left))
	r.Cuts[0].Removed.Pairs = 0 // as if an older program had written it
	usage.Input = 4700
	_, p = decideWith(t, talk(slices.Concat(words, []string{"a:", "u:go on"})...), Default(), &r, claude, map[int]string{4: left})
	req = p.goes()
	if piece := p.piece(&req, 4); piece.Was != piece.Removed {
		t.Errorf("what stays cut was %+v and is %+v", piece.Was, piece.Removed)
	}
	r = p.Record(&usage)
	same("written down again", r.Cuts[0].Removed, 0, bpe.Count(long)-bpe.Count(left))
}

// A long conversation that was never seen is not counted.
func TestPairsOfALongConversationAreLeft(t *testing.T) {
	words := []string{"u:read it"}
	for i := range 12 {
		words = append(words, fmt.Sprintf("a:%d", i), fmt.Sprintf("t:%d=%s", i, bigFile(300)))
	}
	sliding := Default()
	sliding.Strategy, sliding.WindowTurns = Sliding, 2
	for _, s := range []Settings{Default(), sliding} {
		_, p := decideWith(t, talk(words...), s, nil, claude, nil)
		if isSliding := s.Strategy == Sliding; isSliding != (p.Masked() > 5) {
			t.Fatalf("%v: %d are masked", s.Strategy, p.Masked())
		}
		req := p.goes()
		for i := range p.c.Messages {
			if piece := p.piece(&req, i); piece.Size.Pairs != 0 || piece.Removed.Pairs != 0 {
				t.Fatalf("message %d of %d bytes in all has %v pairs, and %v were taken out", i, len(p.c.Body), piece.Size.Pairs, piece.Removed.Pairs)
			}
		}
	}
}

// A pruned result that is masked now also loses the rest of it.
func TestPairsOfWhatIsMaskedAfterAll(t *testing.T) {
	long, left := bigFile(400), "def function_7(argument):\n⟦PRUNÉ: prune_id=prn_A lignes 2-1200⟧\n"
	words := []string{"u:read it", "a:1", "t:1=" + long, "a:2", "t:2=" + long, "a:3", "t:3=short"}
	sliding := Default()
	sliding.Strategy, sliding.WindowTurns = Sliding, 1
	r := Record{Messages: 3, Cached: 3, Cuts: []Sent{{Message: 2, Kind: Pruned, ID: "prn_A", Removed: bill.Size{Tokens: 5000, Pairs: -100}}}}
	_, p := decideWith(t, talk(words...), sliding, &r, claude, map[int]string{2: left})
	if p.Masked() != 2 {
		t.Fatalf("%d are masked", p.Masked())
	}
	req := p.goes()
	for _, i := range []int{2, 4} {
		if got, want := p.piece(&req, i).Removed.Pairs, pairsOf(long); got != want {
			t.Errorf("message %d: %v, want %v", i, got, want)
		}
	}
}

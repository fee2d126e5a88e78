package bpe_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dlclark/regexp2/v2"
	"github.com/tiktoken-go/tokenizer/codec"

	"secateur/internal/llm/bpe"
)

// o200k is the reference encoding: its expression, interpreted, and its vocabulary, merged pair by
// pair. The library's own count is not used because its generated matcher has two bugs. It ends
// \s*[\r\n]+ after the first line ends instead of the last, and it skips U+007F.
var o200k = sync.OnceValue(func() *reference {
	library := codec.NewO200kBase()
	// The brackets avoid the generated matcher.
	r := &reference{ranks: map[string]int{}, split: regexp2.MustCompile("(?:"+expression+")", regexp2.None)}
	for {
		token, err := library.Decode([]uint{uint(len(r.ranks))})
		if err != nil {
			return r
		}
		r.ranks[token] = len(r.ranks)
	}
})

const expression = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
	`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`

type reference struct {
	ranks map[string]int
	split *regexp2.Regexp
}

func want(tb testing.TB, text string) int {
	tb.Helper()
	r, count := o200k(), 0
	piece, err := r.split.FindStringMatch(text)
	for ; piece != nil && err == nil; piece, err = r.split.FindNextMatch(piece) {
		count += r.tokens(piece.String())
	}
	if err != nil {
		tb.Fatal(err)
	}
	return count
}

func (r *reference) tokens(piece string) int {
	if _, ok := r.ranks[piece]; ok {
		return 1
	}
	var parts []string
	for i := range len(piece) {
		parts = append(parts, piece[i:i+1])
	}
	for {
		lowest, at := len(r.ranks), -1
		for i := range len(parts) - 1 {
			if rank, ok := r.ranks[parts[i]+parts[i+1]]; ok && rank < lowest {
				lowest, at = rank, i
			}
		}
		if at < 0 {
			return len(parts)
		}
		parts[at] += parts[at+1]
		parts = slices.Delete(parts, at+1, at+2)
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		name, text string
		count      int
	}{
		{"nothing", "", 0},
		{"a letter", "a", 1},
		{"a word and the space before it", "hello world", 2},
		{"prose", "The server keeps every original until its time to live has passed.", 13},
		{"a contraction", "they're WE'LL I'd it's 'tis", 9},
		{"a long s is an s", "it'ſ", 3},
		{"digits by three", "1234567", 3},
		{"camel case", "parseHTTPRequestURLs", 3},
		{"a capital before small letters without case", "AªBc", 3},
		{"a mark before capitals", "\u0301ABC", 2},
		{"the last space goes with the word", "a     b", 3},
		{"tabs", "\t\t\tif x {\n\t\t\t\treturn\n\t\t\t}\n", 10},
		{"signs take the ends of lines", "x := []int{}\n\n\n// a", 7},
		{"spaces before the end of a line", "a  \n  \n  b", 4},
		{"delete", "a\x7fb \x7f c", 6},
		{"chinese", "服务器会保存每一份原文直到其有效期结束", 13},
		{"emoji", "👩‍👩‍👧‍👦 🇫🇷", 15},
		{"special tokens are text", "<|endoftext|>", 7},
		{"a marker", "⟦PRUNÉ: prune_id=prn_Y2QM2R6DCDZB4Z3Y15NR25NZKW lignes 20-40⟧", 39},
		{"no UTF-8", "a\xff\xfe b\xe2\x82", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, want := bpe.Count(c.text), want(t, c.text); got != c.count || got != want {
				t.Errorf("Count(%q) = %d, want %d, the reference has %d", c.text, got, c.count, want)
			}
		})
	}
}

// texts returns files of this repository by name.
func texts(tb testing.TB, most int, patterns ...string) map[string]string {
	tb.Helper()
	found, total := map[string]string{}, 0
	err := filepath.WalkDir(filepath.Join("..", "..", ".."), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "node_modules" || d.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		for _, p := range patterns {
			if ok, _ := filepath.Match(p, d.Name()); ok && total < most {
				data, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				found[name] = string(data)
				total += len(data)
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	if total == 0 {
		tb.Fatalf("no files like %q", patterns)
	}
	return found
}

func TestCountAgreesOnFiles(t *testing.T) {
	const most = 96 << 10 // bytes of each kind; the reference is slow under the race detector
	for _, pattern := range []string{"*.go", "*.md", "*.txtar", "*.json", "*.ts*", "*.y*ml"} {
		for name, text := range texts(t, most, pattern) {
			if got, want := bpe.Count(text), want(t, text); got != want {
				t.Errorf("Count of %s = %d, want %d", name, got, want)
			}
		}
	}
}

// alphabet has the strings that the splitting rules distinguish, and near misses.
var alphabet = []string{
	"a", "b", "s", "t", "e", "ll", "re", "A", "B", "S", "E", "ñ", "É", "ß", "ſ", "ǅ", "ʰ", "ª", "中", "の", "한", "א", "\u0301", "\u20e3", "д", "Д", "𝐀", "𝒶",
	"'", "'s", "'LL", "’", "0", "7", "Ⅷ", "²", "٣", "𝟘", " ", " ", "  ", "\t", "\n", "\r\n", "\v", "\u0085", "\u00a0", "\u2003", "\u2028", "\u3000", "\u200b",
	"/", "//", "_", "-", "=", "(", ")", "{\n", "\x00", "\x7f", "⟦", "⟧", "…", "👍", "🏽", "\ufe0f", "\xff", "\xe2\x82", "\xc3", "\ufffd", "<|endoftext|>",
}

func TestCountAgreesOnOddTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 8_000 {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			b.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		if got, want := bpe.Count(b.String()), want(t, b.String()); got != want {
			t.Fatalf("Count(%q) = %d, want %d", b.String(), got, want)
		}
	}
}

func TestCountAgreesOnLongPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, letters := range []string{"a", "ab", "acgt", " ", "=-", "⟦", "一二三四", "aA", "etaoinshrdlu"} {
		runes := []rune(letters)
		for _, n := range []int{31, 32, 33, 64, 127, 128, 129, 500, 1000} {
			piece := make([]rune, n)
			for i := range piece {
				piece[i] = runes[random.IntN(len(runes))]
			}
			if got, want := bpe.Count(string(piece)), want(t, string(piece)); got != want {
				t.Errorf("Count of %d of %q = %d, want %d", n, letters, got, want)
			}
		}
	}
}

// Even texts made to be slow are counted within a test's time, with a plausible result.
func TestCountOfHostileTexts(t *testing.T) {
	for _, c := range []struct {
		unit  string
		size  int
		bytes int // of one token, at most
	}{
		{"a", 1 << 18, 8},
		{" ", 1 << 18, 128},
		{"⟦", 1 << 18, 3},
		{"aA", 1 << 18, 4},
		{"\n", 1 << 15, 32},
		{"\n ", 1 << 15, 128},
		{"A\u0301", 1 << 15, 8},
		{"'", 1 << 15, 64},
		{"\xff", 1 << 15, 8},
		{"\u00a0", 1 << 15, 64},
		{"中", 1 << 15, 9},
	} {
		got := bpe.Count(strings.Repeat(c.unit, c.size/len(c.unit)))
		if got < c.size/c.bytes/2 || got > 3*c.size {
			t.Errorf("Count of %d bytes of %q = %d", c.size, c.unit, got)
		}
	}
}

func TestCountAllocatesNothing(t *testing.T) {
	text := strings.Repeat("func (l Lines) Range(start, end int) string {\n\treturn \"⟦été 12345⟧\"\n}\n", 20) + strings.Repeat("acgtta", 100)
	if n := testing.AllocsPerRun(100, func() { bpe.Count(text) }); n != 0 {
		t.Errorf("Count allocates %v times", n)
	}
}

func FuzzCount(f *testing.F) {
	f.Add("The server keeps every original.\n\n  \n\tif x != nil {\n")
	f.Add("⟦PRUNÉ: prune_id=prn_Y2QM2R6DCDZB4Z3Y15NR25NZKW lignes 20-40⟧")
	f.Add(strings.Join(alphabet, ""))
	f.Add(strings.Repeat("acgtta", 100))
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4<<10/3 { // an invalid byte becomes three bytes
			return // a piece may be longer than the limit for one merge
		}
		if got, want := bpe.Count(text), want(t, text); got != want {
			t.Errorf("Count(%q) = %d, want %d", text, got, want)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	join := func(patterns ...string) string {
		var all strings.Builder
		for _, text := range texts(b, 1<<20, patterns...) {
			all.WriteString(text)
		}
		return all.String()
	}
	for _, c := range []struct{ name, text string }{
		{"code", join("*.go")},
		{"prose", join("*.md")},
		{"logs", logs()},
		{"chinese", strings.Repeat("服务器会保存每一份原文直到其有效期结束，客户端可以请求任意行范围。\n", 5000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				bpe.Count(c.text)
			}
		})
	}
}

func logs() string {
	random := rand.New(rand.NewPCG(5, 6))
	levels := []string{"INFO", "DEBUG", "WARN", "ERROR"}
	var b strings.Builder
	for b.Len() < 1<<20 {
		b.WriteString("2026-02-01T10:14:12.")
		for range 3 {
			b.WriteByte(byte('0' + random.IntN(10)))
		}
		b.WriteString("Z " + levels[random.IntN(len(levels))] + " worker-3 [http.server] request id=")
		for range 16 {
			b.WriteByte("0123456789abcdef"[random.IntN(16)])
		}
		b.WriteString(" fetched segment of archive /var/lib/app/data in 118 ms status=200\n")
	}
	return b.String()
}

package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/maphash"
	"io"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
	"secateur/internal/llm/proxy"
	"secateur/internal/store/originals"
	"secateur/internal/store/records"
	"secateur/test/provider"
)

// world is a provider, the program in front of it, and a clock.
type world struct {
	t     *testing.T
	ruler *provider.Ruler
	now   time.Time
	dir   string // of the program's records
	kept  proxy.Records
	proxy *proxy.Proxy
	opt   proxy.Options
	told  *listener
	sent  provider.Bill // of all requests to the program
	owed  float64       // cost of reading cut results again

	branches int
	// For each branch: the sent form of each message, by lane and beginning.
	forms  map[string]map[string]string
	worst  float64     // highest ratio ever
	off    float64     // largest error of a reported ratio
	within float64     // allowed error
	most   int         // remaining number of requests
	ranges *coverage   // of the reported ranges; nil: not counted
	header http.Header // of the last response
}

func newWorld(t *testing.T, terms provider.Terms, change func(*proxy.Options)) *world {
	t.Helper()
	w := &world{t: t, now: time.Unix(1_800_000_000, 0), forms: map[string]map[string]string{}, within: 0.02, told: &listener{}}
	w.ruler = &provider.Ruler{Terms: terms, Now: func() time.Time { return w.now }}
	w.dir = t.TempDir()
	w.kept = openRecords(t, w.dir)
	read, write := terms.Read, terms.Write
	masking, pruning := chat.Default(), chat.DefaultPruning()
	pruning.Enabled = true
	w.opt = proxy.Options{
		Providers: map[string]proxy.Provider{"p": {
			BaseURL: "http://provider.invalid/v1",
			Prices:  &bill.Prices{Input: 1, CachedInput: &read, CacheWrite: &write, CacheTTL: terms.Life.Seconds()},
		}},
		Masking: masking, Pruning: pruning, Originals: &originals.Memory{}, OriginalsTTL: 24 * time.Hour, Records: w.kept,
		MaxBodyBytes: 64 << 20, Now: func() time.Time { return w.now }, Log: slog.New(w.told),
		Transport: w.ruler, Observer: w.told,
	}
	if change != nil {
		change(&w.opt)
	}
	w.restart()
	return w
}

func openRecords(t *testing.T, dir string) *records.File {
	t.Helper()
	f, err := records.OpenFile(records.FileOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// restart restarts the program with its records.
func (w *world) restart() {
	w.t.Helper()
	var err error
	if w.proxy, err = proxy.New(w.opt); err != nil {
		w.t.Fatal(err)
	}
}

// mortal is a store whose process may have died: its later writes are lost.
type mortal struct {
	*records.File

	dead bool
}

func (m *mortal) Put(ctx context.Context, key string, value []byte) error {
	if m.dead {
		return nil
	}
	return m.File.Put(ctx, key, value)
}

func (m *mortal) PutNew(ctx context.Context, key string, value []byte) (bool, error) {
	if m.dead {
		return true, nil
	}
	return m.File.PutNew(ctx, key, value)
}

func (m *mortal) Keep(ctx context.Context, key string, value []byte) error {
	if m.dead {
		return nil
	}
	return m.File.Keep(ctx, key, value)
}

// kill ends the program while the provider answers a request, and starts another with its records.
func (w *world) kill(k *talk) {
	w.t.Helper()
	m := &mortal{File: openRecords(w.t, w.dir)}
	w.opt.Records = m
	w.restart()
	w.ruler.Fail = func(*http.Request) int { m.dead = true; return 0 }
	w.now = w.now.Add(7 * time.Second)
	w.postOnly(k)
	w.checkForms(k)
	w.ruler.Fail = nil
	w.opt.Records = openRecords(w.t, w.dir)
	w.restart()
}

// talk is a client's conversation.
type talk struct {
	writer

	name     string
	tree     string
	before   provider.Bill // cost of the trunk it branched off from
	model    string
	tools    string
	messages []string
	calls    int
}

func newTalk(name string, seed uint64) *talk {
	k := &talk{writer: writer{rand.New(rand.NewPCG(seed, 7))}, name: name, tree: name, model: "m"}
	k.tools = `[{"type":"function","function":{"name":"read","description":` + quote(k.prose(2000)) + `}}]`
	k.messages = []string{`{"role":"system","content":` + quote(k.prose(3000)) + `}`, `{"role":"user","content":` + quote(k.prose(400)) + `}`}
	return k
}

func quote(s string) string { b, _ := json.Marshal(s); return string(b) }

// fork continues from here in another branch of the same conversation.
func (w *world) fork(k *talk) *talk {
	f := *k
	w.branches++
	f.name = fmt.Sprintf("%s/%d", k.tree, w.branches)
	f.before, w.forms[f.name] = w.path(k), maps.Clone(w.forms[k.name])
	f.messages = append([]string(nil), k.messages...)
	f.writer = writer{rand.New(rand.NewPCG(k.Uint64(), 9))}
	return &f
}

// path returns the cost of a branch, including its trunk.
func (w *world) path(k *talk) provider.Bill {
	b := w.ruler.Bill(k.name)
	return provider.Bill{Paid: k.before.Paid + b.Paid, Through: k.before.Through + b.Through}
}

// whole returns the cost of all branches of a conversation.
func (w *world) whole(k *talk) (sum provider.Bill) {
	for name, b := range w.ruler.Bills() {
		if name == k.tree || strings.HasPrefix(name, k.tree+"/") {
			sum.Paid += b.Paid
			sum.Through += b.Through
		}
	}
	return sum
}

// anew makes a conversation that the program can only recognize by its beginning.
func (w *world) anew(k *talk, begun provider.Bill) {
	w.branches++
	k.tree = fmt.Sprintf("%s+%d", k.tree, w.branches)
	k.name, k.before = k.tree, begun
}

func (k *talk) body() []byte {
	return []byte(`{"model":"` + k.model + `","tools":` + k.tools + `,"messages":[` + strings.Join(k.messages, ",") + `],"stream":` + strconv.FormatBool(k.streams()) + `,"temperature":0.0}`)
}

// streams reports whether the answer is streamed.
func (k *talk) streams() bool { return k.calls%2 == 1 }

// call makes the assistant call tools with these results.
func (k *talk) call(results ...string) {
	var calls, answers []string
	for _, r := range results {
		k.calls++
		id := fmt.Sprintf("call_%d_%x", k.calls, k.Uint32())
		calls = append(calls, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"read","arguments":%s}}`, id, quote(`{"path":"`+k.name+"/"+k.word()+`.py"}`)))
		answers = append(answers, fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%s}`, id, quote(r)))
	}
	k.messages = append(k.messages, `{"role":"assistant","content":`+quote(k.prose(150))+`,"tool_calls":[`+strings.Join(calls, ",")+`]}`)
	k.messages = append(k.messages, answers...)
}

// write makes the assistant write a file of some characters.
func (k *talk) write(chars int) {
	k.calls++
	id := fmt.Sprintf("call_%d_%x", k.calls, k.Uint32())
	call := fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"write","arguments":%s}}`, id, quote(`{"path":"`+k.word()+`.py","content":`+quote(k.result(chars))+`}`))
	k.messages = append(k.messages, `{"role":"assistant","content":`+quote(k.prose(150))+`,"tool_calls":[`+call+`]}`, fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":"written"}`, id))
}

func (k *talk) turn() { k.call(k.result(k.size())) }

func (k *talk) say(chars int) {
	k.messages = append(k.messages, `{"role":"assistant","content":`+quote(k.prose(300))+`}`, `{"role":"user","content":`+quote(k.prose(chars))+`}`)
}

// send sends the conversation and checks every guarantee at this moment.
func (w *world) send(k *talk) {
	w.t.Helper()
	if w.most--; w.most < 0 {
		panic(enough{})
	}
	w.now = w.now.Add(7 * time.Second)
	told, ok := w.postOnly(k)
	w.checkForms(k)
	if !ok {
		return
	}
	truth := w.path(k).Ratio()
	w.worst = max(w.worst, truth, w.whole(k).Ratio())
	if limit := 1 + w.opt.Masking.MaxLoss + 1e-9; max(truth, w.whole(k).Ratio()) > limit {
		w.t.Errorf("%s at message %d: the true ratio is %.4f, of all branches %.4f", k.name, len(k.messages), truth, w.whole(k).Ratio())
	}
	w.checkTold(k, told)
	if w.ranges != nil {
		b := w.path(k)
		b.Through -= w.owed
		w.ranges.check(w.header, b.Ratio())
	}
}

// postOnly bills and sends the conversation without any checks.
func (w *world) postOnly(k *talk) (told float64, ok bool) {
	w.t.Helper()
	body, before := k.body(), w.ruler.Bill(k.name)
	w.ruler.Through(k.name, body)
	told, ok = w.post(k, body)
	after := w.ruler.Bill(k.name)
	w.sent.Paid += after.Paid - before.Paid
	w.sent.Through += after.Through - before.Through
	return told, ok
}

func (w *world) post(k *talk, body []byte) (told float64, ok bool) {
	w.t.Helper()
	rec := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/v1/chat/completions", bytes.NewReader(body))
	req.Header.Set(provider.Header, k.name)
	w.proxy.Serve(rec, req, nil)
	res := rec.Result()
	_, _ = io.Copy(io.Discard, res.Body)
	w.header = res.Header
	told, err := strconv.ParseFloat(res.Header.Get("X-Secateur-Bill-Ratio"), 64)
	if err != nil {
		w.t.Fatal(err)
	}
	return told, res.StatusCode == http.StatusOK
}

// checkForms checks that messages sent once in a lane are sent in the same form. Results that are
// masked once for good are the exception.
func (w *world) checkForms(k *talk) {
	w.t.Helper()
	went := w.ruler.LastMessages(k.name)
	if len(went) != len(k.messages) {
		w.t.Errorf("%s: what came is no longer what went out", k.name)
		return
	}
	begun, forms := k.model+k.tools, w.forms[k.name]
	if forms == nil {
		forms = map[string]string{}
		w.forms[k.name] = forms
	}
	for i, m := range k.messages {
		begun = fmt.Sprintf("%x", maphash.String(hashing, begun+m))
		now := string(went[i])
		if was, ok := forms[begun]; ok && was != now && (!isMasked(now) || isMasked(was)) {
			w.t.Errorf("%s: message %d went out as %.200s before and as %.200s now", k.name, i, was, now)
		}
		forms[begun] = now
	}
}

// wasCut reports whether a result was cut in the last request.
func (w *world) wasCut(k *talk, result string) bool {
	went := w.ruler.LastMessages(k.name)
	for i, m := range k.messages[:len(went)] {
		if strings.HasSuffix(m, `"content":`+quote(result)+"}") && m != string(went[i]) {
			return true
		}
	}
	return false
}

// owe notes that the last result is read again because it had been cut: it is written, and read for
// a while.
func (w *world) owe(k *talk) {
	const reads = 5
	_, sizes := w.ruler.Sizes(k.body())
	w.owed += float64(sizes[len(sizes)-1]) * (w.ruler.Terms.Write + reads*w.ruler.Terms.Read)
}

func isMasked(m string) bool { return strings.Contains(m, `"[Observation masqu`) }

var hashing = maphash.MakeSeed()

// stories are typical client conversations.
var stories = map[string]func(w *world, seed uint64){
	"fourteen requests without a tool": func(w *world, seed uint64) {
		k := newTalk("plain", seed)
		for range 14 {
			w.send(k)
			k.say(900)
		}
	},
	"forty-five tool turns": func(w *world, seed uint64) {
		k := newTalk("tools", seed)
		for range 45 {
			w.send(k)
			k.turn()
		}
	},
	"written files": func(w *world, seed uint64) {
		k := newTalk("written", seed)
		w.within = 0.04 // most of it are arguments, which are measured less exactly than results
		for i := range 40 {
			w.send(k)
			if i%3 == 2 {
				k.turn()
				continue
			}
			k.write(400 + 3000*(i%4))
		}
	},
	"written lines again": func(w *world, seed uint64) {
		k := newTalk("lines", seed)
		file := strings.SplitAfter(k.result(6000), "\n")
		for i := range 30 {
			w.send(k)
			from := i * 7 % (len(file) / 2)
			k.call(strings.Join(file[from:from+len(file)/2], ""))
			if i%4 == 3 {
				k.turn()
			}
		}
	},
	"two models take turns": func(w *world, seed uint64) {
		k := newTalk("models", seed)
		for i := range 40 {
			k.model = []string{"plan", "act"}[i/3%2]
			w.send(k)
			k.turn()
		}
	},
	"two lists of tools": func(w *world, seed uint64) {
		k := newTalk("lists", seed)
		short, long := k.tools, strings.TrimSuffix(k.tools, "]")+`,{"type":"function","function":{"name":"edit"}}]`
		for i := range 40 {
			k.tools = []string{short, long}[i%2]
			w.send(k)
			k.turn()
		}
	},
	"two models and a pasted document": func(w *world, seed uint64) {
		k := newTalk("pasted", seed)
		k.messages[1] = `{"role":"user","content":` + quote(k.prose(60000)) + `}`
		for i := range 30 {
			k.model = []string{"plan", "act"}[i%2]
			w.send(k)
			k.turn()
		}
	},
	"restarts": func(w *world, seed uint64) {
		k := newTalk("restarts", seed)
		for i := range 40 {
			if i%10 == 9 {
				w.restart()
			}
			w.send(k)
			k.turn()
		}
	},
	"forks and a sibling": func(w *world, seed uint64) {
		k := newTalk("forks", seed)
		for range 20 {
			w.send(k)
			k.turn()
		}
		a, b := w.fork(k), w.fork(k)
		for i := range 30 {
			a.turn()
			w.send(a)
			if i%4 == 3 {
				w.now = w.now.Add(w.ruler.Terms.Life * 2 / 3)
			}
			if i%3 == 0 {
				b.turn()
				w.send(b)
			}
		}
	},
	"idle gaps": func(w *world, seed uint64) {
		k := newTalk("idle", seed)
		for i := range 50 {
			if i%8 == 7 {
				w.now = w.now.Add(w.ruler.Terms.Life * 2)
			}
			w.send(k)
			k.turn()
		}
	},
	"interrupted turns and retries": func(w *world, seed uint64) {
		k := newTalk("interrupted", seed)
		for i := range 40 {
			w.send(k)
			switch i % 7 {
			case 2:
				w.send(k) // the same again
			case 4: // the user speaks before the assistant has answered
				k.messages = append(k.messages, `{"role":"user","content":`+quote(k.prose(100))+`}`)
				w.send(k)
			case 5: // the answer is dropped and another comes
				f := w.fork(k)
				f.turn()
				w.send(f)
			}
			k.turn()
		}
	},
	"refusals": func(w *world, seed uint64) {
		k := newTalk("refusals", seed)
		for i := range 30 {
			if i%4 == 3 {
				w.ruler.Fail = func(*http.Request) int { return http.StatusTooManyRequests }
				w.post(k, k.body())
				w.ruler.Fail = nil
			}
			w.send(k)
			k.turn()
		}
	},
	"parallel calls": func(w *world, seed uint64) {
		k := newTalk("parallel", seed)
		for range 25 {
			w.send(k)
			var results []string
			for range 1 + k.IntN(5) {
				results = append(results, k.result(k.size()))
			}
			k.call(results...)
		}
	},
	"files read again": func(w *world, seed uint64) {
		k := newTalk("again", seed)
		var files []string
		for range 40 {
			w.send(k)
			if len(files) > 2 && k.IntN(3) == 0 {
				again := files[k.IntN(len(files))]
				wasCut := w.wasCut(k, again)
				k.call(again)
				if wasCut {
					w.owe(k)
				}
				continue
			}
			files = append(files, k.result(k.size()))
			k.call(files[len(files)-1])
		}
	},
	"compaction by the client": func(w *world, seed uint64) {
		k := newTalk("compaction", seed)
		var begun provider.Bill
		for i := range 45 {
			w.send(k)
			if i == 0 {
				begun = w.path(k)
			}
			k.turn()
			if i%15 == 14 {
				k.messages = append(append(append([]string(nil), k.messages[:2]...), `{"role":"user","content":`+quote(k.prose(3000))+`}`), k.messages[len(k.messages)-4:]...)
				w.anew(k, begun)
			}
		}
	},
	"five at once": func(w *world, seed uint64) {
		var all []*talk
		for i := range uint64(5) {
			k := newTalk(fmt.Sprint("five", i), seed+i)
			if i > 0 { // agents share their first words
				k.messages[0], k.tools = all[0].messages[0], all[0].tools
			}
			all = append(all, k)
		}
		for i := range 30 {
			for _, k := range all {
				w.send(k)
				k.turn()
			}
			if i%9 == 8 {
				w.now = w.now.Add(w.ruler.Terms.Life + time.Minute)
			}
		}
	},
	"killed every few turns": func(w *world, seed uint64) {
		k := newTalk("killed", seed)
		for i := range 40 {
			if i%5 == 4 {
				w.kill(k) // and the client tries again
			}
			w.send(k)
			k.turn()
		}
	},
	"two processes on one store": func(w *world, seed uint64) {
		k := newTalk("two", seed)
		first := w.proxy
		w.opt.Records = openRecords(w.t, w.dir)
		w.restart()
		both := []*proxy.Proxy{first, w.proxy}
		for i := range 40 {
			w.proxy = both[i/2%2]
			w.send(k)
			k.turn()
		}
	},
	"restarts that forget": func(w *world, seed uint64) {
		k := newTalk("forget", seed)
		w.opt.Forgetful = true
		for i := range 30 {
			if i%10 == 0 {
				w.opt.Records = &records.Memory{}
				w.restart()
			}
			w.send(k)
			k.turn()
		}
	},
	"a cache that lives longer than was told": func(w *world, seed uint64) {
		p := w.opt.Providers["p"]
		p.Prices.CacheTTL /= 5
		w.restart()
		k := newTalk("longer", seed)
		for i := range 50 {
			if i%6 == 5 {
				w.now = w.now.Add(w.ruler.Terms.Life * 3 / 4)
			}
			w.send(k)
			k.turn()
		}
	},
	"met in the middle": func(w *world, seed uint64) {
		k := newTalk("middle", seed)
		for range 20 {
			w.ruler.Pass(k.name, k.body())
			w.now = w.now.Add(7 * time.Second)
			k.turn()
		}
		w.anew(k, provider.Bill{})
		for range 25 {
			w.send(k)
			k.turn()
		}
	},
	"a provider that tells no usage": func(w *world, seed uint64) {
		// Its counting is unknown, and the amount spent is an estimate, too.
		w.ruler.Quiet, w.within = true, 0.05
		k := newTalk("quiet", seed)
		for i := range 30 {
			if i%9 == 8 {
				w.now = w.now.Add(w.ruler.Terms.Life * 2)
			}
			w.send(k)
			k.turn()
		}
	},
	"a loss may be risked": func(w *world, seed uint64) {
		w.opt.Masking.MaxLoss = 0.05
		w.restart()
		k := newTalk("risked", seed)
		for range 40 {
			w.send(k)
			k.turn()
		}
	},
	"a disk that is full for a while": fullForAWhile,
	"branches while the disk is full": forkedWhileFull,
	"a small conversation with big results": func(w *world, seed uint64) {
		k := newTalk("small", seed)
		k.tools = `[]`
		k.messages[0] = `{"role":"system","content":"Be brief."}`
		for range 12 {
			w.send(k)
			k.call(k.result(4100 + k.IntN(4000)))
		}
	},
}

var (
	seeds     = flag.Uint64("seeds", 0, "how many whole conversations of each kind, at all prices and with all tokenizers; 0: one whole, the others as far as they say most")
	tokenizer = flag.String("tokenizer", "", "only this one")
)

// TestTheBillIsTrue runs every story with every tokenizer, at one of the prices. One of them runs
// to the end, the others until the first cuts, when least is known. With -seeds it runs all of them
// whole, many of each, at all prices.
func TestTheBillIsTrue(t *testing.T) {
	prices := []provider.Terms{provider.Claude, provider.DeepSeek}
	names := provider.Names()
	for i, story := range slices.Sorted(maps.Keys(stories)) {
		for j, split := range names {
			if *tokenizer != "" && split != *tokenizer {
				continue
			}
			most := beginning
			if *seeds > 0 || j == i%len(names) {
				most = math.MaxInt
			}
			for k, terms := range prices {
				if *seeds == 0 && k != (i+j)%2 {
					continue
				}
				t.Run(story+", "+split, func(t *testing.T) {
					t.Parallel()
					for seed := range max(*seeds, 1) {
						w := newWorld(t, terms, func(o *proxy.Options) {
							if (i+j+int(seed))%3 > 0 {
								o.Pruning.Arguments = chat.ArgumentsOn
							}
							o.Pruning.Repeats = (i+j+int(seed))%4 > 0
						})
						w.ruler.Split, w.most = provider.Tokenizers[split], most
						w.play(stories[story], 100*seed+1)
						if testing.Verbose() {
							t.Logf("worst %.4f, off by %.4f, end %s", w.worst, w.off, w.ends())
						}
					}
				})
			}
		}
	}
}

// beginning is how many requests of a story show most: results have been cut, and little is known
// of how the provider counts.
const beginning = 12

// enough is thrown by the first request beyond the limit.
type enough struct{}

// play plays a story to its end, or up to the allowed number of requests.
func (w *world) play(story func(*world, uint64), seed uint64) {
	w.t.Helper()
	defer func() {
		if thrown := recover(); thrown != nil && thrown != (enough{}) {
			panic(thrown)
		}
	}()
	story(w, seed)
}

func (w *world) ends() (s string) {
	for name, b := range w.ruler.Bills() {
		s += fmt.Sprintf(" %s %.3f", name, b.Ratio())
	}
	return s
}

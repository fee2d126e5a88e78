package test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	books "secateur/test/provider"
)

const chatPath = "/v1/chat/completions"

// killable is the program in front of a provider that has it killed during an answer.
type killable struct {
	ruler  *books.Ruler
	config string
	kill   atomic.Bool
	daemon atomic.Pointer[daemon]
}

func startKillable(t *testing.T) *killable {
	t.Helper()
	terms := books.Claude
	terms.Life = 6 * time.Hour // however busy the machine is
	k := &killable{ruler: &books.Ruler{Terms: terms, Now: time.Now}}
	k.ruler.Fail = func(*http.Request) int {
		if d := k.daemon.Load(); k.kill.CompareAndSwap(true, false) {
			_ = d.cmd.Process.Kill()
			_ = d.stop()
		}
		return 0 // what has reached the provider is answered and paid
	}
	upstream := httptest.NewServer(k.ruler)
	t.Cleanup(upstream.Close)
	k.config = fmt.Sprintf("store = { url = \"file:%s\", put_timeout_ms = 60000 }\n[context_pruning]\nenabled = true\n"+
		"[providers.p]\nformat = \"chat\"\nbase_url = %q\nprices = { input = 1.0, cached_input = 0.1, cache_write = 1.25, cache_ttl_s = %.0f }\n",
		t.TempDir(), upstream.URL+"/v1", terms.Life.Seconds())
	k.daemon.Store(startDaemon(t, k.config))
	return k
}

// restart ends the program in an orderly way, unless it was killed, and starts another with its
// records.
func (k *killable) restart(t *testing.T) {
	t.Helper()
	d := k.daemon.Load()
	_ = d.cmd.Process.Signal(syscall.SIGTERM) // it may be dead
	_ = d.stop()
	k.daemon.Store(startDaemon(t, k.config))
}

// post sends a request and returns the ratio in the answer; false: the program was killed.
func (k *killable) post(t *testing.T, body []byte) (told float64, answered bool) {
	t.Helper()
	d := k.daemon.Load()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+chatPath, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(books.Header, t.Name())
	k.ruler.Through(t.Name(), body)
	res, err := d.http.Do(req)
	if err != nil {
		return 0, false
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("answered with %d, %v", res.StatusCode, err)
	}
	if told, err = strconv.ParseFloat(res.Header.Get("X-Secateur-Bill-Ratio"), 64); err != nil {
		t.Fatal(err)
	}
	return told, true
}

// An agent whose proxy is killed during an answer sends the request again to the next one. The
// reported bill equals the provider's books, including the request with the lost answer. A message
// that was sent once is always sent in the same form.
func TestChatIsToldTrueAfterAKill(t *testing.T) {
	k := startKillable(t)
	messages := []string{`{"role":"system","content":` + quoted(strings.Repeat("You repair what is broken, and say why. ", 120)) + `}`, `{"role":"user","content":"Why does it not compile?"}`}
	var sent []string
	for n := range 10 {
		// An answer is booked when its request has ended, which the client does not see.
		k.restart(t)
		body := []byte(`{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`)
		if n == 1 || n%4 == 3 { // before anything is cut, and later
			k.kill.Store(true)
			if _, answered := k.post(t, body); answered {
				t.Fatalf("request %d: the program was to be killed", n)
			}
			sent = k.checkSent(t, sent)
			k.restart(t)
		}
		told, answered := k.post(t, body)
		if !answered {
			t.Fatalf("request %d: no answer", n)
		}
		sent = k.checkSent(t, sent)
		if truth := k.ruler.Bill(t.Name()).Ratio(); truth > 1+1e-9 || math.Abs(told-truth) > 0.02 {
			t.Errorf("request %d: told %.4f, the provider's books say %.4f", n, told, truth)
		}
		id := fmt.Sprintf("call_%d", n)
		messages = append(messages, fmt.Sprintf(`{"role":"assistant","content":"I look.","tool_calls":[{"id":%q,"type":"function","function":{"name":"read","arguments":"{\"path\":\"build-%d.log\"}"}}]}`, id, n),
			fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%s}`, id, quoted(bigLog(n))))
	}
	if truth := k.ruler.Bill(t.Name()).Ratio(); truth > 0.9 {
		t.Errorf("the bill is %.4f of passing through: nothing was cut", truth)
	}
}

// checkSent checks that the last request begins like the one before, and returns it.
func (k *killable) checkSent(t *testing.T, before []string) (now []string) {
	t.Helper()
	for _, m := range k.ruler.LastMessages(t.Name()) {
		now = append(now, string(m))
	}
	if len(now) < len(before) || !slices.Equal(before, now[:len(before)]) {
		t.Errorf("what went out before goes out otherwise")
	}
	return now
}

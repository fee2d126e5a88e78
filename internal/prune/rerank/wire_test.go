package rerank_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"secateur/internal/prune/rerank"
	"secateur/internal/secret"
)

const canary = "sk-canary-1234567890"

// newClient returns a client of a real server at the given address.
func newClient(t *testing.T, backend rerank.Backend, address string, set func(*rerank.Options)) *rerank.Client {
	t.Helper()
	o := rerank.Options{Settings: rerank.Default()}
	o.Backend, o.DeepInfraURL, o.RerankURL = string(backend), address, address
	o.DeepInfraAPIKey, o.RerankAPIKey = secret.New(canary), secret.New(canary)
	if set != nil {
		set(&o)
	}
	c, err := rerank.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return c
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestDeepInfraIsAskedAsItsInterfaceSays(t *testing.T) {
	var got struct {
		Queries   []string `json:"queries"`
		Documents []string `json:"documents"`
	}
	var req *http.Request
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req = r
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		fmt.Fprint(w, `{"scores":[0.25,-1,1e-3],"input_tokens":42,"request_id":null}`)
	}))
	defer srv.Close()
	c := newClient(t, "cloud", srv.URL+"/v1/inference/model?x=1", nil)
	docs := []string{"a <b> & \"c\"", "", "\xff \u2028"}
	r, err := c.Score(t.Context(), "", "goal", docs)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{0.25, -1, 1e-3}; !slices.Equal(r.Scores, want) || r.Status != 200 || r.Latency <= 0 || r.Cached {
		t.Errorf("Score = %+v, want scores %v", r, want)
	}
	if want := []string{"goal", "goal", "goal"}; !slices.Equal(got.Queries, want) {
		t.Errorf("queries %q, want %q", got.Queries, want)
	}
	if want := []string{"a <b> & \"c\"", "", "\ufffd \u2028"}; !slices.Equal(got.Documents, want) {
		t.Errorf("documents %q, want %q", got.Documents, want)
	}
	if req.Method != http.MethodPost || req.RequestURI != "/v1/inference/model?x=1" ||
		req.Header.Get("Authorization") != "Bearer "+canary || req.Header.Get("Content-Type") != "application/json" {
		t.Errorf("asked %s %s with %v", req.Method, req.RequestURI, req.Header)
	}
	if c.Backend() != rerank.DeepInfra {
		t.Errorf("Backend() = %s, want deepinfra", c.Backend())
	}
}

func TestDeepInfraFailures(t *testing.T) {
	abort := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for _, c := range []struct {
		rule    string
		handler http.HandlerFunc
		warning string
		status  int
	}{
		{"unauthorized", answer(401, `{"error":"bad key"}`), "deepinfra_http_error", 401},
		{"rate limited", answer(429, `{}`), "deepinfra_http_error", 429},
		{"refused, whatever the body says", answer(500, `{"scores":[1,2]}`), "deepinfra_http_error", 500},
		{"not there", answer(404, ``), "deepinfra_http_error", 404},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		}, "deepinfra_http_error", 307},
		{"hangs up", abort, "deepinfra_http_error", 0},
		{"hangs up in the middle", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"scores":[1,2]}`)
			_ = http.NewResponseController(w).Flush()
			abort(w, r)
		}, "deepinfra_http_error", 0},
		{"says nothing", answer(200, ``), "deepinfra_parse_error", 200},
		{"has no content", answer(204, ``), "deepinfra_parse_error", 204},
		{"is a web page", answer(200, `<html>`), "deepinfra_parse_error", 200},
		{"is cut off", answer(200, `{"scores":[1,`), "deepinfra_parse_error", 200},
		{"goes on after the end", answer(200, `{"scores":[1,2]} more`), "deepinfra_parse_error", 200},
		{"no scores", answer(200, `{}`), "deepinfra_parse_error", 200},
		{"scores that are none", answer(200, `{"scores":null}`), "deepinfra_parse_error", 200},
		{"too few scores", answer(200, `{"scores":[1]}`), "deepinfra_parse_error", 200},
		{"too many scores", answer(200, `{"scores":[1,2,3]}`), "deepinfra_parse_error", 200},
		{"a score that is null", answer(200, `{"scores":[1,null]}`), "deepinfra_parse_error", 200},
		{"a score that is NaN", answer(200, `{"scores":[1,NaN]}`), "deepinfra_parse_error", 200},
		{"a score that is infinite", answer(200, `{"scores":[1,1e999]}`), "deepinfra_parse_error", 200},
		{"a score that is text", answer(200, `{"scores":[1,"2"]}`), "deepinfra_parse_error", 200},
		{"scores in lists", answer(200, `{"scores":[[1],[2]]}`), "deepinfra_parse_error", 200},
		{"bare scores", answer(200, `[1,2]`), "deepinfra_parse_error", 200},
		{"no object", answer(200, `7`), "deepinfra_parse_error", 200},
		{"no end", answer(200, `{"scores":[1,2],"x":"`+strings.Repeat("x", 8<<20)+`"}`), "deepinfra_parse_error", 200},
		{"an answer that repeats the key", answer(200, canary), "deepinfra_parse_error", 200},
		{"a refusal that repeats the key", answer(403, canary), "deepinfra_http_error", 403},
		{"no HTTP, and the key in it", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				fmt.Fprintf(conn, "Bearer %s\r\n\r\n", canary)
				conn.Close()
			}
		}, "deepinfra_http_error", 0},
	} {
		t.Run(c.rule, func(t *testing.T) {
			srv := httptest.NewServer(c.handler)
			defer srv.Close()
			client := newClient(t, rerank.DeepInfra, srv.URL, nil)
			wantFailure(t, client, c.warning, c.status)
		})
	}
}

func TestNobodyIsThere(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + ln.Addr().String() + "/?token=hunter2"
	ln.Close()
	client := newClient(t, rerank.DeepInfra, address, nil)
	wantFailure(t, client, "deepinfra_http_error", 0)
	if _, err := client.Score(t.Context(), "", "q", []string{"a"}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Score = %v, want an error without what is in the address", err)
	}
}

func TestTheShorterPatienceCounts(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		// Only then does the server notice that the client is gone.
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer srv.Close() // waits for its requests: each must have been cancelled
	t.Run("the backend's", func(t *testing.T) {
		client := newClient(t, rerank.DeepInfra, srv.URL, func(o *rerank.Options) { o.DeepInfraTimeout = 20 * time.Millisecond })
		wantFailure(t, client, "deepinfra_http_error", 0)
	})
	t.Run("the caller's", func(t *testing.T) {
		client := newClient(t, rerank.DeepInfra, srv.URL, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err := client.Score(ctx, "", "q", []string{"a", "b"})
		if e, ok := errors.AsType[*rerank.Error](err); !ok || e.Warning() != "deepinfra_http_error" ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Score = %v, want deepinfra_http_error for the deadline", err)
		}
	})
}

func TestRedirectIsNotFollowed(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the question went to another server")
	}))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		srv := httptest.NewServer(http.RedirectHandler(other.URL, status))
		wantFailure(t, newClient(t, rerank.DeepInfra, srv.URL, nil), "deepinfra_http_error", status)
		srv.Close()
	}
}

func TestNothingIsAskedWithoutKeyOrAddress(t *testing.T) {
	for _, c := range []struct {
		rule    string
		backend rerank.Backend
		set     func(*rerank.Options)
		warning string
	}{
		{"DeepInfra without a key", rerank.DeepInfra, func(o *rerank.Options) { o.DeepInfraAPIKey, o.RerankAPIKey = secret.Text{}, secret.Text{} }, "deepinfra_config_error"},
		{"DeepInfra with a blank key", rerank.DeepInfra, func(o *rerank.Options) { o.DeepInfraAPIKey, o.RerankAPIKey = secret.New(" \n"), secret.New(" \n") }, "deepinfra_config_error"},
		{"a key of two lines", rerank.DeepInfra, func(o *rerank.Options) {
			o.DeepInfraAPIKey, o.RerankAPIKey = secret.New("a\nX-B: c"), secret.New("a\nX-B: c")
		}, "deepinfra_config_error"},
		{"an address that is none", rerank.DeepInfra, func(o *rerank.Options) { o.DeepInfraURL = "api.deepinfra.com" }, "deepinfra_config_error"},
		{"a rerank server without an address", rerank.Rerank, func(o *rerank.Options) { o.RerankURL = "" }, "rerank_config_error"},
		{"a rerank server at an address that is none", rerank.Rerank, func(o *rerank.Options) { o.RerankURL = "::" }, "rerank_config_error"},
		{"more documents than allowed", rerank.DeepInfra, func(o *rerank.Options) { o.DeepInfraMaxDocs = 1 }, "deepinfra_config_error"},
	} {
		client := newClient(t, c.backend, "http://127.0.0.1:1", func(o *rerank.Options) {
			o.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
				t.Errorf("%s: the backend was asked", c.rule)
				return nil, errors.New("asked")
			})
			c.set(o)
		})
		t.Log(c.rule)
		wantFailure(t, client, c.warning, 0)
	}
}

func TestKeyMayBeWrittenWithSpaceAround(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer "+canary {
			t.Errorf("Authorization: %q", got)
		}
		fmt.Fprint(w, `{"scores":[1,2]}`)
	}))
	defer srv.Close()
	client := newClient(t, rerank.DeepInfra, srv.URL, func(o *rerank.Options) {
		o.DeepInfraAPIKey, o.RerankAPIKey = secret.New(canary+"\n"), secret.New(canary+"\n")
	})
	if _, err := client.Score(t.Context(), "", "q", []string{"a", "b"}); err != nil {
		t.Error(err)
	}
}

func TestRerankAnswers(t *testing.T) {
	const parse = "rerank_parse_error"
	for _, c := range []struct {
		rule, body, warning string // empty warning: the scores are 0.5, 0.25
	}{
		{"Cohere, Jina", `{"id":"x","results":[{"index":0,"relevance_score":0.5},{"index":1,"relevance_score":0.25}],"meta":{}}`, ""},
		{"best first", `{"results":[{"index":1,"relevance_score":0.25},{"index":0,"relevance_score":0.5}]}`, ""},
		{"with documents, vLLM", `{"model":"m","usage":{"total_tokens":9},"results":[{"index":0,"document":{"text":"a"},"relevance_score":0.5},{"index":1,"document":{"text":"b"},"relevance_score":0.25}]}`, ""},
		{"llama.cpp", `{"model":"m","object":"list","results":[{"index":0,"relevance_score":0.5},{"index":1,"relevance_score":0.25}]}`, ""},
		{"called score", `{"results":[{"index":0,"score":0.5},{"index":1,"score":0.25}]}`, ""},
		{"a bare list, as of TEI", `[{"index":0,"score":0.5},{"index":1,"score":0.25}]`, ""},
		{"a bare list behind white space", "\r\n\t [{\"index\":0,\"score\":0.5},{\"index\":1,\"score\":0.25}]", ""},
		{"under data", `{"object":"list","data":[{"index":1,"relevance_score":0.25},{"index":0,"relevance_score":0.5}]}`, ""},
		{"plain scores", `{"scores":[0.5,0.25]}`, ""},
		{"a document is missing", `{"results":[{"index":0,"relevance_score":0.5}]}`, parse},
		{"a document twice", `{"results":[{"index":0,"score":0.5},{"index":0,"score":0.25}]}`, parse},
		{"a document twice, beside all others", `{"results":[{"index":0,"score":0.5},{"index":1,"score":0.5},{"index":0,"score":0.25}]}`, parse},
		{"a document that was not sent", `{"results":[{"index":0,"score":0.5},{"index":2,"score":0.25}]}`, parse},
		{"a negative index", `{"results":[{"index":-1,"score":0.5},{"index":0,"score":0.25}]}`, parse},
		{"no index", `{"results":[{"score":0.5},{"index":1,"score":0.25}]}`, parse},
		{"no score", `{"results":[{"index":0},{"index":1,"score":0.25}]}`, parse},
		{"a score that is null", `{"results":[{"index":0,"score":null},{"index":1,"score":0.25}]}`, parse},
		{"no results", `{"results":[]}`, parse},
		{"something else", `{"error":"model not loaded"}`, parse},
		{"a list of something else", `["a","b"]`, parse},
		{"an empty list", `[]`, parse},
		{"null", `null`, parse},
		{"no JSON", `oops`, parse},
	} {
		t.Run(c.rule, func(t *testing.T) {
			srv := httptest.NewServer(answer(200, c.body))
			defer srv.Close()
			client := newClient(t, rerank.Rerank, srv.URL, nil)
			if c.warning != "" {
				wantFailure(t, client, c.warning, 200)
				return
			}
			r, err := client.Score(t.Context(), "", "q", []string{"a", "b"})
			if want := []float64{0.5, 0.25}; err != nil || !slices.Equal(r.Scores, want) {
				t.Errorf("Score = %v, %v, want %v", r.Scores, err, want)
			}
		})
	}
}

func TestRerankIsAsked(t *testing.T) {
	for _, c := range []struct {
		rule, path, model, key string
		wantPath, wantBody     string
	}{
		{"without a path", "", "", "", "/rerank", `{"query":"q","documents":["a","b"]}`},
		{"with only a slash", "/", "m", "", "/rerank", `{"model":"m","query":"q","documents":["a","b"]}`},
		{"with a path", "/v2/rerank?x=y", "m", canary, "/v2/rerank?x=y", `{"model":"m","query":"q","documents":["a","b"]}`},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if got := strings.TrimSpace(string(body)); r.RequestURI != c.wantPath || got != c.wantBody {
				t.Errorf("%s: asked %s %s, want %s %s", c.rule, r.RequestURI, got, c.wantPath, c.wantBody)
			}
			want := ""
			if c.key != "" {
				want = "Bearer " + c.key
			}
			if got := r.Header.Get("Authorization"); got != want {
				t.Errorf("%s: Authorization %q, want %q", c.rule, got, want)
			}
			fmt.Fprint(w, `{"results":[{"index":0,"score":1},{"index":1,"score":2}]}`)
		}))
		client := newClient(t, rerank.Rerank, srv.URL+c.path, func(o *rerank.Options) {
			o.RerankModel, o.RerankAPIKey = c.model, secret.New(c.key)
		})
		if _, err := client.Score(t.Context(), "", "q", []string{"a", "b"}); err != nil {
			t.Errorf("%s: %v", c.rule, err)
		}
		srv.Close()
	}
}

// Some servers refuse unknown fields, others want "texts" instead of "documents".
func TestServerThatWantsTexts(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, strings.TrimSpace(string(body)))
		if !strings.Contains(string(body), `"texts"`) {
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 30")
			return
		}
		fmt.Fprint(w, `[{"index":1,"score":0.9},{"index":0,"score":0.1}]`)
	}))
	defer srv.Close()
	client := newClient(t, rerank.Rerank, srv.URL, nil)
	for _, query := range []string{"q", "r"} {
		r, err := client.Score(t.Context(), "", query, []string{"a", "b"})
		if err != nil || !slices.Equal(r.Scores, []float64{0.1, 0.9}) {
			t.Errorf("Score = %v, %v", r.Scores, err)
		}
	}
	want := []string{
		`{"query":"q","documents":["a","b"]}`,
		`{"query":"q","texts":["a","b"],"truncate":true}`,
		`{"query":"r","texts":["a","b"],"truncate":true}`,
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked\n%s\nwant\n%s", strings.Join(asked, "\n"), strings.Join(want, "\n"))
	}
}

func TestLongQueryIsCutBetweenCharacters(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var got struct {
			Query string `json:"query"`
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		if len(got.Query) > 16<<10 || len(got.Query) < 16<<10-4 || strings.Contains(got.Query, "\ufffd") {
			t.Errorf("a query of %d bytes was sent", len(got.Query))
		}
		fmt.Fprint(w, `{"scores":[1]}`)
	}))
	defer srv.Close()
	client := newClient(t, rerank.Rerank, srv.URL, nil)
	if _, err := client.Score(t.Context(), "", "x"+strings.Repeat("é", 1<<20), []string{"a"}); err != nil {
		t.Error(err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"scores":[1,2]}`))
	f.Add([]byte(`{"results":[{"index":1,"score":2},{"index":0,"relevance_score":2}]}`))
	f.Add([]byte(`[{"index":0,"score":0.5}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, backend := range []rerank.Backend{rerank.DeepInfra, rerank.Rerank} {
			client := newClient(t, backend, "http://127.0.0.1:1", func(o *rerank.Options) {
				o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) { return respond(r, 200, string(body)), nil })
			})
			r, err := client.Score(t.Context(), "", "q", []string{"a", "b"})
			if (err == nil) != (len(r.Scores) == 2) {
				t.Errorf("Score = %v, %v", r.Scores, err)
			}
		}
	})
}

// wantFailure asks for two scores and expects none, and the key nowhere.
func wantFailure(t *testing.T, c *rerank.Client, warning string, status int) {
	t.Helper()
	r, err := c.Score(t.Context(), "", "q", []string{"first document", "second document"})
	e, ok := errors.AsType[*rerank.Error](err)
	if !ok || e.Warning() != warning || e.Status != status || r.Scores != nil {
		t.Fatalf("Score = %v, %v, want %s with status %d", r.Scores, err, warning, status)
	}
	for _, text := range []string{err.Error(), fmt.Sprintf("%+v %#v", err, e.Kind)} {
		if strings.Contains(text, canary) || strings.Contains(text, "document\"") {
			t.Errorf("the error shows too much: %s", text)
		}
	}
}

package compress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/llm/chat"
	"secateur/internal/llm/tokens"
	"secateur/internal/prune"
	"secateur/internal/rawjson"
	"secateur/internal/store/originals"
)

// The paths of the door.
const (
	Path         = "/v1/compress"
	RetrievePath = "/v1/retrieve/"
)

// timeout is how long a conversation may take.
const timeout = 20 * time.Second

// Index remembers which original a hash names.
type Index interface {
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Put(ctx context.Context, key string, value []byte) error
}

// Server is the door.
type Server struct {
	Pruning   chat.Pruning
	Originals originals.Store
	Index     Index
	Admission *admission.Control
	MaxBytes  int64 // of a request
	Observe   func(context.Context, Cut)
	Recovered func(id, returned string)
	Log       *slog.Logger

	made memo
}

// Cut is a result that was cut.
type Cut struct {
	ID          string
	Chars, Kept int
	Tokens      int // an estimate of what is missing
	Sent        string
}

// Serve answers POST /v1/compress.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, p *access.Principal) {
	done, ok := s.enter(w, r, p, http.MethodPost, Path)
	if !ok {
		return
	}
	defer done()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.MaxBytes))
	if err != nil {
		fail(w, http.StatusRequestEntityTooLarge, "invalid_request_error", "the body was not read: "+err.Error())
		return
	}
	req, err := readRequest(body)
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	if r.Header.Get("x-headroom-bypass") == "true" {
		write(w, answer(req.messages, req.messages, nil))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	messages, hashes, err := s.compress(ctx, p.Owner(), req)
	switch {
	case ctx.Err() != nil:
		fail(w, http.StatusServiceUnavailable, "timeout", "it took too long; send the messages as they are")
	case err != nil:
		fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
	default:
		write(w, answer(req.messages, messages, hashes))
	}
}

// compress gives the messages of a request as they go out, and the hashes of what was cut.
func (s *Server) compress(ctx context.Context, tenant string, req request) (messages []byte, hashes []string, err error) {
	c, prefix, err := req.read()
	if err != nil {
		return nil, nil, fmt.Errorf("messages: %w", err)
	}
	set := s.Pruning
	if req.ratio > 0 {
		set.MaxPruneRatio = min(set.MaxPruneRatio, req.ratio)
	}
	id := func(text string) string { return s.Originals.ID(tenant, text) }
	texts := map[int]string{}
	done := func() bool { return ctx.Err() != nil }
	for _, k := range plan(c, set, req.frozen, tenant, id, s.made.pruner(set, done), done) {
		if err := s.keep(ctx, tenant, k); err != nil { // content fails open; the next request may cut it, and loses the cache once
			s.Log.WarnContext(ctx, "original not kept, text passes whole", "err", err)
			continue
		}
		texts[k.message] = k.pruned
		hashes = append(hashes, k.hash)
		if s.Observe != nil {
			s.Observe(ctx, Cut{
				ID: id(k.text), Chars: rawjson.Chars(k.text), Kept: rawjson.Chars(k.pruned), Sent: k.pruned,
				Tokens: max(0, tokens.Sample(k.text, tokens.Logs)-tokens.Sample(k.pruned, tokens.Logs)),
			})
		}
	}
	if len(texts) == 0 {
		return req.messages, nil, nil
	}
	body := c.WithTexts(texts)
	return body[prefix : len(body)-1], hashes, nil
}

// keep keeps an original, and which hash names it.
func (s *Server) keep(ctx context.Context, tenant string, k cut) error {
	id, err := s.Originals.Put(ctx, tenant, k.text)
	if err != nil {
		return err
	}
	return s.Index.Put(ctx, indexKey(tenant, k.hash), []byte(id))
}

func indexKey(tenant, hash string) string {
	return "compress/" + strconv.Itoa(len(tenant)) + "." + tenant + "/" + hash
}

// ServeRetrieve answers GET /v1/retrieve/{hash}?query=.
func (s *Server) ServeRetrieve(w http.ResponseWriter, r *http.Request, p *access.Principal) {
	done, ok := s.enter(w, r, p, http.MethodGet, RetrievePath)
	if !ok {
		return
	}
	defer done()
	hash := r.PathValue("hash")
	if !isHash(hash) {
		fail(w, http.StatusBadRequest, "invalid_request_error", "a hash has 24 digits of 0-9 and a-f")
		return
	}
	text, id, err := s.original(r.Context(), p.Owner(), hash)
	switch {
	case errors.Is(err, originals.ErrNotFound):
		if over := s.Admission.Missed(r.Context(), p); over != nil {
			refuse(w, over)
			return
		}
		fail(w, http.StatusNotFound, "not_found_error", "the original of this hash has expired or was never kept here")
		return
	case err != nil:
		fail(w, http.StatusServiceUnavailable, "unavailable", "the store of originals does not answer; try again in a moment")
		return
	}
	answer := retrieved(hash, r.URL.Query().Get("query"), text)
	if s.Recovered != nil {
		s.Recovered(id, string(answer))
	}
	write(w, answer)
}

func (s *Server) original(ctx context.Context, tenant, hash string) (text, id string, err error) {
	value, ok, err := s.Index.Get(ctx, indexKey(tenant, hash))
	if err != nil {
		return "", "", err
	}
	if !ok {
		return "", "", originals.ErrNotFound
	}
	text, err = s.Originals.Get(ctx, tenant, string(value))
	return text, string(value), err
}

// enter lets a caller in who may use this path; the refusal has been written where it does not.
func (s *Server) enter(w http.ResponseWriter, r *http.Request, p *access.Principal, method, path string) (done func(), ok bool) {
	if r.Method != method {
		w.Header().Set("Allow", method)
		fail(w, http.StatusMethodNotAllowed, "invalid_request_error", method+" is what this path takes")
		return nil, false
	}
	entry, over := s.Admission.Enter(r.Context(), p, access.DoorChat)
	if over != nil {
		refuse(w, over)
		return nil, false
	}
	permit, no := s.Admission.Ask(r.Context(), p, r.Method, access.Target{Door: access.DoorChat, Kind: access.KindRoute, Name: strings.TrimSuffix(path, "/")})
	if no != nil {
		entry.Leave()
		refuse(w, no)
		return nil, false
	}
	return func() {
		permit.Done(int(max(r.ContentLength, 0)), 0)
		entry.Leave()
	}, true
}

func refuse(w http.ResponseWriter, no *admission.Refusal) {
	if no.Limit != nil {
		admission.SetHeaders(w.Header(), no.Limit.State)
		fail(w, http.StatusTooManyRequests, "rate_limit_error", "Rate limit exceeded: "+no.Limit.Limit+".")
		return
	}
	fail(w, http.StatusNotFound, "not_found_error", "There is nothing at this path.")
}

func fail(w http.ResponseWriter, status int, kind, message string) {
	out := rawjson.AppendQuoted([]byte(`{"error":{"type":`), kind)
	out = rawjson.AppendQuoted(append(out, `,"message":`...), message)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(out, "}}\n"...)) //nolint:gosec // JSON, and said to be
}

func write(w http.ResponseWriter, out []byte) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(out) //nolint:gosec // JSON, and said to be
}

// transform names what was done, in the answer.
const transform = "secateur:prune"

// answer tells what became of the messages.
func answer(before, after []byte, hashes []string) []byte {
	was := tokens.Sample(string(before), tokens.JSON)
	is := was
	if len(hashes) > 0 {
		is = min(was, tokens.Sample(string(after), tokens.JSON))
	}
	out := append(append(make([]byte, 0, len(after)+512), `{"messages":`...), after...)
	number := func(name string, n int) {
		out = append(append(append(out, `,"`...), name...), `":`...)
		out = strconv.AppendInt(out, int64(n), 10)
	}
	number("tokens_before", was)
	number("tokens_after", is)
	number("tokens_saved", was-is)
	out = append(out, `,"compression_ratio":`...)
	out = strconv.AppendFloat(out, float64(was-is)/float64(max(was, 1)), 'f', 4, 64)
	var applied []string
	summary := "{}"
	if len(hashes) > 0 {
		applied, summary = []string{transform}, `{"`+transform+`":`+strconv.Itoa(len(hashes))+`}`
	}
	out = rawjson.AppendTexts(append(out, `,"transforms_applied":`...), applied)
	out = append(append(out, `,"transforms_summary":`...), summary...)
	out = rawjson.AppendTexts(append(out, `,"ccr_hashes":`...), hashes)
	return append(out, "}\n"...)
}

// maxResults is how many lines a query gives at most.
const maxResults = 200

// retrieved is an original, or the lines of it that have the words of a query. Where none has them it is the whole.
func retrieved(hash, query, text string) []byte {
	out := rawjson.AppendQuoted([]byte(`{"hash":`), hash)
	var found []string
	if query != "" {
		out = rawjson.AppendQuoted(append(out, `,"query":`...), query)
		found = matching(text, query)
		out = rawjson.AppendTexts(append(out, `,"results":`...), found)
		out = strconv.AppendInt(append(out, `,"count":`...), int64(len(found)), 10)
	}
	if len(found) > 0 {
		text = strings.Join(found, "\n")
	}
	out = rawjson.AppendQuoted(append(out, `,"original_content":`...), text)
	return append(out, "}\n"...)
}

// matching are the lines that have all words of a query, else those that have one, with their numbers.
func matching(text, query string) (found []string) {
	words := strings.Fields(strings.ToLower(query))
	lines := prune.IndexLines(text)
	for _, least := range []int{len(words), 1} {
		for i := 1; i <= lines.Len() && len(found) < maxResults; i++ {
			line := strings.TrimRight(lines.Line(i), "\r\n")
			low, has := strings.ToLower(line), 0
			for _, word := range words {
				if strings.Contains(low, word) {
					has++
				}
			}
			if has >= least && has > 0 {
				found = append(found, strconv.Itoa(i)+": "+line)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

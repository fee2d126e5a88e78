package proxy

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/access"
	"secateur/internal/llm/chat"
	"secateur/internal/rawjson"
)

// Bounds for model lists of providers.
const (
	modelsTimeout  = 3 * time.Second
	modelsFor      = time.Minute      // lifetime of a list
	modelsRetry    = 10 * time.Second // pause after a provider returned none
	maxModelsBytes = 8 << 20
	maxModels      = 10_000
)

// modelList is the last list of models from a provider.
type modelList struct {
	mu    sync.Mutex // guards the fields below
	who   [sha256.Size]byte
	until time.Time
	list  []listed
}

// listed is a model of a provider.
type listed struct {
	id  string
	raw []byte // everything the provider says about it
}

// ServeModels lists the available models: the aliases and their models, and everything that the
// providers list, as provider/model. Models of the provider with the client's format are also
// available by their plain names. A provider that does not answer soon is left out. Providers for
// which the client's credentials are not meant are asked without them.
func (p *Proxy) ServeModels(w http.ResponseWriter, r *http.Request, principal *access.Principal) {
	entry, ok := p.admit(w, r, principal)
	if !ok {
		return
	}
	defer entry.Leave()
	if formatOf(r) == chat.Responses { // Codex can read only its own backend's list
		p.pass(w, r, principal)
		return
	}
	names := slices.Sorted(maps.Keys(p.providers))
	lists := make([][]listed, len(names))
	var all sync.WaitGroup
	ctx := r.Context()
	for i, name := range names {
		all.Go(func() { lists[i] = p.modelsOf(ctx, p.providers[name], p.shownTo(p.providers[name], r)) })
	}
	all.Wait()

	out := modelsAnswer{
		json: []byte(`{"object":"list","data":[`), seen: map[string]bool{}, hidden: func(id string) bool { return !p.maySee(principal, r, id) },
	}
	for _, alias := range slices.Sorted(maps.Keys(p.opt.Models)) {
		out.add(alias, p.opt.Models[alias].Provider, nil)
	}
	for _, alias := range slices.Sorted(maps.Keys(p.opt.Models)) {
		m := p.opt.Models[alias]
		out.add(m.Provider+"/"+m.target(alias), m.Provider, nil)
	}
	unprefixed := p.fallbackIn(formatOf(r), isSignedIn(r))
	for i, name := range names {
		for _, m := range lists[i] {
			if p.providers[name] == unprefixed {
				out.add(m.id, name, m.raw)
			}
			out.add(name+"/"+m.id, name, m.raw)
		}
	}
	writeJSON(w, http.StatusOK, append(out.json, "]}"...))
}

// serveModel describes one model, as the list does. A model that is not listed is left to its
// provider.
func (p *Proxy) serveModel(w http.ResponseWriter, r *http.Request, name, below string, principal *access.Principal) {
	var absent *failure
	if p.opt.Admission.HidesFrom(principal, access.DoorChat, "") {
		absent = p.modelNotFound(name)
	}
	if alias, ok := p.opt.Models[name]; ok {
		writeJSON(w, http.StatusOK, appendModel(nil, name, alias.Provider, nil))
		return
	}
	prefix, rest, _ := strings.Cut(name, "/")
	to := p.providers[prefix]
	if to == nil || rest == "" {
		p.passOn(w, r, p.fallbackIn(formatOf(r), isSignedIn(r)), below, absent)
		return
	}
	for _, m := range p.modelsOf(r.Context(), to, p.shownTo(to, r)) {
		if m.id == rest {
			writeJSON(w, http.StatusOK, appendModel(nil, name, prefix, m.raw))
			return
		}
	}
	for alias, m := range p.opt.Models {
		if m.Provider == prefix && m.target(alias) == rest {
			writeJSON(w, http.StatusOK, appendModel(nil, name, prefix, nil))
			return
		}
	}
	path := url.URL{Path: "/models/" + rest}
	p.passOn(w, r, to, path.EscapedPath(), absent)
}

type modelsAnswer struct {
	json   []byte
	seen   map[string]bool
	hidden func(id string) bool
}

// add adds a model once.
func (a *modelsAnswer) add(id, owner string, raw []byte) {
	if a.seen[id] || a.hidden(id) {
		return
	}
	if len(a.seen) > 0 {
		a.json = append(a.json, ',')
	}
	a.seen[id] = true
	a.json = appendModel(a.json, id, owner, raw)
}

// appendModel appends a model. The provider's description, if any, is passed on except for the id.
func appendModel(dst []byte, id, owner string, raw []byte) []byte {
	if raw != nil {
		if at := rawjson.Find(raw, "id"); !at.IsZero() {
			return rawjson.Apply(dst, raw, []rawjson.Edit{{Span: at, New: rawjson.AppendQuoted(nil, id)}})
		}
	}
	o := rawjson.Object(append(dst, '{'))
	o.Text("id", id)
	o.Text("object", "model")
	o.Int("created", 0)
	o.Text("owned_by", owner)
	return append(o, '}')
}

// modelsOf asks a provider for its models, or returns the cached list for the same caller.
func (p *Proxy) modelsOf(ctx context.Context, to *provider, client http.Header) []listed {
	h := http.Header{"Accept": {"application/json"}, "User-Agent": {""}}
	signed := p.headersFor(to, client)
	for _, name := range []string{"Authorization", "X-Api-Key", "Anthropic-Beta"} {
		if values := signed[name]; values != nil {
			h[name] = values
		}
	}
	who := sha256.Sum256([]byte(h.Get("Authorization") + "\n" + h.Get("X-Api-Key")))
	if to.format == chat.Messages {
		h["Anthropic-Version"] = []string{"2023-06-01"}
	}
	if list, ok := to.models.recall(who, p.opt.Now()); ok {
		return list
	}
	list, err := p.fetchModels(ctx, to, h)
	if ctx.Err() != nil {
		return nil // the caller has gone: this says nothing about the provider
	}
	hold := modelsFor
	if err != nil {
		p.opt.Log.DebugContext(ctx, "provider does not list its models", "provider", to.name, "err", err)
		hold = modelsRetry
	}
	to.models.keep(who, p.opt.Now().Add(hold), list)
	return list
}

func (m *modelList) recall(who [sha256.Size]byte, now time.Time) ([]listed, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.list, who == m.who && now.Before(m.until)
}

func (m *modelList) keep(who [sha256.Size]byte, until time.Time, list []listed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.who, m.until, m.list = who, until, list
}

func (p *Proxy) fetchModels(ctx context.Context, to *provider, h http.Header) ([]listed, error) {
	ctx, cancel := context.WithTimeout(ctx, modelsTimeout)
	defer cancel()
	query := ""
	if to.format == chat.Messages {
		query = "limit=1000" // the list is paginated
	}
	res, err := p.send(ctx, to, &http.Request{Method: http.MethodGet, URL: to.url("/models", query), Header: h})
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxModelsBytes+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxModelsBytes {
		return nil, errors.New("the list is too long")
	}
	return parseModels(b)
}

// parseModels reads a list of models in OpenAI's format.
func parseModels(b []byte) ([]listed, error) {
	var doc struct {
		Data []jsontext.Value `json:"data"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, err
	}
	var list []listed
	for _, raw := range doc.Data[:min(len(doc.Data), maxModels)] {
		var m struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(raw, &m) == nil && m.ID != "" {
			list = append(list, listed{m.ID, raw})
		}
	}
	return list, nil
}

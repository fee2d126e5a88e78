package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/front/budget"
	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
	"secateur/internal/secret"
	"secateur/internal/store/originals"
)

// Options configure a Proxy.
type Options struct {
	Providers map[string]Provider // by name
	Models    map[string]Model    // by the name that clients use
	// Gets models without an alias or prefix; "": the only provider.
	DefaultProvider string

	Masking   chat.Settings
	Pruning   chat.Pruning
	Proof     Proof
	Originals originals.Store // nil only if nothing is masked or pruned
	// Lifetime of unused originals; 0: unknown, so renew them with every request.
	OriginalsTTL time.Duration
	Records      Records  // nil only if nothing is masked or pruned
	Together     Together // nil: originals and records are stored one after the other
	// Records do not outlive this process: cut nothing that a restart would send in another form.
	Forgetful bool

	// Tokens returns the token for a provider, by name, in place of a key.
	Tokens map[string]func(context.Context) (string, error)
	// Called with a token that the provider refused; nil: none.
	Refused map[string]func(token string)

	OwnToken     secret.Text        // the token of our own door: it never reaches a provider
	Admission    *admission.Control // nil: no restrictions
	MaxBodyBytes int64              // larger chat requests are refused
	Now          func() time.Time   // nil: time.Now
	Log          *slog.Logger       // nil discards
	Metrics      prometheus.Registerer
	Observer     Observer // nil: none

	// RecoverCommand is the shell command in the first marker of a conversation, before an id and
	// lines; "": none.
	RecoverCommand string
	// How long a provider may be silent, before or within its response; 0: DefaultPatience.
	Patience  time.Duration
	Transport http.RoundTripper // nil: our own

	// Replaces is the proxy it replaces. Its flights, connections and metrics continue; nil: none.
	Replaces *Proxy
}

// Records store what was sent before. A lost value costs a miss of the provider's cache. It costs
// an error if a provider binds its thinking to what was sent. So a missing value differs from an
// unknown one (the error): then nothing is cut that was not cut before.
type Records interface {
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Put(ctx context.Context, key string, value []byte) error
	// False if the key has a value.
	PutNew(ctx context.Context, key string, value []byte) (first bool, err error)
}

// Together stores originals and records in one round trip if both are remote, and returns an error
// for each. ids are those of the originals. The errors for records are those of their PutEach.
type Together func(ctx context.Context, tenant string, texts []string, n int, at func(i int) (key string, value []byte, onlyNew bool)) (ids []string, unkept, unwritten []error)

// DefaultPatience lets a model think as long as common clients wait.
const DefaultPatience = 10 * time.Minute

// Proxy is the door for conversations with models.
type Proxy struct {
	opt       Options
	providers map[string]*provider
	fallback  *provider // takes requests without another provider; nil: none
	transport http.RoundTripper
	metrics   metrics
	renewed   *renewals
	begun     *beginnings
	flights   *flights
	models    *modelNames

	unremembered *unremembered
	unwritten    *unwritten
	dearest      bill.Prices // highest known prices, of the table and the settings
	books        *books
	counts       *counts
	answers      *answers
}

// New makes a proxy.
func New(opt Options) (*Proxy, error) {
	if opt.MaxBodyBytes <= 0 {
		return nil, errors.New("llmproxy: a body size is needed")
	}
	if (opt.Masking.Enabled || opt.Pruning.Enabled) && (opt.Originals == nil || opt.Records == nil) {
		return nil, errors.New("llmproxy: originals and records are needed")
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Patience <= 0 {
		opt.Patience = DefaultPatience
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	p := &Proxy{opt: opt, providers: map[string]*provider{}, transport: opt.Transport}
	p.opt.Replaces = nil
	if before := opt.Replaces; before != nil {
		p.metrics, p.renewed, p.begun, p.flights, p.models, p.transport = before.metrics, before.renewed, before.begun, before.flights, before.models, before.transport
		p.unremembered, p.unwritten, p.books = before.unremembered, before.unwritten, before.books
		p.counts, p.answers = before.counts, before.answers
	} else {
		p.metrics, p.renewed, p.begun, p.flights, p.models = newMetrics(opt.Metrics), &renewals{}, &beginnings{}, &flights{}, &modelNames{}
		p.unremembered, p.unwritten, p.books = &unremembered{}, &unwritten{}, &books{}
		p.counts, p.answers = &counts{}, &answers{}
	}
	for name, s := range opt.Providers {
		base, err := s.parseBase()
		if err != nil {
			return nil, fmt.Errorf("providers.%s.base_url: %w", name, err)
		}
		p.providers[name] = &provider{Provider: s, name: name, base: base, format: s.format(name, base)}
	}
	for name, m := range opt.Models {
		if p.providers[m.Provider] == nil {
			return nil, fmt.Errorf("models.%q.provider: %q is not one of the providers", name, m.Provider)
		}
	}
	p.dearest = opt.dearest()
	p.fallback = defaultProvider(opt.DefaultProvider, p.providers)
	if p.fallback == nil && opt.DefaultProvider != "" {
		return nil, fmt.Errorf("default_provider: %q is not one of the providers", opt.DefaultProvider)
	}
	if p.transport == nil {
		p.transport = newTransport(opt.Patience)
	}
	return p, nil
}

// Close waits for all bookkeeping and closes idle connections.
func (p *Proxy) Close() error {
	p.books.close()
	if t, ok := p.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
	return nil
}

// Serve answers POST requests to the endpoints, for an admitted principal. Any other method is
// passed on.
func (p *Proxy) Serve(w http.ResponseWriter, r *http.Request, principal *access.Principal) {
	entry, ok := p.admit(w, r, principal)
	if !ok {
		return
	}
	defer entry.Leave()
	if at, ok := endpointOf(r.URL.Path); ok && r.Method == http.MethodPost {
		p.serveConversation(w, r, at, principal)
		return
	} else if ok && at.format == chat.Responses && isWebSocket(r.Header) && p.cuts() && !p.passesWebSocket(r) {
		p.refuse(w, r, nil, noWebSocket())
		return
	}
	p.pass(w, r, principal)
}

// passesWebSocket reports whether the provider of an upgrade allows it.
func (p *Proxy) passesWebSocket(r *http.Request) bool {
	to := p.fallbackIn(chat.Responses, isSignedIn(r))
	return to != nil && to.WebSocket == WebSocketPass
}

// cuts reports whether anything may be cut from a conversation.
func (p *Proxy) cuts() bool { return p.opt.Masking.Enabled || p.opt.Pruning.Enabled }

// admit checks the limit before reading the request, and refuses the caller if it is exceeded.
// Every way to a provider begins with it.
func (p *Proxy) admit(w http.ResponseWriter, r *http.Request, principal *access.Principal) (admission.Entry, bool) {
	entry, over := p.opt.Admission.Enter(r.Context(), principal, access.DoorChat)
	if over != nil {
		p.refuse(w, r, nil, p.refusedBy(w, over))
		return entry, false
	}
	admission.SetHeaders(w.Header(), entry.State())
	return entry, true
}

func (p *Proxy) serveConversation(w http.ResponseWriter, r *http.Request, at endpoint, principal *access.Principal) {
	began := time.Now()
	untouched.announce(w.Header())
	body, bad := readBody(r, p.opt.MaxBodyBytes)
	if bad != nil {
		p.refuse(w, r, nil, bad)
		return
	}
	defer body.release()
	packed := body
	unpacked, bad := unpackBody(r, packed, p.opt.MaxBodyBytes)
	if bad != nil {
		p.refuse(w, r, nil, bad)
		return
	}
	if unpacked != nil {
		defer unpacked.release()
		body = unpacked
	}
	model, err := chat.Model(body.bytes)
	if err != nil && p.opt.Admission.ReadsModels() {
		p.refuse(w, r, nil, notJSON()) // rules depend on its fields
		return
	}
	to, bad := p.targetOf(model, err == nil, at.format, r)
	if bad != nil {
		p.refuse(w, r, nil, bad)
		return
	}
	told := admission.ToldIn(w.Header())
	permit, bad := p.ask(w, r, principal, model, to)
	if bad != nil {
		p.refuse(w, r, nil, bad)
		return
	}
	x := exchange{p: p, at: at, to: to, tenant: principal.Owner(), who: principal, began: began, effect: untouched, redact: permit.Redact, limits: told}
	x.counts = !at.free && p.opt.Admission.Budget(principal, access.DoorChat) != ""
	size := len(body.bytes)
	defer func() { permit.Done(size, int(x.passed)) }()
	if unpacked != nil {
		x.packed, x.unpacked = packed, unpacked
	}
	var conv *chat.Conversation
	if err == nil { // only admitted requests get memory for their messages
		conv, bad = p.readFor(&x, r, body)
	}
	if bad != nil {
		p.refuse(w, r, nil, bad)
		return
	}
	if redacted := access.Redact(body.bytes, permit.Redact, access.InArguments); len(redacted) > 0 && &redacted[0] != &body.bytes[0] {
		body = grab(len(redacted)) // others may hold the client's own
		body.bytes = append(body.bytes, redacted...)
		defer body.release()
		if conv, bad = p.read(r.Context(), at.format, body); conv == nil {
			p.refuse(w, r, nil, cmp.Or(bad, notJSON()))
			return
		}
	}
	if conv == nil {
		model = ""
	}
	x.asked, x.conv, x.size = modelTarget(model, x.to), conv, size
	x.compacts = at.compacts || conv != nil && conv.Compacts()
	x.replay = at.replay || x.compacts
	x.body = body
	x.run(w, r, x.rewrite(r.Context(), conv, body))
}

// readFor reads the conversation of an exchange. A body that is not strict JSON after its model
// goes to the default provider.
func (p *Proxy) readFor(x *exchange, r *http.Request, body *buffer) (conv *chat.Conversation, bad *failure) {
	conv, bad = p.read(r.Context(), x.at.format, body)
	switch {
	case conv != nil || bad != nil:
	case p.opt.Admission.ReadsModels():
		bad = notJSON()
	default:
		x.to, bad = p.targetOf("", false, x.at.format, r)
	}
	return conv, bad
}

// read parses a request; nil: it is not strict JSON, or parsing panicked. The failure means that it
// takes too much memory.
func (p *Proxy) read(ctx context.Context, format chat.Format, body *buffer) (conv *chat.Conversation, bad *failure) {
	defer func() {
		if v := recover(); v != nil {
			p.trouble(ctx, "reading a request panicked", fmt.Errorf("%v", v))
			conv = nil
		}
	}()
	var from *beginning
	conv, err := format.ReadWithin(body.bytes, func(list []byte) (known chat.Known) {
		known, from = p.begun.find(format, list)
		return known
	}, budget.From(ctx).Grow)
	switch {
	case errors.Is(err, chat.ErrTooMany):
		return nil, tooMany()
	case errors.Is(err, budget.ErrFull):
		return nil, overloaded()
	case err != nil:
		return nil, nil // the provider decides
	}
	p.begun.note(body, conv, from)
	return conv, nil
}

// targetOf returns where a request for a model goes. A body that is not strict JSON has no
// trustworthy model and goes to the default.
func (p *Proxy) targetOf(model string, isJSON bool, format chat.Format, r *http.Request) (target, *failure) {
	to, ok := p.routeIn(format, isSignedIn(r), model)
	switch {
	case !ok && !isJSON:
		return target{}, notJSON()
	case !ok:
		return target{}, p.modelNotFound(model)
	case !to.provider.speaks(format):
		return target{}, wrongFormat(model, to.provider, format)
	case p.isForeign(to.provider, r.Header):
		return target{}, wrongLogin(to.provider)
	}
	return to, nil
}

package upstream

// MCP, "Lifecycle": initialize and its version negotiation; for the modern era server/discover
// (SEP-2575).

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodDiscover    = "server/discover"
)

// errStartTimeout is the cause when a start's context times out.
var errStartTimeout = errors.New("startup timeout")

func (u *Upstream) startupTimeout() time.Duration {
	return orDefault(u.Settings().StartupTimeout, DefaultStartupTimeout)
}

// firstMethod returns the first request sent to a server.
func (u *Upstream) firstMethod() string {
	if u.opt.Settings.Protocol == ProtocolModern {
		return methodDiscover
	}
	return methodInitialize
}

// handshake determines the server's era and sets the connection's peer.
func (s *connection) handshake(ctx context.Context) error {
	protocol := s.u.opt.Settings.Protocol
	if protocol == ProtocolModern {
		return s.discover(ctx)
	}
	err := s.initialize(ctx)
	if err == nil || protocol == ProtocolLegacy || !suggestsModern(err) {
		return err
	}
	// a server that refuses the caller there may well be modern
	if modern := s.discover(ctx); modern == nil || IsUnauthorized(modern) {
		return modern
	}
	return err
}

// IsUnauthorized reports whether the server refused because of missing or wrong credentials.
func IsUnauthorized(err error) bool {
	failed, ok := errors.AsType[*CallError](err)
	return ok && (failed.Kind == LoginRequired || failed.HTTPStatus == http.StatusUnauthorized || failed.HTTPStatus == http.StatusForbidden)
}

// initialize opens a legacy session. If the server refuses the version, it retries with one that
// the server supports.
func (s *connection) initialize(ctx context.Context) error {
	result, err := s.ask(ctx, initializeRequest(s.u, era.LatestLegacy))
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		if version := refused.legacyVersion(); version != "" {
			result, err = s.ask(ctx, initializeRequest(s.u, version))
		}
	}
	if err != nil {
		return err
	}
	peer, err := peerOfInitialize(result)
	if err != nil {
		return s.explain(err)
	}
	s.peer.Store(peer)
	initialized := wire.NewNotification(methodInitialized, nil).Raw
	return s.link.send(ctx, outgoing{message: initialized, method: methodInitialized, patience: s.u.startupTimeout()})
}

// discover asks a modern server about itself.
func (s *connection) discover(ctx context.Context) error {
	result, err := s.ask(ctx, discoverRequest(s.u))
	if err != nil {
		return err
	}
	peer, err := peerOfDiscover(result)
	if err != nil {
		return s.explain(err)
	}
	s.peer.Store(peer)
	return nil
}

// explain wraps a handshake problem in a CallError that keeps its cause.
func (s *connection) explain(err error) error {
	return &handshakeError{s.u.errorf(Invalid, "%v", err), err}
}

type handshakeError struct {
	*CallError
	cause error
}

func (e *handshakeError) Unwrap() []error { return []error{e.CallError, e.cause} }

// ask sends a request of secateur's own. It waits until ctx ends.
func (s *connection) ask(ctx context.Context, req wire.Message) ([]byte, error) {
	c := newCall(req.ID, wire.ID{}, nil)
	c.own, c.greets = true, req.Method != methodPing
	reply, err := s.roundTrip(ctx, &req, c, maxWait)
	if err != nil {
		return nil, err
	}
	if reply.Error != nil {
		return nil, s.refused(req.Method, reply)
	}
	return reply.Result, nil
}

// refusal is a JSON-RPC error in response to a request of secateur's own.
type refusal struct {
	*CallError
	code      int
	supported []string // the versions that the server offers instead
}

func (e *refusal) Unwrap() error { return e.CallError }

func (s *connection) refused(method string, reply *Reply) error {
	var said struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    jsontext.Value `json:"data"`
	}
	var data struct {
		Supported []string `json:"supported"`
	}
	err := json.Unmarshal(reply.Error, &said, lenient())
	if err == nil && json.Unmarshal(said.Data, &data, lenient()) != nil {
		data.Supported = nil // a server may give data any shape
	}
	e := &refusal{s.u.errorf(Invalid, "it answered %s with error %d: %.200s", method, said.Code, said.Message), said.Code, data.Supported}
	e.HTTPStatus = reply.HTTPStatus
	return e
}

// legacyVersion returns a version that both sides support. It is "" if the server named none, or
// only the one we tried.
func (e *refusal) legacyVersion() string {
	for _, v := range era.LegacyVersions()[1:] {
		if slices.Contains(e.supported, v) && !slices.Contains(e.supported, era.LatestModern) {
			return v
		}
	}
	return ""
}

// suggestsModern reports whether a failed initialize may mean that the server has no initialize.
func suggestsModern(err error) bool {
	var refused *refusal
	var version *versionError
	var failed *CallError
	switch {
	case errors.As(err, &version):
		return true
	case errors.As(err, &refused):
		return slices.Contains([]int{
			wire.CodeMethodNotFound, wire.CodeInvalidParams, wire.CodeInvalidRequest,
			era.CodeHeaderMismatch, era.CodeMissingCapability, era.CodeUnsupportedVersion,
		}, refused.code)
	case errors.As(err, &failed):
		return failed.HTTPStatus == 400 || failed.HTTPStatus == 404 || failed.HTTPStatus == 405
	}
	return false
}

// ownID is the id of secateur's own requests before they get their number.
var ownID = wire.StringID("own")

func clientInfo(u *Upstream) []byte {
	o := rawjson.Object{'{'}
	o.Text("name", u.opt.ClientName)
	o.Text("version", u.opt.ClientVersion)
	return append(o, '}')
}

func initializeRequest(u *Upstream, version string) wire.Message {
	params := fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":%s}`, version, u.opt.Capabilities, clientInfo(u))
	return ownRequest(methodInitialize, params)
}

// isObject reports whether raw can be sent as a JSON object; nil counts as an empty one.
func isObject(raw []byte) bool {
	if raw == nil {
		return true
	}
	// it becomes part of a larger document
	s := rawjson.NewScanner(rawjson.Trim(raw), wire.MaxRequestDepth/2)
	s.Unique = true
	isObject := s.Peek() == '{'
	_, err := s.Skip()
	return isObject && err == nil && s.End() == nil
}

func discoverRequest(u *Upstream) wire.Message {
	members, _ := modernMeta(u, nil)
	return ownRequest(methodDiscover, fmt.Sprintf(`{"_meta":{%s}}`, members))
}

func ownRequest(method, params string) wire.Message {
	return wire.NewRequest(ownID, method, []byte(params))
}

// modernMeta returns the params._meta members that a modern request requires and this one lacks. It
// also returns the protocol version that the request then names.
func modernMeta(u *Upstream, has []byte) (members []byte, version string) {
	version = era.LatestModern
	given := map[string]bool{}
	for name, at := range rawjson.Members(has) {
		given[string(name)] = true
		if said, ok := rawjson.Text(at.Of(has)); ok && string(name) == era.MetaVersion {
			version = said
		}
	}
	var lacking rawjson.Object
	add := func(name string, value []byte) {
		if !given[name] {
			lacking.Raw(name, value)
		}
	}
	add(era.MetaVersion, []byte(`"`+era.LatestModern+`"`))
	add(era.MetaCapabilities, []byte(`{}`))
	add(era.MetaClient, clientInfo(u))
	return lacking, version
}

package upstream

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/mcp/era"
)

// Peer is what a server reported about itself. It is immutable.
type Peer struct {
	Era        era.Era
	Protocol   string // the version in use
	ServerName string // serverInfo.name

	said handshakeResult
	raw  []byte // the raw result
}

// handshakeResult has the members of InitializeResult and DiscoverResult that we use. Values stay
// raw.
type handshakeResult struct {
	ProtocolVersion   string                    `json:"protocolVersion,omitzero"`
	SupportedVersions []string                  `json:"supportedVersions,omitzero"`
	Capabilities      jsontext.Value            `json:"capabilities,omitzero"`
	ServerInfo        jsontext.Value            `json:"serverInfo,omitzero"`
	Instructions      jsontext.Value            `json:"instructions,omitzero"`
	Meta              map[string]jsontext.Value `json:"_meta,omitzero"`
}

// InitializeResult returns the server's own initialize result. For a modern server it converts the
// DiscoverResult. The Peer owns the bytes.
func (p *Peer) InitializeResult() []byte {
	if p.Era == era.Legacy {
		return p.raw
	}
	out := struct {
		ProtocolVersion string         `json:"protocolVersion"`
		Capabilities    jsontext.Value `json:"capabilities"`
		ServerInfo      jsontext.Value `json:"serverInfo"`
		Instructions    jsontext.Value `json:"instructions,omitzero"`
	}{era.LatestLegacy, orObject(p.said.Capabilities), p.serverInfo(), p.said.Instructions}
	return mustMarshal(out)
}

// DiscoverResult returns the server's own server/discover result. For a legacy server it converts
// the InitializeResult and names the version that the server speaks.
func (p *Peer) DiscoverResult() []byte {
	if p.Era == era.Modern {
		return p.raw
	}
	out := struct {
		ResultType        string                    `json:"resultType"`
		SupportedVersions []string                  `json:"supportedVersions"`
		Capabilities      jsontext.Value            `json:"capabilities"`
		Instructions      jsontext.Value            `json:"instructions,omitzero"`
		TTL               int                       `json:"ttlMs"`
		CacheScope        string                    `json:"cacheScope"`
		Meta              map[string]jsontext.Value `json:"_meta"`
	}{
		"complete",
		[]string{p.Protocol},
		orObject(p.said.Capabilities), p.said.Instructions, 0, "private",
		map[string]jsontext.Value{era.MetaServer: p.serverInfo()},
	}
	return mustMarshal(out)
}

// Capabilities returns the server's capabilities as raw JSON.
func (p *Peer) Capabilities() []byte { return orObject(p.said.Capabilities) }

// Instructions returns the server's instructions to the model as a JSON string; nil: none.
func (p *Peer) Instructions() []byte { return p.said.Instructions }

func (p *Peer) serverInfo() jsontext.Value {
	info := p.said.ServerInfo
	if p.Era == era.Modern {
		info = p.said.Meta[era.MetaServer]
	}
	if info == nil {
		return jsontext.Value(`{"name":"","version":""}`)
	}
	return info
}

func orObject(v jsontext.Value) jsontext.Value {
	if v == nil {
		return jsontext.Value(`{}`)
	}
	return v
}

// lenient returns the options for reading server messages: only the parts that we use are checked.
func lenient() json.Options {
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

func mustMarshal(v any) []byte {
	b, err := json.Marshal(v, lenient())
	if err != nil {
		panic(err) // cannot happen: raw values that were parsed before, and strings
	}
	return b
}

// peerOfInitialize reads an InitializeResult. It copies the bytes.
func peerOfInitialize(raw []byte) (*Peer, error) {
	p, err := newPeer(era.Legacy, raw)
	if err != nil {
		return nil, err
	}
	p.Protocol = p.said.ProtocolVersion
	if !era.IsLegacy(p.Protocol) {
		return nil, &versionError{p.Protocol}
	}
	return p, nil
}

// peerOfDiscover reads a DiscoverResult. It copies the bytes.
func peerOfDiscover(raw []byte) (*Peer, error) {
	p, err := newPeer(era.Modern, raw)
	if err != nil {
		return nil, err
	}
	p.Protocol = era.LatestModern
	if !slices.Contains(p.said.SupportedVersions, era.LatestModern) {
		return nil, fmt.Errorf("it does not speak protocol version %s", era.LatestModern)
	}
	return p, nil
}

// versionError means that the server chose a version we do not speak.
type versionError struct{ version string }

func (e *versionError) Error() string {
	return fmt.Sprintf("it speaks protocol version %.32q, which this program does not", e.version)
}

func newPeer(era era.Era, raw []byte) (*Peer, error) {
	p := &Peer{Era: era, raw: slices.Clone(raw)}
	if err := json.Unmarshal(p.raw, &p.said, lenient()); err != nil {
		return nil, errors.New("what it said about itself cannot be read")
	}
	var info struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(p.serverInfo(), &info, lenient()) == nil {
		p.ServerName = info.Name
	}
	return p, nil
}

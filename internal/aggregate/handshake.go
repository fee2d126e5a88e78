package aggregate

import (
	"context"
	"slices"

	"secateur/internal/catalog"
	"secateur/internal/era"
	"secateur/internal/pool"
	"secateur/internal/rawjson"
	"secateur/internal/upstream"
)

// initialize makes the session's client.
func (s *session) initialize(ctx context.Context, a asked) reply {
	version := textMember(a.Params, "protocolVersion")
	if !era.IsLegacy(version) {
		version = era.LatestLegacy
	}
	c := &client{
		era: upstream.Legacy, version: version,
		capabilities: ownCapabilities(member(a.Params, "capabilities")),
		name:         textMember(member(a.Params, "clientInfo"), "name"),
	}
	c = s.become(c, true)
	if s.only != "" {
		return s.initializeOnly(ctx, c, a)
	}
	b := append([]byte(`{"protocolVersion":"`), version...)
	b = append(append(b, `","capabilities":`...), aggregateCapabilities...)
	b = append(append(b, `,"serverInfo":`...), s.info...)
	b = s.appendInstructions(ctx, c, b)
	return a.result(append(b, '}'))
}

// aggregateCapabilities are declared at once: a server that comes later must find its client prepared.
const aggregateCapabilities = `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},` +
	`"prompts":{"listChanged":true},"completions":{},"logging":{}}`

// appendInstructions adds the member that joins what the servers say about their use, if any of them does.
func (s *session) appendInstructions(ctx context.Context, c *client, b []byte) []byte {
	if text := s.instructions(ctx, c, s.peers(ctx, c)); text != "" {
		b = rawjson.AppendQuoted(append(b, `,"instructions":`...), text)
	}
	return b
}

func (s *session) peers(ctx context.Context, c *client) []pool.Peer {
	ctx, cancel := context.WithTimeout(ctx, s.opt.GreetingWait)
	defer cancel()
	return c.member.Peers(ctx)
}

func (s *session) instructions(ctx context.Context, c *client, peers []pool.Peer) string {
	var said []catalog.ServerInstructions
	recoverTool := ""
	for _, p := range peers {
		if p.Peer == nil {
			continue
		}
		if text := p.Peer.Instructions(); len(text) > 0 && text[0] == '"' {
			said = append(said, catalog.ServerInstructions{Server: p.Server, Text: rawjson.Unquote(text)})
		}
		if s.opt.Masker != nil && p.Peer.ServerName == prunerName && recoverTool == "" {
			recoverTool = s.recoverTool(ctx, c, p.Server)
		}
	}
	return catalog.Instructions(said, recoverTool)
}

// recoverTool is what this client calls the tool that gives back what was cut.
func (s *session) recoverTool(ctx context.Context, c *client, server string) string {
	ctx, cancel := context.WithTimeout(ctx, s.opt.GreetingWait)
	defer cancel()
	lists, _ := c.member.Catalog(ctx)
	name, _ := c.named(lists).ToolName(server, "recover_text")
	return name
}

// initializeOnly is the one server's own result, in the version that was agreed on with the client.
func (s *session) initializeOnly(ctx context.Context, c *client, a asked) reply {
	peer, failed := s.peerOf(ctx, c)
	if failed != nil {
		return refused(failed)
	}
	version := rawjson.AppendQuoted(nil, c.version)
	return a.result(setMember(peer.InitializeResult(), "protocolVersion", version))
}

// peerOf is what the one server says about itself.
func (s *session) peerOf(ctx context.Context, c *client) (*upstream.Peer, *failure) {
	conn, err := c.member.Conn(ctx, s.only)
	if err != nil {
		return nil, callFailed(ctx, s.only, err)
	}
	peer, err := conn.Peer(ctx)
	if err != nil {
		return nil, callFailed(ctx, s.only, err)
	}
	return peer, nil
}

// discover says what we are to a modern client.
func (s *session) discover(ctx context.Context, c *client, a asked) reply {
	if s.only != "" {
		return s.discoverOnly(ctx, c, a)
	}
	peers := s.peers(ctx, c)
	b := append([]byte(`{"resultType":"complete","supportedVersions":`), versionList()...)
	b = append(b, `,"capabilities":`...)
	b = appendCapabilities(b, peers)
	if text := s.instructions(ctx, c, peers); text != "" {
		b = rawjson.AppendQuoted(append(b, `,"instructions":`...), text)
	}
	b = append(append(b, `,"ttlMs":0,"cacheScope":"private","_meta":{"`+era.MetaServer+`":`...), s.info...)
	return a.result(append(b, "}}"...))
}

// discoverOnly is the one server's own result. A server that speaks only legacy is spoken to through us.
func (s *session) discoverOnly(ctx context.Context, c *client, a asked) reply {
	peer, failed := s.peerOf(ctx, c)
	if failed != nil {
		return refused(failed)
	}
	result := peer.DiscoverResult()
	if peer.Era == upstream.Legacy {
		result = setMember(result, "supportedVersions", versionList())
	}
	return a.result(result)
}

func versionList() []byte {
	b := []byte{'['}
	for i, v := range supportedVersions() {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendQuoted(b, v)
	}
	return append(b, ']')
}

// appendCapabilities adds to what we always have the extensions that some server has in the modern era: those and no
// others are passed through.
func appendCapabilities(b []byte, peers []pool.Peer) []byte {
	b = append(b, aggregateCapabilities[:len(aggregateCapabilities)-1]...)
	var names []string
	var extensions []byte
	for _, p := range peers {
		if p.Peer == nil {
			continue
		}
		eachMember(member(p.Peer.Capabilities(), "extensions"), func(name string, value []byte) {
			if p.Peer.Era == upstream.Legacy && name != extensionUI || slices.Contains(names, name) {
				return
			}
			if len(names) > 0 {
				extensions = append(extensions, ',')
			}
			names = append(names, name)
			extensions = append(append(rawjson.AppendQuoted(extensions, name), ':'), value...)
		})
	}
	if len(names) > 0 {
		b = append(append(append(b, `,"extensions":{`...), extensions...), '}')
	}
	return append(b, '}')
}

// extensionUI is for tools that bring a page to show: it is the same in both eras.
const extensionUI = "io.modelcontextprotocol/ui"

package aggregate

import (
	"context"
	"slices"
	"strings"

	"secateur/internal/access"
	"secateur/internal/cut/mask"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/upstream"
	"secateur/internal/rawjson"
)

// initialize answers the legacy handshake (2025-11-25, basic/lifecycle) and makes the connection's client.
func (s *clientConn) initialize(ctx context.Context, a request) reply {
	version := era.Agreed(rawjson.GetText(a.Params, "protocolVersion"))
	c := &client{
		era: era.Legacy, version: version,
		capabilities: ownCapabilities(rawjson.Get(a.Params, "capabilities")),
		name:         rawjson.GetText(rawjson.Get(a.Params, "clientInfo"), "name"),
	}
	c = s.become(c, true)
	if s.only != "" {
		return s.initializeOnly(ctx, c, a)
	}
	return s.initializeAs(ctx, c, a, c.member.Peers(ctx))
}

// initializeAs is our own result: in the name of all servers, or of the one that has said nothing yet.
func (s *clientConn) initializeAs(ctx context.Context, c *client, a request, peers []pool.Peer) reply {
	o := rawjson.Object{'{'}
	o.Text("protocolVersion", c.version)
	capabilities := aggregateCapabilities
	if c.callsTasks() {
		capabilities = aggregateCapabilities[:len(aggregateCapabilities)-1] + `,"tasks":` + tasksCapability + `}`
	}
	o.Raw("capabilities", []byte(capabilities))
	o.Raw("serverInfo", s.info)
	s.addInstructions(ctx, c, a, peers, &o)
	return a.result(append(o, '}'))
}

// aggregateCapabilities are declared at once: a server that comes later must find its client prepared.
const aggregateCapabilities = `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},` +
	`"prompts":{"listChanged":true},"completions":{},"logging":{}}`

// tasksCapability says that tools can be called as tasks. A list of all servers' tasks there is not.
const tasksCapability = `{"cancel":{},"requests":{"tools":{"call":{}}}}`

// addInstructions adds the member with the known instructions of the servers. No client waits for
// its first answer because a server is slow.
func (s *clientConn) addInstructions(ctx context.Context, c *client, a request, peers []pool.Peer, o *rawjson.Object) {
	if text := s.instructions(ctx, c, a, peers); s.only == "" && text != "" {
		o.Text("instructions", text)
	}
}

func (s *clientConn) instructions(ctx context.Context, c *client, a request, peers []pool.Peer) string {
	now, who := a.now, a.principal
	var said []catalog.ServerInstructions
	var missing []string
	recovery := now.Recovery
	for _, p := range peers {
		if !now.Admission.Sees(who, access.DoorMCP, p.Server) {
			continue
		}
		if p.Peer == nil {
			if p.Err != nil {
				missing = append(missing, p.Server)
			}
			continue
		}
		text, ok := rawjson.Text(p.Peer.Instructions())
		ok = ok && p.Server != now.Recovery // its tools say what they do
		if ok && !now.Admission.HoldsInstructions(ctx, p.Server, text) {
			said = append(said, catalog.ServerInstructions{Server: p.Server, Text: text})
		}
		if recovery == "" && isPruner(p.Peer.ServerName) {
			recovery = p.Server
		}
	}
	if recovery != "" && !a.lists(catalog.Tools, recovery, mask.RecoverTool) {
		recovery = ""
	}
	hints := []string{s.searchHint(c, now)}
	if len(missing) > 0 {
		hints = append(hints, "Not started yet: "+strings.Join(missing, ", ")+". Their tools are missing from lists until then.")
	}
	return catalog.Instructions(said, s.recoverTool(c, now, recovery), strings.TrimSpace(strings.Join(hints, " ")))
}

func isPruner(serverName string) bool { return serverName == mask.PrunerName }

// recoverTool is what this client calls the tool of a server that gives back what was cut; "" where nothing is.
func (s *clientConn) recoverTool(c *client, now *live, server string) string {
	if now.Masker == nil || server == "" {
		return ""
	}
	return s.opt.Pool.Names().ToolName(c.name, c.asked, server, mask.RecoverTool)
}

// initializeOnly is the one server's own result, in its version or an older one of the client. If
// the server says nothing in time, the result is ours: it may have anything.
func (s *clientConn) initializeOnly(ctx context.Context, c *client, a request) reply {
	peer, failed := s.peerInTime(ctx, c)
	switch {
	case failed != nil:
		return refused(failed)
	case peer == nil:
		return s.initializeAs(ctx, c, a, nil)
	}
	agreed := c.version
	if peer.Era == era.Legacy && peer.Protocol < agreed && era.IsLegacy(peer.Protocol) {
		agreed = peer.Protocol // the messages are the server's own
	}
	version := rawjson.AppendQuoted(nil, agreed)
	result := a.now.Admission.Greeting(ctx, s.only, peer.InitializeResult())
	return a.result(rawjson.Set(result, "protocolVersion", version))
}

// peerInTime is what the one server says about itself: to this client, or to another where that takes longer than a
// client waits for its first answer. It is nil where nothing is known yet.
func (s *clientConn) peerInTime(ctx context.Context, c *client) (*upstream.Peer, *failure) {
	inTime, cancel := context.WithTimeout(ctx, s.opt.GreetingTime)
	defer cancel()
	peer, failed := s.peerOf(inTime, c)
	if failed == nil || inTime.Err() == nil || ctx.Err() != nil {
		return peer, failed
	}
	for _, p := range c.member.Peers(inTime) { // without waiting
		return p.Peer, nil
	}
	return nil, failed
}

// peerOf is what the one server says about itself.
func (s *clientConn) peerOf(ctx context.Context, c *client) (*upstream.Peer, *failure) {
	conn, release, err := c.member.Hold(ctx, s.only)
	if err != nil {
		return nil, callFailed(ctx, s.only, err)
	}
	defer release()
	peer, err := conn.Peer(ctx)
	if err != nil {
		return nil, callFailed(ctx, s.only, err)
	}
	return peer, nil
}

// discover answers server/discover (2026-07-28, server/discover): what we are to a modern client.
func (s *clientConn) discover(ctx context.Context, c *client, a request) reply {
	if s.only != "" {
		return s.discoverOnly(ctx, c, a)
	}
	return s.discoverAs(ctx, c, a, c.member.Peers(ctx))
}

// discoverAs is our own result: in the name of all servers, or of the one that has said nothing yet.
func (s *clientConn) discoverAs(ctx context.Context, c *client, a request, peers []pool.Peer) reply {
	o := rawjson.Object{'{'}
	o.Text("resultType", era.Complete)
	o.Texts("supportedVersions", era.Versions())
	o.Raw("capabilities", capabilitiesWith(extensionsOf(peers)))
	s.addInstructions(ctx, c, a, peers, &o)
	o.Int("ttlMs", 0)
	o.Text("cacheScope", "private")
	o.Raw("_meta", s.serverMeta())
	return a.result(append(o, '}'))
}

// discoverOnly is the one server's own result. A server that speaks only legacy is spoken to through us.
func (s *clientConn) discoverOnly(ctx context.Context, c *client, a request) reply {
	peer, failed := s.peerInTime(ctx, c)
	switch {
	case failed != nil:
		return refused(failed)
	case peer == nil:
		return s.discoverAs(ctx, c, a, nil)
	}
	result := a.now.Admission.Greeting(ctx, s.only, peer.DiscoverResult())
	if peer.Era == era.Legacy {
		result = rawjson.Set(result, "supportedVersions", rawjson.AppendTexts(nil, era.Versions()))
	}
	return a.result(result)
}

// serverMeta is the _meta that says who answers.
func (s *Server) serverMeta() []byte {
	o := rawjson.Object{'{'}
	o.Raw(era.MetaServer, s.info)
	return append(o, '}')
}

// capabilitiesWith adds extensions, members of an object, to what we always have.
func capabilitiesWith(extensions []byte) []byte {
	o := rawjson.Object(aggregateCapabilities[:len(aggregateCapabilities)-1])
	if len(extensions) > 0 {
		o.Begin("extensions")
		o = append(o, extensions...)
		o.End()
	}
	return append(o, '}')
}

// extensionsOf are the extensions that some server has in the modern era: those and no others are passed through.
func extensionsOf(peers []pool.Peer) []byte {
	var all rawjson.Object
	var names []string
	for _, p := range peers {
		if p.Peer == nil {
			continue
		}
		extensions := rawjson.Get(p.Peer.Capabilities(), "extensions")
		for key, at := range rawjson.Members(extensions) {
			name := string(key)
			if p.Peer.Era == era.Legacy && name != era.ExtensionUI || slices.Contains(names, name) {
				continue
			}
			names = append(names, name)
			all.Raw(name, at.Of(extensions))
		}
	}
	return all
}

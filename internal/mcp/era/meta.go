package era

import "secateur/internal/rawjson"

// The members of _meta that MCP defines (basic, "General fields").
const (
	prefix = "io.modelcontextprotocol/"

	// MetaPrefix is the common prefix of these names.
	MetaPrefix = prefix

	MetaVersion      = prefix + "protocolVersion"
	MetaCapabilities = prefix + "clientCapabilities"
	MetaClient       = prefix + "clientInfo"
	MetaServer       = prefix + "serverInfo"
	MetaLogLevel     = prefix + "logLevel"
	MetaSubscription = prefix + "subscriptionId"
	MetaRelatedTask  = prefix + "related-task" // legacy only
)

// Meta is the sender's information in a modern request.
type Meta struct {
	Version    string
	HasVersion bool // a version is present, valid or not: the request is modern

	Capabilities []byte // raw object; nil: none
	ClientInfo   []byte // raw object; nil: none
	ClientName   string // from ClientInfo
	LogLevel     string // "": no logs wanted
}

// ReadMeta reads the _meta of a request's params.
func ReadMeta(params []byte) Meta {
	var m Meta
	meta := rawjson.Get(params, "_meta")
	for name, at := range rawjson.Members(meta) {
		value := at.Of(meta)
		switch string(name) {
		case MetaVersion:
			m.HasVersion = true
			m.Version, _ = rawjson.Text(value)
		case MetaCapabilities:
			m.Capabilities = objectOrNil(value)
		case MetaClient:
			m.ClientInfo = objectOrNil(value)
			m.ClientName = rawjson.GetText(m.ClientInfo, "name")
		case MetaLogLevel:
			m.LogLevel, _ = rawjson.Text(value)
		}
	}
	return m
}

func objectOrNil(raw []byte) []byte {
	if !rawjson.IsObject(raw) {
		return nil
	}
	return raw
}

// Missing returns the problem with a modern request's required members as text for people, or "".
func (m Meta) Missing() string {
	switch {
	case !m.HasVersion:
		return "_meta lacks " + MetaVersion
	case m.Version == "":
		return "_meta: " + MetaVersion + " must be a string"
	case m.Capabilities == nil:
		return "_meta: " + MetaCapabilities + " must be an object"
	}
	return ""
}

// WithoutMeta returns params without the _meta members that only modern peers understand. It also
// removes an _meta without other members. If nothing changes, it returns the same slice.
func WithoutMeta(params []byte) []byte {
	return rawjson.RemoveWithin(params, "_meta", MetaVersion, MetaCapabilities, MetaClient, MetaLogLevel)
}

// WithoutSubscription returns a notification's params without the subscription id; the same slice
// if absent.
func WithoutSubscription(params []byte) []byte {
	return rawjson.RemoveWithin(params, "_meta", MetaSubscription)
}

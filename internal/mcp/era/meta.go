package era

import "secateur/internal/rawjson"

// The members of _meta that the protocol has names for (basic, "General fields").
const (
	prefix = "io.modelcontextprotocol/"

	// MetaPrefix is what they begin with.
	MetaPrefix = prefix

	MetaVersion      = prefix + "protocolVersion"
	MetaCapabilities = prefix + "clientCapabilities"
	MetaClient       = prefix + "clientInfo"
	MetaServer       = prefix + "serverInfo"
	MetaLogLevel     = prefix + "logLevel"
	MetaSubscription = prefix + "subscriptionId"
	MetaRelatedTask  = prefix + "related-task" // legacy
)

// Meta is what a modern request tells about its sender.
type Meta struct {
	Version    string
	HasVersion bool // there is a version, whatever it is: the request is a modern one

	Capabilities []byte // raw object, nil where there is none
	ClientInfo   []byte // raw object, nil where there is none
	ClientName   string // of ClientInfo
	LogLevel     string // "" where no logs are wanted
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

// Missing returns what a modern request must have and this one lacks, for a person;
// "" if nothing.
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

// WithoutMeta returns params without what only modern peers understand of _meta,
// and without an _meta that has nothing else; the same slice where there is none of
// it.
func WithoutMeta(params []byte) []byte {
	return rawjson.RemoveWithin(params, "_meta", MetaVersion, MetaCapabilities, MetaClient, MetaLogLevel)
}

// WithoutSubscription returns the params of a notification without the subscription
// that it is for; the same slice where it names none.
func WithoutSubscription(params []byte) []byte {
	return rawjson.RemoveWithin(params, "_meta", MetaSubscription)
}

package wire

import "secateur/internal/rawjson"

// Where a client may put the token for us, beside the params that are the server's.
const proxyToken = "authToken"

// ProxyToken returns params.proxy.authToken, where it is a string.
func (m *Message) ProxyToken() (string, bool) {
	raw := m.rawProxyToken()
	return rawjson.Text(raw)
}

func (m *Message) rawProxyToken() []byte {
	return rawjson.Get(m.at[atProxy].Of(m.Raw), proxyToken)
}

// WithoutProxyToken returns the message without params.proxy.authToken, whatever it
// is, and without a proxy that has nothing else, in a document of its own. A message
// that has none is returned as it is.
func (m *Message) WithoutProxyToken() Message {
	if m.rawProxyToken() == nil {
		return *m
	}
	return m.WithParams(rawjson.RemoveWithin(m.Params, "proxy", proxyToken))
}

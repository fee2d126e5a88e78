package wire

import "secateur/internal/rawjson"

// proxyToken is the member of params.proxy where a client may send its token for secateur. The
// other params are for the server.
const proxyToken = "authToken"

// ProxyToken returns params.proxy.authToken if it is a string.
func (m *Message) ProxyToken() (string, bool) {
	raw := m.rawProxyToken()
	return rawjson.Text(raw)
}

func (m *Message) rawProxyToken() []byte {
	return rawjson.Get(m.at[atProxy].Of(m.Raw), proxyToken)
}

// WithoutProxyToken returns the message without params.proxy.authToken, in a new document. It also
// removes a proxy object that has no other members. A message without the token is returned
// unchanged.
func (m *Message) WithoutProxyToken() Message {
	if m.rawProxyToken() == nil {
		return *m
	}
	return m.WithParams(rawjson.RemoveWithin(m.Params, "proxy", proxyToken))
}

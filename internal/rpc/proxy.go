package rpc

import "slices"

// Where a client may put the token for us, beside the params that are the server's.
const proxyToken = "authToken"

// ProxyToken returns params.proxy.authToken, where it is a string.
func (m *Message) ProxyToken() (string, bool) {
	raw := m.rawProxyToken()
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return stringText(raw), true
}

func (m *Message) rawProxyToken() []byte {
	proxy := m.at[atProxy].of(m.Raw)
	if len(proxy) == 0 || proxy[0] != '{' {
		return nil
	}
	return memberOf(proxy, proxyToken)
}

// WithoutProxyToken returns the message without params.proxy.authToken, whatever it
// is, and without a proxy that has nothing else, in a document of its own. A message
// that has none is returned as it is.
func (m *Message) WithoutProxyToken() Message {
	if m.rawProxyToken() == nil {
		return *m
	}
	params, proxy := m.at[atParams], m.at[atProxy]
	cut, others := withoutMember(proxy.of(m.Raw), proxyToken)
	if others {
		cut = span{proxy.start - params.start + cut.start, proxy.start - params.start + cut.end}
	} else {
		cut, _ = withoutMember(m.Params, "proxy")
	}
	return m.WithParams(slices.Concat(m.Params[:cut.start], m.Params[cut.end:]))
}

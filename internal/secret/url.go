package secret

import (
	"errors"
	"net/url"
	"strings"
)

// URL shows an address without its secrets: the user and password before the host, the query and the fragment. Scheme, host and path stay.
// It reads the text as RFC 3986 does, also where net/url refuses it, as it does a list of hosts.
func URL(address string) string {
	if i := strings.IndexAny(address, "?#"); i >= 0 && i+1 < len(address) {
		address = address[:i+1] + Mask
	}
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		rest = Mask + rest[i:]
	}
	return scheme + "://" + rest
}

// WithoutURL returns why a request failed, without the address that net/http puts before it.
func WithoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

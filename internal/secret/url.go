package secret

import (
	"errors"
	"net/url"
	"strings"
)

// URL returns an address without its secrets: user and password, query and fragment. Scheme, host
// and path stay. It splits the text as RFC 3986 does, even if net/url refuses it, such as a list of
// hosts.
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

// WithoutURL returns the cause of a failed request, without the address that net/http prepends.
func WithoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

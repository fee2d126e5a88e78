package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"secateur/internal/access"
	"secateur/internal/app"
	"secateur/internal/config"
	"secateur/internal/ops/admin"
)

// daemonFlags say which running program a command talks to, and how it answers.
type daemonFlags struct {
	url, file string
	asJSON    bool
}

func (f *daemonFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "url", "", "`address` of the running program (default: $SECATEUR_URL, listen of the configuration, else the socket of a running 'secateur stdio')")
	configFlag(cmd, &f.file)
	jsonFlag(cmd, &f.asJSON)
}

// daemonHelp ends the help of every command that talks to a running program.
const daemonHelp = `

The running program is --url, SECATEUR_URL, the address that the user's configuration listens
on, else the socket of a 'secateur stdio'. Its token is SECATEUR_TOKEN, else auth_token, which
goes to the listener of its own configuration alone. Exit status 4 if none answers.`

// controlClient talks to the control plane of a running program.
type controlClient struct {
	name  string // for messages
	base  string // without the control plane's path
	token string
	http  *http.Client
}

// reach finds the running program.
func (w world) reach(ctx context.Context, f daemonFlags) (*controlClient, error) {
	candidates, err := w.candidates(ctx, f)
	if err != nil {
		return nil, err
	}
	var tried []string
	for _, c := range candidates {
		err := c.greet(ctx)
		if err == nil {
			return c, nil
		}
		tried = append(tried, fmt.Sprintf("%s: %v", c.name, err))
	}
	hint := "start one with 'secateur serve', or name it with --url"
	if _, err := os.Stat(initFile); err == nil && f.file == "" && f.url == "" {
		hint += "; ./" + initFile + " is not looked at, --config names it"
	}
	return nil, exitError{exitUnreachable, fmt.Errorf("no running secateur answers (%s)\n%s", strings.Join(tried, "; "), hint)}
}

// candidates are where the program may be, in the order in which they are asked.
func (w world) candidates(ctx context.Context, f daemonFlags) ([]*controlClient, error) {
	cfg, err := w.load(f.file, "", usersOwn) // a mistake in it must not keep a running program from being asked
	if err != nil {
		return nil, err
	}
	var all []*controlClient
	if own := w.listener(ctx, cfg.Config); own != nil {
		all = append(all, own)
	}
	address := f.url
	if address == "" {
		address, _ = w.lookup("SECATEUR_URL")
	}
	if address != "" {
		c, err := w.programAt(address, all)
		return []*controlClient{c}, err
	}
	for _, path := range w.sockets() {
		all = append(all, &controlClient{name: path, base: "http://secateur", http: newClient(overSocket(path), nil)})
	}
	return all, nil
}

// programAt returns the program at an address: one of our own listeners, with its token and certificate, or another, which is shown
// SECATEUR_TOKEN alone.
func (w world) programAt(address string, own []*controlClient) (*controlClient, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usage("%q is no address of a running program; write http://127.0.0.1:8000", address)
	}
	token, _ := w.lookup("SECATEUR_TOKEN")
	for _, c := range own {
		if names(u, c.base) {
			c.token = cmp.Or(c.token, token)
			return c, nil
		}
	}
	return &controlClient{name: address, base: strings.TrimSuffix(address, "/"), token: token, http: newClient(nil, nil)}, nil
}

// names reports whether a URL names a listener, given as scheme, host and port. "localhost" stands for any loopback address. The caller then
// uses the listener's address: at another loopback address another user may listen on the same port.
func names(u *url.URL, listener string) bool {
	own, err := url.Parse(listener)
	if err != nil || u.Scheme != own.Scheme || strings.Trim(u.Path, "/") != "" {
		return false
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	host, ownHost := strings.ToLower(u.Hostname()), strings.ToLower(own.Hostname())
	localhost := (host == "localhost" || ownHost == "localhost") && access.IsLoopback(host) && access.IsLoopback(ownHost)
	return port == own.Port() && (host == ownHost || localhost)
}

// tokenFor returns the token for the listener of a configuration.
func (w world) tokenFor(cfg *config.Config) string {
	if token, given := w.lookup("SECATEUR_TOKEN"); given {
		return token
	}
	return cfg.AuthToken.Reveal()
}

// listener is the program that listens where a configuration says; nil: that is not on this machine.
func (w world) listener(ctx context.Context, cfg *config.Config) *controlClient {
	host, port, err := net.SplitHostPort(cfg.Listen)
	if err != nil {
		return nil
	}
	if host = onThisMachine(ctx, host); host == "" {
		return nil
	}
	c := &controlClient{name: "http://" + net.JoinHostPort(host, port), token: w.tokenFor(cfg), http: newClient(nil, nil)}
	if cfg.TLS.Cert != "" {
		c.name = "https" + strings.TrimPrefix(c.name, "http")
		c.http = newClient(nil, ownCertificate(cfg.TLS.In(cfg.Dir()).Cert))
	}
	c.base = c.name
	return c
}

// sockets are those of programs on a pipe, the newest first.
func (w world) sockets() []string {
	if w.stateDir == "" {
		return nil
	}
	return newestFirst(filepath.Join(w.stateDir, app.SocketDir, "*.sock"))
}

// newestFirst are the files of a pattern, the newest first.
func newestFirst(pattern string) []string {
	all, _ := filepath.Glob(pattern)
	when := func(path string) time.Time {
		info, err := os.Stat(path)
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	slices.SortFunc(all, func(a, b string) int { return when(b).Compare(when(a)) })
	return all
}

type dial func(ctx context.Context, network, address string) (net.Conn, error)

func overSocket(path string) dial {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
}

// newClient is for one program: no proxy, no redirects to anybody else.
func newClient(dial dial, conf *tls.Config) *http.Client {
	if dial == nil {
		dial = (&net.Dialer{Timeout: 2 * time.Second}).DialContext
	}
	return &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, DialContext: dial, TLSClientConfig: conf},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ownCertificate accepts the certificate of a file and no other: whoever asks may use an address that is not in it.
func ownCertificate(file string) *tls.Config {
	return &tls.Config{
		InsecureSkipVerify: true, //nolint:gosec // it is compared below
		VerifyConnection: func(s tls.ConnectionState) error {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			own, err := firstCertificate(data)
			if err != nil {
				return err
			}
			if len(s.PeerCertificates) == 0 || !own.Equal(s.PeerCertificates[0]) {
				return fmt.Errorf("it shows another certificate than %s", file)
			}
			return nil
		},
	}
}

// greet finds out whether a control plane answers.
func (c *controlClient) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	res, err := c.send(ctx, http.MethodGet, "/whoami", nil, nil)
	if err != nil {
		return plainCause(err)
	}
	defer res.Body.Close()
	if kind := res.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") && !strings.HasPrefix(kind, "application/problem+json") {
		return errors.New("another program answers there")
	}
	return nil
}

// plainCause is why nothing answers, without the address, which is said already.
func plainCause(err error) error {
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

func (c *controlClient) send(ctx context.Context, method, path string, body []byte, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+admin.Base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if header != nil {
		req.Header = header
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("X-Secateur-Token", c.token)
	}
	return c.http.Do(req)
}

// do asks and returns the answer's body. A refusal is a *admin.Problem.
func (c *controlClient) do(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	res, err := c.send(ctx, method, path, body, nil)
	if err != nil {
		return nil, exitError{exitUnreachable, fmt.Errorf("%s: %w", c.name, plainCause(err))}
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: the answer ended early: %w", c.name, err)
	}
	if res.StatusCode >= http.StatusBadRequest {
		return nil, c.refused(res.StatusCode, answer)
	}
	return answer, nil
}

// refused is why the program does not answer.
func (c *controlClient) refused(status int, body []byte) error {
	p := &admin.Problem{}
	if err := json.Unmarshal(body, p); err != nil || p.Status == 0 {
		return fmt.Errorf("%s answers with HTTP %d", c.name, status)
	}
	if status == http.StatusUnauthorized {
		p.Hint = "set SECATEUR_TOKEN to a token with the role admin"
	}
	return p
}

// get asks for an answer and decodes it.
func get[T any](ctx context.Context, c *controlClient, path string) (value T, raw []byte, err error) {
	if raw, err = c.do(ctx, http.MethodGet, path, nil); err == nil {
		err = json.Unmarshal(raw, &value)
	}
	return value, raw, err
}

// all asks for every page of a list. The raw answer is that of a list in one page.
func all[T any](ctx context.Context, c *controlClient, path string) (items []T, raw []byte, err error) {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	path += separator + "limit=1000"
	whole := struct {
		Items []json.RawMessage `json:"items"`
		Next  *string           `json:"next"`
	}{Items: []json.RawMessage{}}
	for cursor := ""; ; {
		page, _, err := get[admin.Page[json.RawMessage]](ctx, c, path+cursor)
		if err != nil {
			return nil, nil, err
		}
		whole.Items = append(whole.Items, page.Items...)
		if page.Next == nil {
			break
		}
		cursor = "&cursor=" + url.QueryEscape(*page.Next)
	}
	items = make([]T, len(whole.Items))
	for i, item := range whole.Items {
		if err := json.Unmarshal(item, &items[i]); err != nil {
			return nil, nil, err
		}
	}
	raw, err = json.Marshal(whole)
	return items, append(raw, '\n'), err
}

// unknownServer adds the nearest id to a refusal that does not know one.
func (c *controlClient) unknownServer(ctx context.Context, id string, err error) error {
	p, ok := errors.AsType[*admin.Problem](err)
	if !ok || p.Code != admin.CodeUnknownServer {
		return err
	}
	servers, _, failed := all[admin.Server](ctx, c, "/servers")
	if failed != nil {
		return err
	}
	var ids []string
	for _, s := range servers {
		ids = append(ids, s.ID)
	}
	near := didYouMean(id, ids, "")
	if near == "" {
		near = "; known are: " + strings.Join(ids, ", ")
	}
	return fmt.Errorf("there is no server %q%s", id, near)
}

// firstCertificate is that of a PEM file which a server shows.
func firstCertificate(data []byte) (*x509.Certificate, error) {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			return x509.ParseCertificate(block.Bytes)
		}
	}
	return nil, errors.New("there is no certificate in it")
}

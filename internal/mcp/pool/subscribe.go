// Subscriptions: protocol revisions up to 2025-11-25, resources/subscribe and
// resources/unsubscribe, refcounted.

package pool

import (
	"context"
	"errors"

	"secateur/internal/mcp/era"
	"secateur/internal/rawjson"
)

// errMoved means that the member has moved to another connection.
var errMoved = errors.New("the member uses another connection now")

// Subscribe requests updates of a resource, by the server's own URI, and returns when the server
// has agreed. The member's Observer gets the updates until Unsubscribe or Leave, even after a
// restart of the server. The error is one of Conn's or of a call's, a *ServerError if the server
// refused, or ErrTooMany. An error leaves everything unchanged.
func (m *Member) Subscribe(ctx context.Context, server, uri string) error {
	for {
		c, release, err := m.Hold(ctx, server)
		if err != nil {
			return err
		}
		if _, err = c.up.Peer(ctx); err == nil {
			err = c.subscribe(ctx, m, uri)
		}
		release()
		if !errors.Is(err, errMoved) {
			return err
		}
	}
}

// Unsubscribe ends a subscription. The error is ErrUnknownServer or ctx's own.
func (m *Member) Unsubscribe(ctx context.Context, server, uri string) error {
	s, err := m.find(server)
	if err != nil {
		return err
	}
	c := m.at(s)
	if c == nil {
		return nil
	}
	sub := c.fanout.unsubscribe(m, uri)
	if sub == nil {
		return nil
	}
	if eraOf(c.peer.Load()) == era.Modern {
		c.listens.change()
		return nil
	}
	return m.wait(ctx, c.tellSubscription(sub))
}

// subscribe adds a member to the subscribers of a resource, if the server agrees.
func (c *Conn) subscribe(ctx context.Context, m *Member, uri string) error {
	sub, twice, err := c.fanout.subscribe(m, uri)
	if err != nil {
		return err
	}
	if eraOf(c.peer.Load()) == era.Modern {
		err = c.heard(ctx, uri)
	} else if told, _ := c.fanout.isTold(sub); !told {
		if err = m.wait(ctx, c.tellSubscription(sub)); err == nil {
			told, err = c.fanout.isTold(sub)
			if !told && err == nil {
				err = ErrOver
			}
		}
	}
	if err != nil && !twice && c.fanout.unsubscribe(m, uri) != nil {
		c.resubscribe()
	}
	return err
}

// resubscribe tells the server the subscriptions of its members that it does not know yet.
func (c *Conn) resubscribe() {
	if eraOf(c.peer.Load()) == era.Modern {
		c.listens.change()
		return
	}
	for _, sub := range c.fanout.untold() {
		c.tellSubscription(sub)
	}
}

func (c *Conn) tellSubscription(sub *subscription) <-chan struct{} {
	return sub.telling.ask(c.jobs, func(ctx context.Context) { c.agree(ctx, sub) })
}

// agree tells the server about a subscription or its end, if needed.
func (c *Conn) agree(ctx context.Context, sub *subscription) {
	want, session := c.fanout.wants(sub)
	if !want.differs {
		return
	}
	method := "resources/unsubscribe"
	if want.subscribed {
		method = "resources/subscribe"
	}
	params := rawjson.AppendQuoted([]byte(`{"uri":`), sub.uri)
	_, err := c.ask(ctx, method, append(params, '}'))
	if err != nil && ctx.Err() == nil {
		c.pool.log.DebugContext(ctx, "subscription not changed", "server", c.ID(), "method", method, "err", err)
	}
	c.fanout.agreed(sub, want.subscribed, session, err)
}

// wanted is what a server should know about a subscription.
type wanted struct {
	subscribed bool // to the resource
	differs    bool // from what the server knows
}

func (s *subscription) wanted() wanted {
	want := len(s.members) > 0
	return wanted{subscribed: want, differs: want != s.told}
}

func (a *fanout) wants(sub *subscription) (wanted, int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tidy(sub)
	return sub.wanted(), a.session
}

// agreed records the server's answer about a subscription, if its session is still the same.
func (a *fanout) agreed(sub *subscription, subscribed bool, session int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.session == session {
		sub.told, sub.err = subscribed && err == nil, err
	}
	a.tidy(sub)
}

// tidy drops a subscription without members that the server does not know. The caller holds mu.
func (a *fanout) tidy(sub *subscription) {
	if len(sub.members) == 0 && !sub.told && a.subs[sub.uri] == sub {
		delete(a.subs, sub.uri)
	}
}

func (a *fanout) isTold(sub *subscription) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return sub.told, sub.err
}

// untold returns the subscriptions that the server does not know correctly.
func (a *fanout) untold() (subs []*subscription) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, sub := range a.subs {
		if len(sub.members) == 0 || !sub.told {
			subs = append(subs, sub)
		}
	}
	return subs
}

package events

import (
	"encoding/json"
	"fmt"
	"time"
)

// Own gives what has happened here since the place of the subscription, at once, and leaves out what other replicas have told.
func (s *Subscription) Own() (batch Batch) {
	f := s.feed
	if f == nil {
		return Batch{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if first := f.oldest(); s.seen+1 < first {
		batch.Gap, batch.Lost = true, first-1-s.seen
		s.seen = first - 1
	}
	for ; s.seen < f.last; s.seen++ {
		if e := &f.ring[f.index(s.seen+1)]; e.id == "" {
			batch.Events = append(batch.Events, f.event(e))
		}
	}
	return batch
}

// Receive adds an event that has happened at another replica, under the id that it has there.
func (f *Feed) Receive(replica string, e Event) {
	if f == nil || e.ID == "" {
		return
	}
	s := slot{id: e.ID, at: e.At, data: at(replica, e.Data)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if r, ok := s.data.(Request); ok {
		s.request, s.data = r, nil
		f.append(&s)
		return
	}
	f.append(&s)
	f.lists[s.data.Type()].append(s)
}

// at says where something has happened.
func at(replica string, d Data) Data {
	switch v := d.(type) {
	case Request:
		v.Replica = replica
		return v
	case Cut:
		v.Replica = replica
		return v
	case Server:
		v.Replica = replica
		return v
	case Refusal:
		v.Replica = replica
		return v
	case Reload:
		v.Replica = replica
		return v
	case Log:
		v.Replica = replica
		return v
	case Gap:
		v.Replica = replica
		return v
	}
	return d
}

// message is an event on its way to other replicas. Of how a text was cut only what is no content goes along.
type message struct {
	ID     string          `json:"id"`
	At     time.Time       `json:"at"`
	Type   Type            `json:"type"`
	Data   json.RawMessage `json:"data"`
	Reason string          `json:"reason,omitempty"`
	Parts  []Part          `json:"parts,omitempty"`
}

// maxParts bounds how many parts of a cut are told to other replicas.
const maxParts = 256

// Marshal writes an event for other replicas.
func Marshal(e Event) ([]byte, error) {
	m := message{ID: e.ID, At: e.At, Type: e.Type}
	var err error
	if m.Data, err = json.Marshal(e.Data); err != nil {
		return nil, err
	}
	if c, ok := e.Data.(Cut); ok && c.How != nil {
		m.Reason = c.How.Reason
		if len(c.How.Parts) <= maxParts {
			m.Parts = c.How.Parts
		}
	}
	return json.Marshal(m)
}

// Unmarshal reads what Marshal has written. A type that this version does not know is an error.
func Unmarshal(b []byte) (e Event, err error) {
	var m message
	if err := json.Unmarshal(b, &m); err != nil {
		return e, err
	}
	e = Event{ID: m.ID, At: m.At, Type: m.Type}
	switch m.Type {
	case TypeRequest:
		e.Data, err = read[Request](m.Data)
	case TypeCut:
		var c Cut
		c, err = read[Cut](m.Data)
		if m.Reason != "" || m.Parts != nil {
			c.How = &Removal{Reason: m.Reason, Parts: m.Parts}
		}
		e.Data = c
	case TypeServer:
		e.Data, err = read[Server](m.Data)
	case TypeRefusal:
		e.Data, err = read[Refusal](m.Data)
	case TypeReload:
		e.Data, err = read[Reload](m.Data)
	case TypeLog:
		e.Data, err = read[Log](m.Data)
	case TypeGap:
		e.Data, err = read[Gap](m.Data)
	default:
		err = fmt.Errorf("events of the type %q are not known", m.Type)
	}
	return e, err
}

func read[T any](b []byte) (v T, err error) {
	err = json.Unmarshal(b, &v)
	return v, err
}

package events

import (
	"encoding/json"
	"fmt"
	"time"
)

// Own returns this replica's events since the cursor, without waiting. It skips events of other
// replicas.
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

// Receive adds an event of another replica, with its id from there.
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

// at sets the replica of an event.
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

// message is an event for other replicas. For a cut, it omits contents.
type message struct {
	ID     string          `json:"id"`
	At     time.Time       `json:"at"`
	Type   Type            `json:"type"`
	Data   json.RawMessage `json:"data"`
	Reason string          `json:"reason,omitempty"`
	Parts  []Part          `json:"parts,omitempty"`
}

// maxParts limits the parts of a cut that are sent to other replicas.
const maxParts = 256

// Marshal encodes an event for other replicas.
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

// Unmarshal decodes the output of Marshal. An unknown type is an error.
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

package chat

import (
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"slices"

	"secateur/internal/llm/bill"
)

// Record is what was sent before: how the messages of one request went out in its lane, and
// what the lane had cost by then. It is kept under the lane and the key of that
// request's last message. A conversation that goes on from there finds it again,
// and so does every branch of it.
type Record struct {
	Messages int    // how many the request had
	Cached   int    // of these, how many the provider's cache may have: fewer where it was not answered
	Time     int64  // when it went out, Unix seconds
	Cuts     []Sent // in the order of the messages
	Off      bool   // rewriting has lost money here so far: nothing more is cut while that is so
	Judged   bool   // no result that went out masked reports an error
	Engine   uint64 // what has pruned its first cuts; see [Pruning.Engine]
	Account  bill.Account
	Bill     Bill
}

// Sent is a result that did not go out whole.
type Sent struct {
	Message int
	Kind    Kind
	ID      string    // of its original
	Removed bill.Size // of what was taken out

	// Unsure tells that the original was still on its way when the record was written: the result may have gone out so, or whole, or not at all. Such a
	// cut is written without its ID, which the text gives again. The record that follows, with what the request has cost, is sure.
	Unsure bool

	// Refused tells that no request with it in this form was answered: the provider's cache has it with Was taken out.
	Refused bool
	Was     bill.Size
}

// Bill is what a conversation has cost so far, in all lanes that it came through, in dollars;
// where the price of input is not known, in tokens.
type Bill struct{ Spent, Saved float64 }

func (b Bill) plus(c Bill) Bill { return Bill{Spent: b.Spent + c.Spent, Saved: b.Saved + c.Saved} }

// Ratio is what was spent over what passing through would have cost.
func (b Bill) Ratio() float64 { return bill.Ratio(b.Spent, b.Saved) }

// Kind says what was done to a result.
type Kind uint8

// What can be done to a result.
const (
	Whole Kind = iota
	Pruned
	Masked
)

// recordVersion changes with the form below. Records outlive the program that wrote them: the forms before are read,
// too; a record of any other version is as good as none.
const (
	recordVersion      = 7
	grainRecordVersion = 6 // without what a byte pair encoding makes of texts
	plainRecordVersion = 5 // without the grain of the cache
	lastRecordVersion  = 2 // without the engine, and with other sizes
)

// perCut is about how many bytes a cut takes.
const perCut = 80

const (
	flagOff    = 1
	flagJudged = 2
	flagUnsure = 4 // cuts without an ID are unsure; who does not know the flag takes them to have been sent

	flagRefused = 8 // the record ends with what the cache lacks of each cut
)

// AppendBinary appends a compact form of the record.
func (r *Record) AppendBinary(dst []byte) ([]byte, error) {
	dst = slices.Grow(dst, 256+perCut*len(r.Cuts))
	dst = append(dst, recordVersion)
	dst = binary.AppendUvarint(dst, uint64(r.Messages)) //nolint:gosec // a count
	dst = binary.AppendUvarint(dst, uint64(r.Cached))   //nolint:gosec // a count
	dst = binary.AppendVarint(dst, r.Time)
	flags := byte(0)
	if r.Off {
		flags |= flagOff
	}
	if r.Judged {
		flags |= flagJudged
	}
	if slices.ContainsFunc(r.Cuts, func(c Sent) bool { return c.Unsure }) {
		flags |= flagUnsure
	}
	isRefused := slices.ContainsFunc(r.Cuts, func(c Sent) bool { return c.Refused })
	if isRefused {
		flags |= flagRefused
	}
	dst = append(dst, flags)
	dst = binary.LittleEndian.AppendUint64(dst, r.Engine)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(r.Bill.Spent))
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(r.Bill.Saved))
	dst, err := r.Account.AppendBinary(dst)
	dst = binary.AppendUvarint(dst, uint64(len(r.Cuts)))
	last := 0
	for _, c := range r.Cuts {
		dst = binary.AppendUvarint(dst, uint64(c.Message-last)) //nolint:gosec // in the order of the messages
		last = c.Message
		dst = append(dst, byte(c.Kind))
		var bad error
		dst, bad = c.Removed.AppendBinary(dst)
		err = errors.Join(err, bad)
		if c.Unsure {
			c.ID = ""
		}
		dst = binary.AppendUvarint(dst, uint64(len(c.ID)))
		dst = append(dst, c.ID...)
	}
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(r.Account.Grain))
	dst = r.Account.AppendPairs(dst)
	for _, c := range r.Cuts {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(c.Removed.Pairs))
	}
	if isRefused {
		var bad error
		dst, bad = r.appendRefused(dst)
		err = errors.Join(err, bad)
	}
	return dst, err
}

// appendRefused appends which cuts were refused, and what the cache lacks of them.
func (r *Record) appendRefused(dst []byte) ([]byte, error) {
	var err error
	for _, c := range r.Cuts {
		if !c.Refused {
			dst = append(dst, 0)
			continue
		}
		var bad error
		dst, bad = c.Was.AppendBinary(append(dst, 1))
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(c.Was.Pairs))
		err = errors.Join(err, bad)
	}
	return dst, err
}

var errRecord = errors.New("not a record")

// UnmarshalBinary reads what AppendBinary has written.
func (r *Record) UnmarshalBinary(b []byte) error {
	d := decoder{b: b}
	var out Record
	version := d.byte()
	switch version {
	case recordVersion, grainRecordVersion, plainRecordVersion, lastRecordVersion:
	default:
		return errRecord
	}
	out.Messages = d.count(math.MaxInt32)
	out.Cached = d.count(out.Messages)
	out.Time = d.varint()
	flags := d.byte()
	out.Off, out.Judged = flags&flagOff != 0, flags&flagJudged != 0
	removed := d.lastSize
	if version != lastRecordVersion {
		out.Engine = d.word()
		out.Bill = Bill{Spent: d.float(), Saved: d.float()}
		d.part(out.Account.Decode)
		removed = func() (s bill.Size) { d.part(s.Decode); return s }
	} else {
		d.lastAccount(&out)
	}
	n := d.count(len(d.b))
	if n > 0 {
		out.Cuts = make([]Sent, 0, n)
	}
	ids, last := string(d.b), 0 // one string for all
	for range n {
		c := Sent{Message: last + d.count(math.MaxInt32), Kind: Kind(d.byte()), Removed: removed()}
		id := len(d.take(d.count(len(b))))
		if d.bad || c.Message >= out.Messages || c.Kind > Masked {
			return errRecord
		}
		last = c.Message
		end := len(ids) - len(d.b)
		c.ID, c.Unsure = ids[end-id:end], id == 0 && flags&flagUnsure != 0
		out.Cuts = append(out.Cuts, c)
	}
	if version >= grainRecordVersion {
		out.Account.Grain = d.float()
	}
	if version == recordVersion {
		d.part(out.Account.DecodePairs)
		for i := range out.Cuts {
			out.Cuts[i].Removed.Pairs = d.float()
		}
	}
	if flags&flagRefused != 0 {
		d.refused(out.Cuts)
	}
	if d.bad || len(d.b) > 0 {
		return errRecord
	}
	*r = out
	return nil
}

// refused reads what appendRefused has written.
func (d *decoder) refused(cuts []Sent) {
	for i := range cuts {
		if d.byte() == 0 {
			continue
		}
		cuts[i].Refused = true
		d.part(cuts[i].Was.Decode)
		cuts[i].Was.Pairs = d.float()
	}
}

// decoder takes a record apart; once something is missing it is bad for good.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) take(n int) []byte {
	if d.bad || n > len(d.b) {
		d.bad = true
		return nil
	}
	p := d.b[:n]
	d.b = d.b[n:]
	return p
}

// part has someone else read what comes next.
func (d *decoder) part(decode func([]byte) ([]byte, bool)) {
	rest, ok := decode(d.b)
	d.bad = d.bad || !ok
	d.b = rest
}

// lastAccount reads what an account was in the form before. How the provider counts it learns anew.
func (d *decoder) lastAccount(r *Record) {
	a := &r.Account
	r.Bill = Bill{Spent: d.float(), Saved: d.float()}
	a.Spent, a.Kept, a.Cut, a.Owed, a.Claimed = d.float(), d.float(), d.lastSize(), d.float(), d.float()
	a.Last.Input, a.Last.Removed = d.float(), d.lastSize()
	a.Scale.Guess = bill.Weights{Tokens: d.float(), Digits: d.float(), Signs: d.float()}
	const products = 9
	for range products {
		d.float()
	}
	a.Last.Pieces = d.count(math.MaxInt32)
}

// lastSize reads a size in the form before, which did not have the bytes.
func (d *decoder) lastSize() bill.Size {
	const perToken = 3.6
	s := bill.Size{Tokens: d.float(), Digits: d.float(), Signs: d.float()}
	s.Bytes = perToken * s.Tokens
	return s
}

func (d *decoder) byte() byte {
	if p := d.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (d *decoder) word() uint64 {
	p := d.take(8)
	if p == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(p)
}

func (d *decoder) float() float64 {
	f := math.Float64frombits(d.word())
	if math.IsNaN(f) || math.IsInf(f, 0) {
		d.bad = true
	}
	return f
}

func (d *decoder) count(most int) int {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > uint64(most) { //nolint:gosec // most is a length
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return int(v) //nolint:gosec // bounded above
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

// Place is where a record of an earlier request may be found.
type Place struct {
	Key      Key
	Messages int // how many the earlier request had
}

// Key names the whole conversation: what this request sends is kept under it.
func (c *Conversation) Key() Key { return c.key(len(c.Messages)) }

// Places are where earlier requests of this conversation may have left their records, the
// longest first. A request ends with any message: most end where an answer begins, but a
// client may also drop the answer, or say something more.
func (c *Conversation) Places() iter.Seq2[int, Place] {
	return func(yield func(int, Place) bool) {
		for i := len(c.Messages); i > 0; i-- {
			if !yield(len(c.Messages)-i, Place{c.key(i), i}) {
				return
			}
		}
	}
}

// key names the conversation up to so many of its messages.
func (c *Conversation) key(messages int) Key {
	if c.chain == nil {
		c.chain = make([]digest, 1, len(c.Messages)+1)
		d := newDigest()
		c.chain[0] = d
		for i := range c.Messages {
			d.take(c.Messages[i].digest)
			c.chain = append(c.chain, d)
		}
	}
	return c.chain[messages].sum()
}

package chat

import (
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"slices"

	"secateur/internal/llm/bill"
)

// Record holds what was sent before: how the messages of one request were sent in its lane, and the
// lane's cost up to then. It is stored under the lane and the key of that request's last message. A
// conversation that continues from there finds it, and so does every branch.
type Record struct {
	Messages int // number of messages in the request
	// Number of these that the provider's cache may have: fewer if it was not answered.
	Cached  int
	Time    int64  // when it was sent, Unix seconds
	Cuts    []Sent // in message order
	Off     bool   // rewriting has lost money so far: cut nothing more while that is so
	Judged  bool   // no masked result reports an error
	Engine  uint64 // the engine of its first cuts; see [Pruning.Engine]
	Account bill.Account
	Bill    Bill
}

// Sent is a result that was not sent whole.
type Sent struct {
	Message int
	Kind    Kind
	ID      string    // of its original
	Removed bill.Size // removed text

	// Unsure means that the original was still being stored when the record was written. The result
	// may have been sent like this, or whole, or not at all. Such a cut is written without its ID,
	// which follows from the text. The next record, with the request's cost, is sure.
	Unsure bool

	// Refused means that no request with this form was answered: the provider's cache has it with
	// Was removed.
	Refused bool
	Was     bill.Size
}

// Bill is the cost of a conversation so far, in all its lanes, in dollars; in tokens if the input
// price is unknown.
type Bill struct{ Spent, Saved float64 }

func (b Bill) plus(c Bill) Bill { return Bill{Spent: b.Spent + c.Spent, Saved: b.Saved + c.Saved} }

// Ratio returns the amount spent divided by the pass-through cost.
func (b Bill) Ratio() float64 { return bill.Ratio(b.Spent, b.Saved) }

// Range returns an interval that holds the true ratio with about 95 %.
func (r *Record) Range() (low, high float64) { return r.Account.Range(r.Bill.Spent, r.Bill.Saved) }

// Kind says what was done to a result.
type Kind uint8

// The forms of a result.
const (
	Whole Kind = iota
	Pruned
	Masked
)

// recordVersion changes with the format below. Records outlive the program that wrote them, so
// earlier formats are read too. A record of any other version is ignored.
const (
	recordVersion      = 7
	grainRecordVersion = 6 // without pairs
	plainRecordVersion = 5 // without the cache's grain
	lastRecordVersion  = 2 // without the engine, and with other sizes
)

// perCut is the approximate number of bytes per cut.
const perCut = 80

const (
	flagOff    = 1
	flagJudged = 2
	flagUnsure = 4 // cuts without an ID are unsure; a reader without this flag takes them for sent

	flagRefused = 8  // what the cache lacks of each cut follows
	flagGuessed = 16 // the record ends with what was spent and not counted
)

// AppendBinary appends a compact encoding of the record.
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
	if r.Account.Guessed != 0 {
		flags |= flagGuessed
	}
	dst = append(dst, flags)
	dst = binary.LittleEndian.AppendUint64(dst, r.Engine)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(r.Bill.Spent))
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(r.Bill.Saved))
	dst, err := r.Account.AppendBinary(dst)
	dst = binary.AppendUvarint(dst, uint64(len(r.Cuts)))
	last := 0
	for _, c := range r.Cuts {
		dst = binary.AppendUvarint(dst, uint64(c.Message-last)) //nolint:gosec // sorted by message
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
	if r.Account.Guessed != 0 {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(r.Account.Guessed))
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

// UnmarshalBinary reads what AppendBinary wrote.
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
	if flags&flagGuessed != 0 {
		out.Account.Guessed = d.float()
	}
	if d.bad || len(d.b) > 0 {
		return errRecord
	}
	*r = out
	return nil
}

// refused reads what appendRefused wrote.
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

// decoder reads the parts of a record. After the first missing part it stays bad.
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

// part lets decode read the next part.
func (d *decoder) part(decode func([]byte) ([]byte, bool)) {
	rest, ok := decode(d.b)
	d.bad = d.bad || !ok
	d.b = rest
}

// lastAccount reads an account in the previous format. It learns again how the provider counts.
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

// lastSize reads a size in the previous format, which lacked the bytes.
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
	Messages int // number of messages in the earlier request
}

// Key identifies the whole conversation: this request's record is stored under it.
func (c *Conversation) Key() Key { return c.key(len(c.Messages)) }

// Places returns where earlier requests of this conversation may have left their records, longest
// first. A request can end with any message: most end where an answer begins, but a client may also
// drop the answer or say more.
func (c *Conversation) Places() iter.Seq2[int, Place] {
	return func(yield func(int, Place) bool) {
		for i := len(c.Messages); i > 0; i-- {
			if !yield(len(c.Messages)-i, Place{c.key(i), i}) {
				return
			}
		}
	}
}

// key identifies the conversation up to that many messages.
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

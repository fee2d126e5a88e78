package replay

import (
	"sort"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/llm/chat"
)

// beginning is the list of messages of the last request. The next request usually starts with it,
// so only the new messages are read, as in the proxy.
type beginning struct {
	list  []byte
	known chat.Known
}

// read reads the body of a request.
func (b *beginning) read(f chat.Format, body []byte) (*chat.Conversation, error) {
	conv, err := f.ReadOn(body, func(list []byte) chat.Known {
		same, all := sameBytes(b.list, list), b.known.Messages
		return b.known.First(sort.Search(len(all), func(i int) bool { return all[i].End() > same }))
	})
	if err != nil {
		return nil, err
	}
	b.list, b.known = b.list[:0], conv.Known()
	if n := len(conv.Messages); n > 0 {
		b.list = append(b.list, conv.List()[:conv.Messages[n-1].End()]...)
	}
	return conv, nil
}

// list returns the messages or items of a conversation as written. One of them may hold several
// results.
func list(conv *chat.Conversation) []jsontext.Value {
	all := make([]jsontext.Value, 0, len(conv.Messages))
	end := 0
	for i := range conv.Messages {
		if raw := conv.Raw(i); conv.Messages[i].End() != end {
			all, end = append(all, raw), conv.Messages[i].End()
		}
	}
	return all
}

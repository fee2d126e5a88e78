package proxy

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"secateur/internal/llm/chat"
)

// request is a chat request with messages of about a thousand bytes. From the given message on, the
// texts are those of another conversation.
func request(messages, from int, other string) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"m","messages":[`)
	for i := range messages {
		if i > 0 {
			b.WriteByte(',')
		}
		text := "same"
		if i >= from {
			text = other
		}
		fmt.Fprintf(&b, `{"role":"user","content":"%d %s %s"}`, i, text, strings.Repeat("word ", 200))
	}
	b.WriteString(`],"stream":true}`)
	return []byte(b.String())
}

// read parses a request as the proxy does, in a pooled buffer.
func (b *beginnings) read(t *testing.T, text []byte) (known int) {
	t.Helper()
	body := grab(len(text))
	defer body.release()
	body.bytes = append(body.bytes, text...)
	var from *beginning
	got, err := chat.ReadOn(body.bytes, func(list []byte) (all chat.Known) {
		all, from = b.find(chat.Completions, list)
		known = len(all.Messages)
		return all
	})
	if err != nil {
		t.Error(err)
		return 0
	}
	b.note(body, got, from)
	if want, _ := chat.Read(text); !reflect.DeepEqual(got.Messages, want.Messages) || got.Key() != want.Key() {
		t.Errorf("a request of %d bytes was read otherwise than alone, %d messages being known", len(text), known)
	}
	return known
}

func TestBeginningsAreKnownAgain(t *testing.T) {
	whole := 1 << 10
	for _, tt := range []struct {
		rule  string
		first [][]byte
		then  []byte
		known int
	}{
		{"the same request", [][]byte{request(40, whole, "")}, request(40, whole, ""), 40},
		{"one that goes on", [][]byte{request(40, whole, "")}, request(45, whole, ""), 40},
		{"one that goes back", [][]byte{request(45, whole, "")}, request(40, whole, ""), 40},
		{"one that goes on otherwise", [][]byte{request(40, 30, "a")}, request(40, 30, "b"), 30},
		{"not one that is different early", [][]byte{request(40, 1, "a")}, request(40, 1, "b"), 0},
		{"the latest of several", [][]byte{request(30, whole, ""), request(40, 35, "a")}, request(42, 35, "a"), 40},
		{"the one that has most", [][]byte{request(40, 30, "a"), request(40, 30, "b")}, request(42, 30, "a"), 40},
		{"not a short one", [][]byte{request(3, whole, "")}, request(40, whole, ""), 0},
		{"not a huge one", [][]byte{request(5000, whole, "")}, request(40, whole, ""), 0},
		{"not one without messages", [][]byte{[]byte(`{"x":"` + strings.Repeat("y", 1<<16) + `"}`)}, request(40, whole, ""), 0},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			var b beginnings
			for _, text := range tt.first {
				b.read(t, text)
			}
			if known := b.read(t, tt.then); known != tt.known {
				t.Errorf("%d messages were known, want %d", known, tt.known)
			}
		})
	}
}

func TestBeginningsTakeThePlaceOfTheirOwn(t *testing.T) {
	var b beginnings
	for n := 20; n < 60; n++ {
		b.read(t, request(n, 0, "a"))
		b.read(t, request(n, 0, "b"))
	}
	if len(b.all) != 2 {
		t.Errorf("two conversations left %d beginnings", len(b.all))
	}
}

func TestBeginningsTakeThePlaceOfTheirOwnWhenTheirEndHasChanged(t *testing.T) {
	var b beginnings
	for n := 40; n < 60; n++ {
		if known := b.read(t, request(n, n-1, "marked")); n > 40 && known != n-2 {
			t.Errorf("%d of %d messages were known", known, n)
		}
	}
	if len(b.all) != 1 {
		t.Errorf("one conversation left %d beginnings", len(b.all))
	}
}

func TestBeginningsAreBounded(t *testing.T) {
	for _, tt := range []struct {
		rule        string
		size, talks int
	}{
		{"in number", 20, maxBeginnings + 10},
		{"in bytes", 2000, maxRemembered>>21 + 4},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			var b beginnings
			for i := range tt.talks {
				b.read(t, request(tt.size, 0, fmt.Sprint("talk ", i)))
			}
			held := 0
			for _, one := range b.all {
				held += cap(one.body.bytes) + cap(one.known.Messages)*int(unsafe.Sizeof(chat.Message{}))
			}
			if len(b.all) > maxBeginnings || held > maxRemembered || held != b.bytes {
				t.Errorf("%d beginnings hold %d bytes, counted as %d", len(b.all), held, b.bytes)
			}
			last := fmt.Sprint("talk ", tt.talks-1)
			if b.read(t, request(tt.size, 0, last)) != tt.size || b.read(t, request(tt.size, 0, "talk 0")) != 0 {
				t.Error("the latest was forgotten, or the first was not")
			}
		})
	}
}

func TestBeginningsOfManyAtOnce(t *testing.T) {
	var b beginnings
	var all sync.WaitGroup
	for who := range 4 {
		all.Go(func() {
			for n := 20; n < 80; n++ {
				b.read(t, request(n, 10, fmt.Sprint("talk ", who*(n%7))))
			}
		})
	}
	all.Wait()
}

package chat

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// readOnAs reads a body that may begin like another, and checks that the result is the same as
// reading it alone.
func readOnAs(t failer, before, body []byte) (known int) {
	t.Helper()
	want, wantErr := Read(body)
	earlier, err := Read(before)
	got, gotErr := ReadOn(body, func(list []byte) Known {
		if err != nil {
			return Known{}
		}
		same := 0
		for from := earlier.List(); same < min(len(from), len(list)) && from[same] == list[same]; same++ {
		}
		for known < len(earlier.Messages) && earlier.Messages[known].End() <= same {
			known++
		}
		return earlier.Known().First(known)
	})
	if got != nil && want != nil {
		got.room, want.room = nil, nil // of the shared array
	}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(gotErr, wantErr) {
		t.Fatalf("after %q, %q is read as %+v, %v, alone as %+v, %v", before, body, got, gotErr, want, wantErr)
	}
	return known
}

func TestReadOnReadsOnlyWhatIsNew(t *testing.T) {
	long := []string{"u:q", "a:1", "t:1=A", "a:2", "t:2=B"}
	for _, tt := range []struct {
		rule         string
		before, body []byte
		known        int
	}{
		{"the same again", talk(long...), talk(long...), 5},
		{"a conversation that goes on", talk(long[:3]...), talk(long...), 3},
		{"one that goes back", talk(long...), talk(long[:3]...), 3},
		{"one whose last message was changed", talk("u:q", "a:1", "t:1=A", "u:x"), talk(long...), 3},
		{"another", talk("u:p"), talk(long...), 0},
		{"other members before the messages", []byte(`{"model":"long","messages":[{"role":"user"},{}]}`), []byte(`{"messages":[{"role":"user"},{"a":1}],"model":"m"}`), 1},
		{"a number that goes on", []byte(`{"messages":[{},1]}`), []byte(`{"messages":[{},12]}`), 2},
		{"white space after a message", []byte(`{"messages":[{} ,{}]}`), []byte(`{"messages":[{}]}`), 1},
		{"what follows is broken", talk("u:q"), []byte(`{"messages":[{"role":"user","content":"q"} {}]}`), 1},
		{"a name that comes twice in what follows", talk("u:q"), []byte(`{"messages":[{"role":"user","content":"q"},{"a":1,"a":2}]}`), 1},
		{"the list comes twice", talk("u:q"), []byte(`{"messages":[{"role":"user","content":"q"}],"messages":[]}`), 1},
		{"nothing was read before", []byte(`[]`), talk(long...), 0},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			if known := readOnAs(t, tt.before, tt.body); known != tt.known {
				t.Errorf("%d messages were known, want %d", known, tt.known)
			}
		})
	}
}

// TestBranchesOfAConversationDoNotShareWhatIsNew concurrently reads requests that continue one
// conversation.
func TestBranchesOfAConversationDoNotShareWhatIsNew(t *testing.T) {
	begun := []string{"u:q", "a:1", "t:1=A"}
	trunk, err := Read(talk(begun...))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var bodies [4][][]byte
	var read [4][]*Conversation
	for branch := range read {
		all.Go(func() {
			known := trunk.Known()
			words := slices.Clone(begun)
			for turn := range 30 {
				words = append(words, fmt.Sprintf("u:%d in %d", turn, branch))
				body := talk(words...)
				c, err := ReadOn(body, func([]byte) Known { return known })
				if err != nil {
					t.Error(err)
					return
				}
				known = c.Known()
				bodies[branch], read[branch] = append(bodies[branch], body), append(read[branch], c)
			}
		})
	}
	all.Wait()
	for branch := range read {
		for turn, c := range read[branch] {
			if want, _ := Read(bodies[branch][turn]); !reflect.DeepEqual(c.Messages, want.Messages) {
				t.Fatalf("turn %d of branch %d is another's", turn, branch)
			}
		}
	}
}

func TestReadOnIsRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before := rapid.SliceOfN(rapid.Custom(drawWord), 0, 12).Draw(rt, "before")
		same := rapid.IntRange(0, len(before)).Draw(rt, "same")
		body := slices.Concat(before[:same], rapid.SliceOfN(rapid.Custom(drawWord), 0, 4).Draw(rt, "more"))
		readOnAs(rt, talk(before...), talk(body...))
	})
}

func FuzzReadOn(f *testing.F) {
	f.Add(talk("u:q", "a:1", "t:1=A"), talk("u:q", "a:1", "t:1=A", "a:2"))
	f.Add([]byte(`{"messages":[{},1]}`), []byte(`{"messages":[{},12]}`))
	f.Fuzz(func(t *testing.T, before, body []byte) { readOnAs(t, before, body) })
}

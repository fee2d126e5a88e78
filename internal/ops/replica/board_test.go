package replica_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"secateur/internal/ops/replica"
	"secateur/internal/store/redisdb"
	"secateur/internal/store/redisdb/redistest"
)

var boards = []replica.Board{{Name: "a", Keep: 1000}, {Name: "b", Keep: 1000}}

// follow reads boards until the test ends.
func follow(t *testing.T, g *replica.Group) <-chan string {
	t.Helper()
	got := make(chan string, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() {
		g.Follow(ctx, boards, func(p replica.Post) { got <- p.From[len(p.From)-6:] + " " + p.Board + " " + string(p.Body) })
	})
	t.Cleanup(func() { cancel(); work.Wait() })
	return got
}

func want(t *testing.T, got <-chan string, posts ...string) {
	t.Helper()
	for _, p := range posts {
		select {
		case g := <-got:
			if g != p {
				t.Fatalf("got %q, want %q", g, p)
			}
		case <-t.Context().Done():
			t.Fatalf("%q never came", p)
		}
	}
}

// A post reaches each of the others once and in order. That includes a replica that starts later,
// and an engine that was killed and came back empty. A replica does not receive its own posts.
func TestBoards(t *testing.T) {
	server := redistest.Start(t)
	writer, early := newGroup(t, server, nil), newGroup(t, server, nil)
	name := writer.Name()[len(writer.Name())-6:]
	post := func(b replica.Board, text string) {
		t.Helper()
		for {
			err := writer.Post(t.Context(), b, []byte(text))
			if err == nil {
				return
			}
			if !redisdb.IsAway(err) {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	heard := follow(t, early)
	itself := follow(t, writer)
	var all []string
	for i := range 100 {
		b := boards[i%2]
		post(b, fmt.Sprint(i))
		all = append(all, fmt.Sprint(name, " ", b.Name, " ", i))
	}
	// Two boards are read together; each keeps its order.
	one := map[string]int{}
	for range all {
		var board string
		var n int
		if _, err := fmt.Sscanf((<-heard)[7:], "%s %d", &board, &n); err != nil {
			t.Fatal(err)
		}
		if last, ok := one[board]; ok && n != last+2 {
			t.Fatalf("board %s: %d behind %d", board, n, last)
		}
		one[board] = n
	}
	late := follow(t, newGroup(t, server, nil))
	for range 100 {
		<-late
	}
	server.Kill()
	server.Run()
	post(boards[0], "afterwards")
	want(t, heard, name+" a afterwards")
	want(t, late, name+" a afterwards")
	select {
	case p := <-itself:
		t.Errorf("its own post came back: %s", p)
	default:
	}
}

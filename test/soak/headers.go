package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// headers opens connections of unknown callers whose headers have as many small fields as allowed:
// parsed, they take twenty times their size. A third never end their header, a third half sign in,
// a third request what they may not have.
func (t *target) headers(ctx context.Context) {
	const connections, room = 1340, 60 << 10
	var many strings.Builder
	for i := 0; many.Len() < room; i++ {
		fmt.Fprintf(&many, "%x:\r\n", i)
	}
	few := many.String()[:700] // about a hundred fields
	few = few[:strings.LastIndex(few, "\r\n")+2]
	begin := []string{
		"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n" + many.String(),
		"POST /ui/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 16000\r\n" + few + "\r\n{",
		"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n" + many.String() + "\r\n{",
	}
	open := make([]net.Conn, 0, connections)
	for i := range connections {
		c, err := t.dial(ctx)
		if err != nil {
			continue // too busy for another one
		}
		open = append(open, c)
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = io.WriteString(c, begin[i%len(begin)])
	}
	pause(ctx, 3*time.Second)
	for _, c := range open {
		_ = c.Close()
	}
}

package test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"secateur/internal/ops/admin"
	"secateur/internal/ops/events"
	"secateur/internal/store/redisdb/redistest"
)

// list reads from the control plane.
func list[T any](t *testing.T, p *program, path string) (out T) {
	t.Helper()
	if err := json.Unmarshal([]byte(p.get(t, "/api/v1"+path)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// The control plane of each replica shows the events of all: requests, cuts and their recoveries,
// refusals, the log, savings and the replicas themselves. Each cut counts once.
func TestControlPlaneShowsAllReplicas(t *testing.T) {
	server := redistest.Start(t)
	all := replicas(t, 2, server.URL)
	here, there := all[0], all[1]
	const patience = time.Minute
	const read = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_log","arguments":{}}}`
	id := there.rpc(t, "demo", read).header.Get("X-Secateur-Originals")
	if id == "" {
		t.Fatal("nothing was cut")
	}
	told := func(p *program, kind events.Type, has ...string) string {
		stream := p.get(t, "/api/v1/events?follow=false&after=0&types="+string(kind))
		for line := range strings.Lines(stream) {
			lacks := func(part string) bool { return !strings.Contains(line, part) }
			if strings.HasPrefix(line, "data: ") && !slices.ContainsFunc(has, lacks) {
				return line
			}
		}
		return ""
	}
	eventually(t, patience, "a request is told elsewhere", func() bool { return told(here, events.TypeRequest, `"read_log"`) != "" })
	eventually(t, patience, "a cut is told elsewhere", func() bool { return told(here, events.TypeCut, id) != "" })
	eventually(t, patience, "a server's state is told elsewhere", func() bool { return told(here, events.TypeServer, `"replica":`, `"demo"`) != "" })
	if strings.Contains(told(there, events.TypeRequest, `"read_log"`), `"replica"`) {
		t.Error("a replica's own request names a replica")
	}
	cuts := list[admin.Page[events.Cut]](t, here, "/cuts").Items
	if len(cuts) != 1 || cuts[0].ID != id || cuts[0].Replica == "" || cuts[0].Recovered {
		t.Fatalf("cuts = %+v", cuts)
	}
	if one := list[admin.CutDetail](t, here, "/cuts/"+id); one.Reason == "" || len(one.Removed) != 1 || one.TotalLines == 0 {
		t.Errorf("the cut of another replica = %+v", one)
	}
	list[any](t, here, "/originals/"+id)
	eventually(t, patience, "a recovery is told elsewhere", func() bool {
		cuts := list[admin.Page[events.Cut]](t, there, "/cuts").Items
		return len(cuts) == 1 && cuts[0].Recovered
	})
	// The same text, cut here as well, is the same cut: one of one was recovered.
	here.rpc(t, "demo", read)
	eventually(t, patience, "savings are those of both", func() bool {
		a, b := list[admin.Savings](t, here, "/savings"), list[admin.Savings](t, there, "/savings")
		return a.CutTokens == b.CutTokens && a.CutTokens > a.RecoveredTokens && a.RecoveredTokens > 0 && a.RecoveryRate == 1 && b.RecoveryRate == 1
	})
	if sent := there.get(t, "/metrics"); !strings.Contains(sent, `secateur_replica_messages_total{fate="sent",kind="event"}`) || strings.Contains(sent, `{fate="sent",kind="event"} 0`) {
		t.Errorf("no event is counted as sent")
	}
	eventually(t, patience, "both replicas are listed", func() bool {
		s := list[admin.Status](t, here, "/status")
		return s.Store.State == "ok" && len(s.Replicas) == 2 && s.Replicas[0].Self != s.Replicas[1].Self && s.Replicas[0].Version == s.Replicas[1].Version && s.Replicas[0].Address != s.Replicas[1].Address
	})
	late := replicas(t, 1, server.URL)[0]
	eventually(t, patience, "who comes later knows of it", func() bool { return told(late, events.TypeCut, id) != "" })
	server.Kill()
	eventually(t, patience, "without the engine each shows its own, and says so", func() bool {
		s, saved := list[admin.Status](t, here, "/status"), list[admin.Savings](t, here, "/savings")
		return s.Store.State == "unavailable" && len(s.Replicas) == 1 && s.Replicas[0].Self && saved.Incomplete
	})
	server.Run()
	eventually(t, patience, "afterwards all is as before", func() bool {
		there.rpc(t, "demo", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, time.Now().UnixNano()))
		s := list[admin.Status](t, here, "/status")
		return s.Store.State == "ok" && len(s.Replicas) == 3 && told(here, events.TypeRequest, `"ping"`) != ""
	})
	server.Kill() // it started after the programs, which check for leftover processes
}

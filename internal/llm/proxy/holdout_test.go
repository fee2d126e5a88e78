package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"secateur/internal/llm/proxy"
	"secateur/internal/store/records"
)

// heldTalk is a conversation with a beginning of its own.
func heldTalk(id, turns int) string {
	return claudeTalk(turns, false, func(turn int) string { return fmt.Sprintf("part %d of %d\n", turn, id) + bigText(200) })
}

func TestAShareOfConversationsPassesUntouched(t *testing.T) {
	p := anthropicProvider(t)
	px := newProxy(t, func(o *proxy.Options) {
		pruningOn(o)
		o.Proof.Holdout = 0.5
	}, anthropicOnly(p))
	const conversations, requests = 40, 3
	held := 0
	for id := range conversations {
		passed := 0
		for turns := range requests {
			body := beginWith(id, heldTalk(id, turns))
			got := px.do(t, http.MethodPost, "/v1/messages", body)
			px.running.Wait()
			same := string(p.last(t).body) == body
			if isHeld := got.header.Get("X-Secateur-Unmasked") == "holdout"; isHeld {
				passed++
				if !same {
					t.Errorf("conversation %d is held out, and request %d was changed", id, turns)
				}
			} else if same && turns > 0 {
				t.Errorf("conversation %d is not held out, and request %d was not cut", id, turns)
			}
		}
		if passed != 0 && passed != requests {
			t.Errorf("conversation %d passed untouched in %d of %d requests", id, passed, requests)
		}
		held += passed / requests
	}
	if held < 10 || held > 30 {
		t.Errorf("%d of %d conversations were held out, want about half", held, conversations)
	}
	px.told.mu.Lock()
	defer px.told.mu.Unlock()
	began, all, paid := map[proxy.Arm]int{}, map[proxy.Arm]int{}, map[proxy.Arm]float64{}
	for _, s := range px.told.settled {
		all[s.Arm]++
		paid[s.Arm] += s.Paid
		if s.First {
			began[s.Arm]++
		}
		if s.Arm == proxy.ArmHeld && s.Spent != s.Passthrough {
			t.Errorf("an untouched request cost %v, and untouched %v", s.Spent, s.Passthrough)
		}
	}
	cut := conversations - held
	if began[proxy.ArmHeld] != held || began[proxy.ArmCut] != cut || all[proxy.ArmHeld] != requests*held || all[proxy.ArmCut] != requests*cut {
		t.Errorf("reported are %v beginnings and %v requests, %d are held out", began, all, held)
	}
	if a, b := paid[proxy.ArmHeld]/float64(held), paid[proxy.ArmCut]/float64(cut); a < 2*b {
		t.Errorf("an untouched conversation cost %v, one with cuts %v", a, b)
	}
}

// beginWith gives a conversation its own first message.
func beginWith(id int, body string) string {
	return strings.Replace(body, "find compute_part_3", fmt.Sprintf("find compute_part_3 for %d", id), 1)
}

func TestAConversationThatWasCutIsNotHeldOut(t *testing.T) {
	p := anthropicProvider(t)
	kept := &records.Memory{}
	play := func(holdout float64, turns int) string {
		px := newProxy(t, func(o *proxy.Options) {
			pruningOn(o)
			o.Records, o.Proof.Holdout = kept, holdout
		}, anthropicOnly(p))
		px.do(t, http.MethodPost, "/v1/messages", heldTalk(1, turns))
		px.running.Wait()
		if s := px.told.settled; len(s) != 1 || s[0].Arm != "" {
			t.Errorf("reported %+v, want no arm", s)
		}
		return string(p.last(t).body)
	}
	before := play(0, 1)
	if after := play(1, 2); len(after) > 2*len(before) {
		t.Errorf("the conversation went out in %d bytes with cuts, and in %d when it was to be held out", len(before), len(after))
	}
}

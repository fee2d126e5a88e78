package replay

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// A request's list implies its earlier requests: one for each answer.
func TestRequestsBeforeTheLast(t *testing.T) {
	const (
		user, answer = `{"role":"user","content":"q"}`, `{"role":"assistant","content":"a"}`
		call, output = `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`, `{"type":"function_call_output","call_id":"c","output":"o"}`
		reasoning    = `{"type":"reasoning","id":"r","summary":[]}`
	)
	for name, c := range map[string]struct {
		body    string
		lengths []int // of the requests' lists
		answers []int
	}{
		"no answer yet":                      {`{"messages":[` + user + `]}`, []int{1}, []int{0}},
		"two answers":                        {`{"messages":[` + strings.Join([]string{user, answer, user, answer, user}, ",") + `]}`, []int{1, 3, 5}, []int{1, 1, 0}},
		"an answer in two messages":          {`{"messages":[` + strings.Join([]string{user, answer, answer, user}, ",") + `]}`, []int{1, 4}, []int{2, 0}},
		"an answer that the client begins":   {`{"system":"s","messages":[` + strings.Join([]string{user, answer, user, answer}, ",") + `]}`, []int{1, 4}, []int{1, 0}},
		"nothing before the first answer":    {`{"messages":[` + strings.Join([]string{answer, user, answer, user}, ",") + `]}`, []int{2, 4}, []int{1, 0}},
		"items":                              {`{"input":[` + strings.Join([]string{user, reasoning, call, call, output, output, reasoning, answer, user}, ",") + `]}`, []int{1, 6, 9}, []int{3, 2, 0}},
		"items of a thread the server has":   {`{"previous_response_id":"p","input":[` + strings.Join([]string{user, call, output}, ",") + `]}`, []int{3}, []int{0}},
		"a string":                           {`{"input":"q"}`, []int{1}, []int{0}},
		"a session's marks do not change it": {`{"messages":[` + user + `,` + answer + `,{"role":"user","content":[{"type":"text","text":"t","cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"image"}]}]}`, []int{1, 3}, []int{1, 0}},
	} {
		s, err := ReadRequest([]byte(c.body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var lengths, answers []int
		for i := range s.requests {
			lengths, answers = append(lengths, len(s.requests[i].list)), append(answers, len(s.requests[i].answer))
			if _, err := s.format.Read(s.requests[i].body(nil, s.format)); err != nil {
				t.Errorf("%s: request %d: %v", name, i, err)
			}
		}
		if !slices.Equal(lengths, c.lengths) || !slices.Equal(answers, c.answers) {
			t.Errorf("%s: lists of %v, answered by %v; want %v and %v", name, lengths, answers, c.lengths, c.answers)
		}
		if first := s.requests[0]; strings.Contains(name, "marks") && (first.all != cacheControl{true, true} || !strings.HasSuffix(string(first.head), `"cache_control":{"type":"ephemeral","ttl":"1h"}`)) {
			t.Errorf("%s: the first request is marked %+v, %s", name, first.all, first.head)
		}
	}
	long := `{"messages":[` + strings.Repeat(user+","+answer+",", 2000) + user + `]}`
	if _, err := ReadRequest([]byte(long)); !errors.Is(err, ErrTooLong) {
		t.Errorf("of 2001 requests: %v", err)
	}
}

package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// longText is the server's answer to a nonce: long, and unique in each of its lines.
func longText(nonce string) string {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "%s line %d of a text that is long enough to be cut\n", nonce, i)
	}
	return b.String()
}

// answerCalls is an MCP server behind plain posts: a long text for a nonce, or the nonce alone.
func answerCalls(w http.ResponseWriter, r *http.Request) {
	var call struct {
		ID     json.RawMessage `json:"id"`
		Params struct {
			Arguments struct {
				Nonce string `json:"nonce"`
				Short bool   `json:"short"`
			} `json:"arguments"`
		} `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := call.Params.Arguments.Nonce
	if !call.Params.Arguments.Short {
		answer = longText(answer)
	}
	text, _ := json.Marshal(answer)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}],"tools":[]}}`, call.ID, text)
}

// models is a provider of all three formats. It repeats the nonce of a request's last turn, and
// records what arrived of that turn.
type models struct {
	mu   sync.Mutex
	seen map[string][][sha256.Size]byte // by turn: what came, once per arrival
}

var turnID = regexp.MustCompile(`nonce-turn-[0-9-]+-`)

func (m *models) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	all := turnID.FindAllString(string(body), -1)
	if len(all) == 0 {
		http.Error(w, `{"error":{"message":"no turn"}}`, http.StatusBadRequest)
		return
	}
	turn := all[len(all)-1]
	m.mu.Lock()
	if _, wanted := m.seen[turn]; wanted {
		m.seen[turn] = append(m.seen[turn], sha256.Sum256(body))
	}
	m.mu.Unlock()
	var asked struct {
		Stream bool `json:"stream"`
	}
	_ = json.Unmarshal(body, &asked)
	format := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	if !asked.Stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, wholeAnswers[format], turn, len(body)/4)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range strings.SplitAfter(fmt.Sprintf(streamedAnswers[format], turn, len(body)/4), "\n\n") {
		_, _ = io.WriteString(w, event)
		w.(http.Flusher).Flush()
	}
}

// watch records what arrives of a turn until it is taken.
func (m *models) watch(turn string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[turn] = nil
}

func (m *models) take(turn string) [][sha256.Size]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer delete(m.seen, turn)
	return m.seen[turn]
}

// Answers by the last element of the path; %[1]s is the turn, %[2]d the tokens of the prompt.
var wholeAnswers = map[string]string{
	"completions": `{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"said %[1]s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%[2]d,"completion_tokens":3,"total_tokens":9}}`,
	"messages":    `{"id":"x","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"said %[1]s"}],"stop_reason":"end_turn","usage":{"input_tokens":%[2]d,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":3}}`,
	"responses":   `{"id":"x","object":"response","status":"completed","model":"m","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"said %[1]s"}]}],"usage":{"input_tokens":%[2]d,"output_tokens":3,"total_tokens":9}}`,
}

var streamedAnswers = map[string]string{
	"completions": "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"said %[1]s\"}}]}\n\n" +
		"data: {\"id\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":%[2]d,\"completion_tokens\":3,\"total_tokens\":9}}\n\ndata: [DONE]\n\n",
	"messages": "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"x\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":%[2]d,\"output_tokens\":1}}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"said %[1]s\"}}\n\n" +
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	"responses": "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"said %[1]s\"}\n\n" +
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"x\",\"status\":\"completed\",\"model\":\"m\",\"output\":[],\"usage\":{\"input_tokens\":%[2]d,\"output_tokens\":3,\"total_tokens\":9}}}\n\n",
}

package rerank

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"time"

	"secateur/internal/secret"
)

const (
	maxAnswer  = 8 << 20  // some servers send the documents back
	maxRefusal = 16 << 10 // read of a refusal
)

type deepInfraQuestion struct {
	// Repeated for each document: both lists must have the same length.
	Queries   []string `json:"queries"`
	Documents []string `json:"documents"`
}

type rerankQuestion struct {
	Model     string   `json:"model,omitempty"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
}

// textsQuestion is the request for Text Embeddings Inference. It refuses long texts unless told to
// truncate them.
type textsQuestion struct {
	Query    string   `json:"query"`
	Texts    []string `json:"texts"`
	Truncate bool     `json:"truncate"`
}

// ask sends the request and reads the response. Its errors are *Error.
func (c *Client) ask(ctx context.Context, query string, docs []string) (Result, error) {
	start := time.Now()
	answer, status, err := c.post(ctx, c.question(query, docs))
	if err != nil && !c.asTexts.Load() && c.backend == Rerank && wantsTexts(status, answer) {
		// Some servers know "documents" and refuse unknown fields; others want "texts". Only the
		// refusal shows which kind this is, so remember it.
		c.asTexts.Store(true)
		answer, status, err = c.post(ctx, c.question(query, docs))
	}
	if err != nil {
		return Result{}, c.fail(KindHTTP, status, err)
	}
	read := readRerank
	if c.backend == DeepInfra {
		read = readDeepInfra
	}
	scores, err := read(answer, len(docs))
	if err != nil {
		return Result{}, c.fail(KindParse, status, err)
	}
	return Result{Scores: scores, Status: status, Latency: time.Since(start)}, nil
}

func (c *Client) question(query string, docs []string) any {
	switch {
	case c.backend == DeepInfra:
		queries := make([]string, len(docs))
		for i := range queries {
			queries[i] = query
		}
		return deepInfraQuestion{queries, docs}
	case c.asTexts.Load():
		return textsQuestion{query, docs, true}
	default:
		return rerankQuestion{c.settings.RerankModel, query, docs}
	}
}

// post sends the request and returns the response body. With an error and a status, the body is the
// beginning of a refusal.
func (c *Client) post(ctx context.Context, question any) (answer []byte, status int, err error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(question); err != nil {
		return nil, 0, fmt.Errorf("encode question: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url.String(), &body)
	if err != nil {
		return nil, 0, secret.WithoutURL(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "secateur")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, 0, secret.WithoutURL(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		refusal, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // the status is enough
		return refusal, resp.StatusCode, errors.New("refused")
	}
	answer, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, 0, secret.WithoutURL(err) // an incomplete response counts as none
	}
	return answer, resp.StatusCode, nil
}

// wantsTexts recognizes the refusal of a server that calls documents "texts".
func wantsTexts(status int, refusal []byte) bool {
	return (status == http.StatusBadRequest || status == http.StatusUnprocessableEntity) &&
		bytes.Contains(refusal, []byte("texts"))
}

func readDeepInfra(answer []byte, n int) ([]float64, error) {
	var a struct {
		Scores []*float64 `json:"scores"`
	}
	if err := decode(answer, &a); err != nil {
		return nil, err
	}
	return scoresOf(a.Scores, n)
}

// readRerank reads the formats of various servers: a list of documents with index and score, in any
// order, bare or under a name; or plain scores in the documents' order.
func readRerank(answer []byte, n int) ([]float64, error) {
	type item struct {
		Index          *int     `json:"index"`
		RelevanceScore *float64 `json:"relevance_score"`
		Score          *float64 `json:"score"`
	}
	var items []item
	if trimmed := bytes.TrimLeft(answer, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '[' {
		if err := decode(answer, &items); err != nil {
			return nil, err
		}
	} else {
		var a struct {
			Results []item     `json:"results"`
			Data    []item     `json:"data"`
			Scores  []*float64 `json:"scores"`
		}
		if err := decode(answer, &a); err != nil {
			return nil, err
		}
		if a.Results == nil && a.Data == nil {
			return scoresOf(a.Scores, n)
		}
		items = a.Results
		if items == nil {
			items = a.Data
		}
	}
	scores := make([]*float64, n)
	for _, it := range items {
		score := it.RelevanceScore
		if score == nil {
			score = it.Score
		}
		switch {
		case it.Index == nil || score == nil:
			return nil, errors.New("an entry without index or score")
		case *it.Index < 0 || *it.Index >= n:
			return nil, fmt.Errorf("a score for document %d of %d", *it.Index, n)
		case scores[*it.Index] != nil:
			return nil, fmt.Errorf("two scores for document %d", *it.Index)
		}
		scores[*it.Index] = score
	}
	return scoresOf(scores, n)
}

// decode reads one JSON value. Its errors do not quote it.
func decode(answer []byte, into any) error {
	if len(answer) > maxAnswer {
		return fmt.Errorf("an answer of more than %d bytes", maxAnswer)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			return fmt.Errorf("not of the expected shape at byte %d", wrong.Offset)
		}
		return errors.New("not JSON")
	}
	return nil
}

func scoresOf(list []*float64, n int) ([]float64, error) {
	if len(list) != n {
		return nil, fmt.Errorf("%d scores for %d documents", len(list), n)
	}
	scores := make([]float64, n)
	for i, s := range list {
		if s == nil || math.IsNaN(*s) || math.IsInf(*s, 0) {
			return nil, fmt.Errorf("no score for document %d", i)
		}
		scores[i] = *s
	}
	return scores, nil
}

// wasCut reports whether a call failed by its deadline or because its last waiter left.
func wasCut(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &timeout) && timeout.Timeout()
}

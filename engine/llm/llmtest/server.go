// Package llmtest has a local server that speaks the chat completions protocol,
// and the suite that every provider must pass.
package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Reply is one scripted answer. The zero value answers "ok".
type Reply struct {
	Text   string
	Finish string // "" is "stop"; "-" leaves it out
	// Status other than 0 and 200 refuses the call with Body and Header.
	Status int
	Body   string
	Header map[string]string
	// Whole answers with one JSON document though a stream was asked for.
	Whole bool
	// Raw is sent as the stream's bytes, instead of one made from Text.
	Raw string
	// Split is the number of bytes per network write; 0 sends it at once.
	Split int
	// CutAfter breaks the connection after so many bytes; 0 does not.
	CutAfter int
	// NoDone leaves out the closing [DONE].
	NoDone bool
	// Wait holds the answer back until it is closed or the client has gone.
	Wait <-chan struct{}
}

// Request is what the server saw of a call.
type Request struct {
	Header http.Header
	Raw    []byte
	Body   struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
		ResponseFormat json.RawMessage `json:"response_format"`
		Temperature    *float64        `json:"temperature"`
		MaxTokens      int             `json:"max_tokens"`
	}
}

// Prompt is the text of the last user message.
func (r Request) Prompt() string { return r.message("user") }

// System is the text of the system message, or "".
func (r Request) System() string { return r.message("system") }

func (r Request) message(role string) string {
	for _, v := range slices.Backward(r.Body.Messages) {
		if v.Role == role {
			return v.Content
		}
	}
	return ""
}

// Server is a model server on a local port.
type Server struct {
	// URL is the base URL, with its /v1.
	URL string

	mu       sync.Mutex
	replies  []Reply
	answer   func(Request) Reply
	requests []Request
}

// NewServer starts a server that gives the replies in turn, and the last one for
// ever. It is closed when the test ends.
func NewServer(t testing.TB, replies ...Reply) *Server {
	t.Helper()
	s := &Server{replies: replies}
	hs := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(hs.Close)
	s.URL = hs.URL + "/v1"
	return s
}

// Answer makes the server reply by what it is asked, instead of by script.
func (s *Server) Answer(f func(Request) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

// Requests lists the calls so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

func (s *Server) next(r Request) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.requests)
	s.requests = append(s.requests, r)
	switch {
	case s.answer != nil:
		return s.answer(r)
	case len(s.replies) == 0:
		return Reply{Text: "ok"}
	default:
		return s.replies[min(n, len(s.replies)-1)]
	}
}

func (s *Server) serve(w http.ResponseWriter, hr *http.Request) {
	if hr.URL.Path != "/v1/chat/completions" {
		http.NotFound(w, hr)
		return
	}
	r := Request{Header: hr.Header.Clone()}
	var err error
	if r.Raw, err = io.ReadAll(hr.Body); err != nil {
		return
	}
	if err := json.Unmarshal(r.Raw, &r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reply := s.next(r)
	if reply.Wait != nil {
		select {
		case <-reply.Wait:
		case <-hr.Context().Done():
			return
		}
	}
	for k, v := range reply.Header {
		w.Header().Set(k, v)
	}
	switch {
	case reply.Status != 0 && reply.Status != http.StatusOK:
		w.WriteHeader(reply.Status)
		_, _ = io.WriteString(w, reply.Body)
	case reply.Whole || !r.Body.Stream:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, whole(r.Body.Model, reply))
	default:
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		write(w, reply, stream(r.Body.Model, reply))
	}
}

// write sends data in pieces, and breaks the connection where the reply says so.
func write(w http.ResponseWriter, reply Reply, data string) {
	cut := reply.CutAfter > 0 && reply.CutAfter < len(data)
	if cut {
		data = data[:reply.CutAfter]
	}
	size := reply.Split
	if size <= 0 {
		size = len(data)
	}
	for len(data) > 0 {
		n := min(size, len(data))
		if _, err := io.WriteString(w, data[:n]); err != nil {
			return
		}
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		data = data[n:]
	}
	if cut {
		panic(http.ErrAbortHandler) // the way to break a connection
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

func finish(r Reply) string {
	switch r.Finish {
	case "":
		return `"stop"`
	case "-":
		return "null"
	}
	return quote(r.Finish)
}

const usage = `{"prompt_tokens":11,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":3}}`

func whole(model string, r Reply) string {
	return fmt.Sprintf(`{"model":%s,"choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":%s}],"usage":%s}`,
		quote(model), quote(r.Text), finish(r), usage)
}

// stream is an answer as events of one rune each, with the oddities that servers
// have: comments, CRLF, a first event without text, usage last.
func stream(model string, r Reply) string {
	if r.Raw != "" {
		return r.Raw
	}
	out := ": keep-alive\r\n\r\n" + event(fmt.Sprintf(`{"model":%s,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`, quote(model)))
	var outSb217 strings.Builder
	for _, c := range r.Text {
		outSb217.WriteString(event(fmt.Sprintf(`{"model":%s,"choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}]}`, quote(model), quote(string(c)))))
	}
	out += outSb217.String()
	if r.Finish != "-" {
		out += event(fmt.Sprintf(`{"model":%s,"choices":[{"index":0,"delta":{},"finish_reason":%s}]}`, quote(model), finish(r)))
		out += event(fmt.Sprintf(`{"model":%s,"choices":[],"usage":%s}`, quote(model), usage))
	}
	if !r.NoDone {
		out += event("[DONE]")
	}
	return out
}

func event(data string) string { return "data: " + data + "\r\n\r\n" }

package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// OpenAIBaseURL is the server where the settings name no other.
const OpenAIBaseURL = "https://api.openai.com/v1"

// maxAnswer bounds what is read of one answer.
const maxAnswer = 16 << 20

// OpenAIConfig says how to reach a server.
type OpenAIConfig struct {
	Key     string // empty: none is sent
	BaseURL string // empty: [OpenAIBaseURL]
	// Client is used instead of one with sensible limits. It must have no overall
	// timeout: the context bounds a call.
	Client *http.Client
}

// OpenAI asks any server that speaks the chat completions protocol.
type OpenAI struct {
	key    string
	url    string
	client *http.Client
}

var _ Provider = (*OpenAI)(nil)

// NewOpenAI returns a provider. A base URL that is not http or https is an error.
func NewOpenAI(c OpenAIConfig) (*OpenAI, error) {
	base := strings.TrimRight(strings.TrimSpace(c.BaseURL), "/")
	if base == "" {
		base = OpenAIBaseURL
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("model server: %q is not an http address", base)
	}
	if c.Client == nil {
		c.Client = newClient()
	}
	return &OpenAI{key: strings.TrimSpace(c.Key), url: base + "/chat/completions", client: c.Client}, nil
}

func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			TLSHandshakeTimeout:   10 * time.Second,
			IdleConnTimeout:       90 * time.Second,
			MaxIdleConnsPerHost:   16,
			ForceAttemptHTTP2:     true,
			ResponseHeaderTimeout: 0, // models think before they answer
		},
		// A key must not follow a redirect to somewhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// chatRequest is the body of a call.
type chatRequest struct {
	Model          string          `json:"model"`
	Messages       []chatMessage   `json:"messages"`
	Temperature    *float64        `json:"temperature,omitempty"`
	MaxTokens      int             `json:"max_tokens,omitempty"`
	ResponseFormat json.RawMessage `json:"response_format,omitempty"`
	Stream         bool            `json:"stream"`
	StreamOptions  *streamOptions  `json:"stream_options,omitempty"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// Complete implements [Provider]. A server that does not know structured output
// is asked again in words.
func (o *OpenAI) Complete(ctx context.Context, req Request, onDelta func(string)) (Response, error) {
	resp, err := o.call(ctx, req, len(req.Schema) > 0, onDelta)
	if len(req.Schema) > 0 && refusesFormat(err) {
		resp, err = o.call(ctx, inWords(req), false, onDelta)
	}
	if err != nil {
		return resp, err
	}
	switch resp.FinishReason {
	case "length":
		return resp, &Error{Code: CodeLength, Message: "the answer was cut off at the token limit; raise max_tokens or ask for less"}
	case "content_filter":
		return resp, &Error{Code: CodeFiltered, Message: "the server's content filter withheld the answer"}
	}
	if len(req.Schema) == 0 {
		return resp, nil
	}
	if resp.JSON, err = ParseJSON(resp.Text); err != nil {
		return resp, &Error{Code: CodeBadOutput, Message: err.Error(), Retryable: true, Err: err}
	}
	return resp, nil
}

// refusesFormat tells that a server did not accept response_format.
func refusesFormat(err error) bool {
	var e *Error
	if !errors.As(err, &e) || (e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity) {
		return false
	}
	m := strings.ToLower(e.Message)
	return strings.Contains(m, "response_format") || strings.Contains(m, "json_schema") || strings.Contains(m, "structured output")
}

// inWords asks for JSON in the system prompt.
func inWords(req Request) Request {
	ask := "Answer with one JSON value that fits this JSON Schema, and nothing else:\n" + string(req.Schema)
	if req.System != "" {
		ask = req.System + "\n\n" + ask
	}
	req.System = ask
	return req
}

func body(req Request, structured bool) ([]byte, error) {
	c := chatRequest{
		Model: req.Model, Temperature: req.Temperature, MaxTokens: req.MaxTokens,
		Stream: true, StreamOptions: &streamOptions{IncludeUsage: true},
	}
	if c.Model == "" {
		c.Model = DefaultModel
	}
	if req.System != "" {
		c.Messages = append(c.Messages, chatMessage{Role: "system", Content: req.System})
	}
	c.Messages = append(c.Messages, chatMessage{Role: "user", Content: req.Prompt})
	if structured {
		format, err := json.Marshal(map[string]any{
			"type":        "json_schema",
			"json_schema": map[string]any{"name": "answer", "schema": req.Schema},
		})
		if err != nil {
			return nil, fmt.Errorf("output schema: %w", err)
		}
		c.ResponseFormat = format
	}
	return json.Marshal(c)
}

func (o *OpenAI) call(ctx context.Context, req Request, structured bool, onDelta func(string)) (Response, error) {
	b, err := body(req, structured)
	if err != nil {
		return Response{}, &Error{Code: CodeRefused, Message: "write the request: " + err.Error(), Err: err}
	}
	hr, err := http.NewRequestWithContext(ctx, http.MethodPost, o.url, bytes.NewReader(b))
	if err != nil {
		return Response{}, &Error{Code: CodeRefused, Message: "write the request: " + err.Error(), Err: err}
	}
	hr.Header.Set("Content-Type", "application/json")
	hr.Header.Set("Accept", "text/event-stream, application/json")
	if o.key != "" {
		hr.Header.Set("Authorization", "Bearer "+o.key)
	}
	if req.IdempotencyKey != "" {
		hr.Header.Set("Idempotency-Key", req.IdempotencyKey)
	}
	res, err := o.client.Do(hr)
	if err != nil {
		return Response{}, o.networkError(ctx, "reach the model server", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return Response{}, o.statusError(res)
	}
	if onDelta == nil {
		onDelta = func(string) {}
	}
	limited := &io.LimitedReader{R: res.Body, N: maxAnswer}
	resp, err := o.read(res.Header, limited, onDelta)
	if err != nil && limited.N <= 0 {
		return resp, &Error{Code: CodeProtocol, Message: fmt.Sprintf("the model server's answer is longer than %d bytes", maxAnswer)}
	}
	var e *Error
	if err != nil && !errors.As(err, &e) {
		err = o.networkError(ctx, "read the model's answer", err)
	}
	return resp, err
}

// read takes a stream, or the one JSON document of a server that does not stream.
func (*OpenAI) read(h http.Header, r io.Reader, onDelta func(string)) (Response, error) {
	var a answer
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	switch kind {
	case "application/json":
		return a.whole(r, onDelta)
	case "text/html":
		page, err := io.ReadAll(io.LimitReader(r, 64<<10))
		if err != nil {
			return Response{}, err
		}
		return Response{}, &Error{Code: CodeProtocol, Message: "the model server answered with a web page: " + pageTitle(page) + "; check the base URL"}
	default:
		return a.stream(r, onDelta)
	}
}

// networkError keeps the context's own error where that ended the call.
func (o *OpenAI) networkError(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, ctx.Err())
	}
	return &Error{Code: CodeUnavailable, Message: o.redact(doing + ": " + err.Error()), Retryable: true, Err: err}
}

// redact makes sure that a message does not hold the key.
func (o *OpenAI) redact(s string) string {
	if o.key == "" {
		return s
	}
	return strings.ReplaceAll(s, o.key, "[key]")
}

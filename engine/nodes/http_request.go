package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sluice/engine"
	"sluice/engine/expr"
	"sluice/engine/llm"
)

// Limits of http_request.
const (
	maxHTTPBody  = 4 << 20
	maxRedirects = 5
)

// Codes of failed requests.
const (
	CodeHTTPStatus  = "http_status"  // an unwelcome status
	CodeHTTPNetwork = "http_network" // no answer
	CodeHTTPBlocked = "http_blocked" // the address is not allowed
	CodeHTTPRequest = "http_request" // the request itself is wrong
)

// httpRequest calls an address.
type httpRequest struct{ client *http.Client }

var (
	_ engine.Kind            = httpRequest{}
	_ engine.ConfigValidator = httpRequest{}
)

func newHTTPRequest(o HTTPOptions) httpRequest { return httpRequest{client: newHTTPClient(o)} }

// Spec implements [engine.Kind].
func (httpRequest) Spec() engine.Spec {
	return engine.Spec{
		Type: "http_request", Title: "HTTP request", Group: "Connect", Icon: "globe", Class: engine.Effect,
		Summary: "Calls a web address.",
		Config: json.RawMessage(`{
			"type": "object", "additionalProperties": false, "required": ["url"],
			"properties": {
				"method": {"type": "string", "title": "Method", "enum": ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"], "default": "GET", "x-mode": "literal"},
				"url": {"type": "string", "title": "Address", "minLength": 1, "x-mode": "text", "x-secret": true, "x-ui": {"placeholder": "https://api.example.com/items/{{workflow_input.id}}"}},
				"query": {"type": "object", "title": "Query", "additionalProperties": {"type": ["string", "number", "boolean", "null", "array"]}, "x-secret": true, "x-ui": {"widget": "keyvalue"}},
				"headers": {"type": "object", "title": "Headers", "additionalProperties": {"type": ["string", "number", "boolean"]}, "x-secret": true, "x-ui": {"widget": "keyvalue"}},
				"body_type": {"type": "string", "title": "Body", "enum": ["none", "json", "form", "text"], "default": "none", "x-mode": "literal", "x-labels": {"none": "None", "json": "JSON", "form": "Form", "text": "Text"}},
				"json": {"type": "string", "title": "JSON", "description": "Values are put in as JSON.", "x-mode": "json", "x-secret": true, "x-ui": {"widget": "code", "rows": 6, "placeholder": "{\"name\": \"{{workflow_input.name}}\"}", "show_if": {"body_type": "json"}}},
				"form": {"type": "object", "title": "Form", "additionalProperties": {"type": ["string", "number", "boolean", "null"]}, "x-secret": true, "x-ui": {"widget": "keyvalue", "show_if": {"body_type": "form"}}},
				"text": {"type": "string", "title": "Text", "x-mode": "text", "x-secret": true, "x-ui": {"widget": "textarea", "rows": 6, "show_if": {"body_type": "text"}}},
				"auth": {"type": "object", "title": "Authorisation", "additionalProperties": false, "x-secret": true, "x-ui": {"widget": "object", "advanced": true}, "properties": {
					"type": {"type": "string", "title": "Kind", "enum": ["none", "bearer", "basic"], "default": "none", "x-mode": "literal"},
					"token": {"type": "string", "title": "Token", "x-mode": "text", "x-ui": {"show_if": {"type": "bearer"}}},
					"username": {"type": "string", "title": "User", "x-mode": "text", "x-ui": {"show_if": {"type": "basic"}}},
					"password": {"type": "string", "title": "Password", "x-mode": "text", "x-ui": {"show_if": {"type": "basic"}}}
				}},
				"response": {"type": "string", "title": "Read the answer as", "enum": ["auto", "json", "text"], "default": "auto", "x-mode": "literal", "x-ui": {"advanced": true}},
				"accept_status": {"type": "array", "title": "Also accept the statuses", "description": "Statuses from 400 up that are not an error.", "items": {"type": "integer", "minimum": 100, "maximum": 599}, "x-ui": {"widget": "list", "advanced": true}}
			}
		}`),
		Output:  json.RawMessage(`{"type":"object","properties":{"status":{"type":"integer"},"headers":{"type":"object"},"body":{}}}`),
		Aliases: map[string]string{"bodyType": "body_type", "acceptStatus": "accept_status", "params": "query", "authentication": "auth"},
	}
}

type httpConfig struct {
	Method   string                     `json:"method"`
	URL      string                     `json:"url"`
	Query    map[string]json.RawMessage `json:"query"`
	Headers  map[string]json.RawMessage `json:"headers"`
	BodyType string                     `json:"body_type"`
	JSON     string                     `json:"json"`
	Form     map[string]json.RawMessage `json:"form"`
	Text     string                     `json:"text"`
	Auth     struct {
		Type     string `json:"type"`
		Token    string `json:"token"`
		Username string `json:"username"`
		Password string `json:"password"`
	} `json:"auth"`
	Response     string `json:"response"`
	AcceptStatus []int  `json:"accept_status"`
}

// ValidateConfig implements [engine.ConfigValidator].
func (httpRequest) ValidateConfig(config json.RawMessage) []engine.Issue {
	var c struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(config, &c) != nil || c.URL == "" || templated(c.URL) {
		return nil // the schema says what is wrong, or the value is not known yet
	}
	if _, err := parseURL(c.URL); err != nil {
		return []engine.Issue{{Code: "bad_url", Field: "url", Message: err.Error(), Fix: "Write an address that begins with https://."}}
	}
	return nil
}

func parseURL(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%q is not a web address", llm.Excerpt(s))
	}
	return u, nil
}

// Execute implements [engine.Kind].
func (k httpRequest) Execute(ctx context.Context, in engine.Input) (engine.Output, error) {
	var c httpConfig
	if err := in.Decode(&c); err != nil {
		return engine.Output{}, err
	}
	req, err := c.request(ctx)
	if err != nil {
		return engine.Output{}, engine.Fatal(engine.CodeConfig, err)
	}
	if req.Header.Get("Idempotency-Key") == "" {
		req.Header.Set("Idempotency-Key", in.IdempotencyKey)
	}
	in.Trace("request", map[string]any{"method": req.Method, "url": shownURL(req.URL)})
	res, err := k.client.Do(req)
	if err != nil {
		return engine.Output{}, callError(ctx, req, err)
	}
	defer res.Body.Close()
	in.Trace("status", res.StatusCode)
	body, err := io.ReadAll(io.LimitReader(res.Body, maxHTTPBody+1))
	if err != nil {
		return engine.Output{}, callError(ctx, req, err)
	}
	if res.StatusCode >= http.StatusBadRequest && !slices.Contains(c.AcceptStatus, res.StatusCode) {
		return engine.Output{}, statusError(res, body, in.Now())
	}
	if len(body) > maxHTTPBody {
		return engine.Output{}, engine.Fatalf(engine.CodeTooLarge, "the answer is longer than %d bytes", maxHTTPBody)
	}
	value, err := c.answer(res, body)
	if err != nil {
		return engine.Output{}, err
	}
	return engine.Output{Value: value}, nil
}

// shownURL leaves out what may be secret: the user and the query.
func shownURL(u *url.URL) string {
	shown := *u
	shown.User = nil
	if shown.RawQuery != "" {
		shown.RawQuery = "…"
	}
	return shown.String()
}

// callError says why there was no answer.
func callError(ctx context.Context, req *http.Request, err error) error {
	var blocked *blockedError
	switch {
	case errors.As(err, &blocked):
		return engine.Fatal(CodeHTTPBlocked, blocked)
	case errors.Is(err, errRedirects):
		return engine.Fatalf(CodeHTTPNetwork, "%s redirects more than %d times", req.URL.Host, maxRedirects)
	case ctx.Err() != nil:
		return fmt.Errorf("call %s: %w", req.URL.Host, ctx.Err())
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err // the address may hold secrets
	}
	if m := err.Error(); strings.Contains(m, "unsupported protocol scheme") || strings.Contains(m, "invalid header field") {
		return engine.Fatal(CodeHTTPRequest, fmt.Errorf("call %s: %w", req.URL.Host, err)) // net/http has no error values for them
	}
	return engine.Retryable(CodeHTTPNetwork, fmt.Errorf("call %s: %w", req.URL.Host, err))
}

// statusError makes an error of an unwelcome status.
func statusError(res *http.Response, body []byte, now time.Time) error {
	err := fmt.Errorf("%s answered %d %s", res.Request.URL.Host, res.StatusCode, http.StatusText(res.StatusCode))
	if detail := llm.Excerpt(strings.ToValidUTF8(string(body), "�")); detail != "" {
		err = fmt.Errorf("%w: %s", err, detail)
	}
	switch s := res.StatusCode; {
	case s == http.StatusRequestTimeout, s == http.StatusTooManyRequests, s >= 500:
		if d := llm.RetryAfter(res.Header, now); d > 0 {
			return engine.RetryAfter(CodeHTTPStatus, d, err)
		}
		return engine.Retryable(CodeHTTPStatus, err)
	default:
		return engine.Fatal(CodeHTTPStatus, err)
	}
}

// request builds the request from the rendered config.
func (c httpConfig) request(ctx context.Context) (*http.Request, error) {
	u, err := parseURL(c.URL)
	if err != nil {
		return nil, err
	}
	if len(c.Query) > 0 {
		q := u.Query()
		for name, raw := range c.Query {
			for _, v := range listText(raw) {
				q.Add(name, v)
			}
		}
		u.RawQuery = q.Encode()
	}
	body, contentType, err := c.body()
	if err != nil {
		return nil, err
	}
	method := c.Method
	if method == "" {
		method = http.MethodGet
	}
	var r io.Reader
	if contentType != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), r)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	req.Header.Set("User-Agent", "sluice")
	for name, raw := range c.Headers {
		v := scalarText(raw)
		if strings.EqualFold(name, "host") {
			req.Host = v
			continue
		}
		req.Header.Set(name, v)
	}
	switch c.Auth.Type {
	case "bearer":
		req.Header.Set("Authorization", "Bearer "+c.Auth.Token)
	case "basic":
		req.SetBasicAuth(c.Auth.Username, c.Auth.Password)
	}
	return req, nil
}

// listText is a query parameter's values: null is none, a list is several.
func listText(raw json.RawMessage) []string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return []string{scalarText(raw)}
	}
	var out []string
	for _, v := range list {
		out = append(out, scalarText(v))
	}
	return out
}

// body is the request's body with its content type, which is empty for none.
func (c httpConfig) body() (body, contentType string, err error) {
	switch c.BodyType {
	case "json":
		if !json.Valid([]byte(c.JSON)) {
			return "", "", fmt.Errorf("the body is not JSON: %s", llm.Excerpt(c.JSON))
		}
		return c.JSON, "application/json", nil
	case "form":
		form := url.Values{}
		for name, raw := range c.Form {
			form.Set(name, scalarText(raw))
		}
		return form.Encode(), "application/x-www-form-urlencoded", nil
	case "text":
		return c.Text, "text/plain; charset=utf-8", nil
	}
	return "", "", nil
}

// answer is the step's output. Header names are in lower case.
func (c httpConfig) answer(res *http.Response, body []byte) (any, error) {
	headers := expr.NewObject()
	names := make([]string, 0, len(res.Header))
	for name := range res.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		headers.Set(strings.ToLower(name), strings.Join(res.Header.Values(name), ", "))
	}
	value, err := c.decodeBody(res, body)
	if err != nil {
		return nil, err
	}
	out := expr.NewObject()
	out.Set("status", int64(res.StatusCode))
	out.Set("headers", headers)
	out.Set("body", value)
	return out, nil
}

func (c httpConfig) decodeBody(res *http.Response, body []byte) (any, error) {
	asJSON := c.Response == "json"
	if c.Response == "" || c.Response == "auto" {
		kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
		asJSON = (kind == "application/json" || strings.HasSuffix(kind, "+json")) && json.Valid(body)
	}
	if asJSON {
		if len(strings.TrimSpace(string(body))) == 0 {
			return nil, nil //nolint:nilnil // no body is null
		}
		v, err := expr.Decode(body)
		if err != nil {
			return nil, engine.Fatal(CodeBadOutput, fmt.Errorf("%s did not answer with JSON: %s", res.Request.URL.Host, llm.Excerpt(strings.ToValidUTF8(string(body), "�"))))
		}
		return v, nil
	}
	if !utf8.Valid(body) {
		return strings.ToValidUTF8(string(body), "�"), nil
	}
	return string(body), nil
}

package llm

import (
	"context"
	"encoding/json"
	"time"
)

// Provider answers prompts. onDelta is called with each piece of the answer's
// text as it comes, from one goroutine and before Complete returns; it may be nil.
// The response holds what was received even where the error is not nil. Errors
// that are worth judging are *[Error].
type Provider interface {
	Complete(ctx context.Context, req Request, onDelta func(text string)) (Response, error)
}

// Request is one question to a model.
type Request struct {
	Model  string // empty: the provider's default
	System string
	Prompt string
	// Schema is the JSON Schema that the answer must fit; nil for plain text.
	Schema      json.RawMessage
	Temperature *float64 // nil: the model's default
	MaxTokens   int      // 0: the model's default
	// IdempotencyKey is sent along so that a server may recognise a repetition.
	IdempotencyKey string
}

// Response is a model's answer.
type Response struct {
	Text string
	// JSON is the parsed answer where the request had a schema. It is JSON, but has
	// not been held against the schema.
	JSON         json.RawMessage
	Model        string
	FinishReason string // "stop" or "length"
	Usage        Usage
}

// Usage counts tokens.
type Usage struct {
	InputTokens  int64
	OutputTokens int64
	CachedTokens int64 // of the input
}

// Codes of errors.
const (
	CodeUnavailable = "model_unavailable"  // network, 408, 5xx, cut streams
	CodeRateLimited = "model_rate_limited" // 429
	CodeRefused     = "model_request"      // the request was not accepted (4xx)
	CodeAuth        = "model_auth"         // 401, 403
	CodeUnknown     = "unknown_model"
	CodeLength      = "model_length"  // the answer was cut off at its longest
	CodeFiltered    = "model_refusal" // the model or a filter declined
	CodeBadOutput   = "bad_output"    // no JSON where JSON was asked for
	CodeProtocol    = "model_protocol"
)

// Error is a failed call, in words for a person. It never holds a key.
type Error struct {
	Code    string
	Message string
	// Status is the HTTP status, or 0.
	Status    int
	Retryable bool
	// RetryAfter is the earliest sensible time of another try, from now; or 0.
	RetryAfter time.Duration
	Err        error
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Err }

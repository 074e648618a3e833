package engine

import (
	"encoding/json"
	"time"
)

// SpanKind says what a span covers.
type SpanKind string

// The span kinds.
const (
	SpanRun       SpanKind = "run"
	SpanStep      SpanKind = "step"
	SpanIteration SpanKind = "iteration"
	SpanAttempt   SpanKind = "attempt"
)

// Span is a node of a run's trace tree, as of one moment. Spans are upserted by
// ID; Seq grows with every change in a run, so a reader that has seen n asks for
// what came after n. Ids are derived from addresses: a resumed run goes on with
// the same spans.
type Span struct {
	RunID    string          `json:"run_id"`
	Seq      int64           `json:"seq"`
	ID       string          `json:"id"`
	ParentID string          `json:"parent_id,omitempty"`
	Kind     SpanKind        `json:"kind"`
	Name     string          `json:"name"`
	NodeID   string          `json:"node_id,omitempty"`
	NodeType string          `json:"node_type,omitempty"`
	Address  string          `json:"address,omitempty"`
	Round    int             `json:"round,omitempty"`
	Attempt  int             `json:"attempt,omitempty"`
	Status   string          `json:"status"`
	Start    time.Time       `json:"started_at"`
	End      time.Time       `json:"ended_at,omitzero"`
	Input    json.RawMessage `json:"input,omitempty"`
	Output   json.RawMessage `json:"output,omitempty"`
	Error    *StepError      `json:"error,omitempty"`
	Usage    Usage           `json:"usage,omitzero"`
	// Attributes are what the kind traced (prompt, request, response, …) and what
	// the engine adds (handle, next_attempt_at, park, iteration, warning).
	Attributes map[string]json.RawMessage `json:"attributes,omitempty"`
}

// Tracer receives spans after the commit that they describe. Implementations
// never block and never fail: they drop and count.
type Tracer interface {
	Record(accountID string, spans []Span)
	// Delta is streamed text of a running attempt. Unsequenced, may be lost.
	Delta(accountID, runID, spanID, text string)
	// RunEnded is called once per committed terminal status.
	RunEnded(accountID string, run Run)
}

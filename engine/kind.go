package engine

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"sluice/engine/expr"
)

// Class says how the engine treats a kind's execution.
type Class string

// The classes.
const (
	// Pure kinds compute and touch nothing outside. They run inline and their
	// records ride along in the next commit; after a crash they may be computed
	// again.
	Pure Class = "pure"
	// Effect kinds reach outside. Their start and their result are committed.
	Effect Class = "effect"
	// Parking kinds return a [Park] and wait for an answer.
	Parking Class = "park"
	// Container kinds own a body. The engine runs them; their Execute is not called.
	Container Class = "container"
)

// ContainerKind tells the engine which container a Container kind is.
type ContainerKind string

// The containers.
const (
	Loop     ContainerKind = "loop"
	Parallel ContainerKind = "parallel"
	Branch   ContainerKind = "branch"
)

// Spec describes a kind. The palette, the config form, validation, the API and
// the docs are all drawn from it.
type Spec struct {
	Type    string `json:"type"`
	Title   string `json:"title"`
	Group   string `json:"group"` // palette group: "Flow", "AI", "People", "Data", "Connect"
	Icon    string `json:"icon"`  // lucide icon name
	Summary string `json:"summary"`
	Class   Class  `json:"class"`
	// Container is set for Class Container only.
	Container ContainerKind `json:"container,omitempty"`
	// Handles are the static outputs; the first is the default. Empty means one
	// unnamed output; a kind without outputs sets NoOutput.
	Handles  []Handle `json:"handles,omitempty"`
	NoOutput bool     `json:"no_output,omitempty"`
	// HandlesFrom names the config field (an array of objects with "id" and
	// "label") whose entries are further handles, placed before the static ones.
	HandlesFrom string `json:"handles_from,omitempty"`
	// ResultKey is the output field that a bare {{_node_<id>}} yields ("text" for
	// model steps). Empty: the whole output.
	ResultKey string `json:"result_key,omitempty"`
	// Config is a JSON Schema object (draft 2020-12) with UI hints under "x-ui" and
	// the template mode of string fields under "x-mode": see [expr.Mode]. Default
	// mode of a string is a template.
	Config json.RawMessage `json:"config"`
	// Output is a JSON Schema of the output, for docs and the variable picker; may be nil.
	Output json.RawMessage `json:"output,omitempty"`
	// Timeout is the default per attempt; 0 means [DefaultTimeout].
	Timeout time.Duration `json:"-"`
	// Attempts is the default number of tries; 0 means [DefaultMaxAttempts] for
	// effects and 1 for the rest.
	Attempts int `json:"-"`
	// Aliases maps accepted config field names to the canonical ones
	// ("systemPrompt" → "system"). [Import] applies them.
	Aliases map[string]string `json:"-"`
}

// Handle is a named output of a node.
type Handle struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	// Tone colours it in the builder: "", "success", "danger", "warning".
	Tone string `json:"tone,omitempty"`
}

// Kind is a type of node. Execute is called once per attempt with a context that
// carries the attempt's timeout. A returned error is retried by policy unless it
// says otherwise (see [Fatal], [RetryAfter]); a pause is not an error but an
// [Output] with Park set. Panics are turned into step errors.
type Kind interface {
	Spec() Spec
	Execute(ctx context.Context, in Input) (Output, error)
}

// ConfigValidator is implemented by kinds whose config needs more than its
// schema. Config is raw: templates are not rendered. NodeID and Severity may be
// left empty in the returned issues; fields are relative to config.
type ConfigValidator interface {
	ValidateConfig(config json.RawMessage) []Issue
}

// HandleLister is implemented by kinds whose handles depend on their config in a
// way that HandlesFrom can't say.
type HandleLister interface {
	HandlesOf(config json.RawMessage) []Handle
}

// SchemaChecker checks a JSON value against a JSON Schema. Problems name the
// place in the value. It must treat a string that contains "{{" as fitting any
// type when lenient is set, because its value is only known at run time.
type SchemaChecker interface {
	Check(schema, value json.RawMessage, lenient bool) ([]SchemaProblem, error)
}

// SchemaProblem is one mismatch, at a dotted path such as "items[2].id" ("" is the root).
type SchemaProblem struct {
	Path    string
	Message string
}

// Input is what a kind sees of one attempt.
type Input struct {
	RunID     string
	AccountID string
	NodeID    string
	Address   string
	Round     int
	Attempt   int // from 1
	// IdempotencyKey is stable over attempts and restarts: "run/address", with
	// "#round" when the step was sent back.
	IdempotencyKey string
	// Config is the node's config with every template rendered.
	Config json.RawMessage
	// Env resolves references, for kinds that evaluate expressions themselves.
	Env expr.Env
	// Expr returns the compiled expression of a config field with mode
	// "expression" ("expression", "cases[1].when"), or nil if the field is empty.
	Expr func(field string) *expr.Expression
	// RunInput and Variables are the run's input and its variables as JSON.
	RunInput  json.RawMessage
	Variables json.RawMessage
	// Emit streams text of the step while it runs. Never blocks, never nil.
	Emit func(text string)
	// Trace attaches an attribute to the attempt's span ("prompt", "request", …).
	// Never nil. Values are JSON-encoded; secrets are redacted by the tracer.
	Trace  func(key string, value any)
	Now    func() time.Time
	Logger *slog.Logger
}

// Decode reads the rendered config into v strictly: unknown fields are errors.
func (in Input) Decode(v any) error { return decodeConfig(in.Config, v) }

// Output is what an attempt produced. Exactly one of Value and Park counts.
type Output struct {
	// Value is encoded with [expr.Encode]; json.RawMessage is taken as it is.
	Value any
	// Handle is the output taken; empty means the kind's default handle.
	Handle string
	// Variables are assignments to workflow variables, by name.
	Variables map[string]any
	Usage     Usage
	// Park pauses the step.
	Park *Park
	// Warning is shown in the log without failing the step.
	Warning string
}

// Usage counts what a step cost. It adds up over attempts, steps and runs.
type Usage struct {
	InputTokens  int64 `json:"input_tokens,omitempty"`
	OutputTokens int64 `json:"output_tokens,omitempty"`
	CachedTokens int64 `json:"cached_tokens,omitempty"`
	ModelCalls   int64 `json:"model_calls,omitempty"`
	// CostMicros is the price in millionths of a US dollar.
	CostMicros int64 `json:"cost_micros,omitempty"`
}

// Add returns the sum.
func (u Usage) Add(o Usage) Usage {
	return Usage{
		InputTokens: u.InputTokens + o.InputTokens, OutputTokens: u.OutputTokens + o.OutputTokens,
		CachedTokens: u.CachedTokens + o.CachedTokens, ModelCalls: u.ModelCalls + o.ModelCalls,
		CostMicros: u.CostMicros + o.CostMicros,
	}
}

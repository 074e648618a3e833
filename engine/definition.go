package engine

import (
	"encoding/json"
	"time"
)

// Format is the value of a definition's "format" field in canonical form.
const Format = "sluice/v1"

// Definition is a workflow as people write it: nodes, edges and what they need.
// [Import] reads it from any accepted form; its JSON encoding is the one
// canonical export.
type Definition struct {
	Format      string
	Name        string
	Description string
	// InputSchema is the JSON Schema of the run's input, or nil.
	InputSchema json.RawMessage
	// Variables is a JSON object of initial variables, or nil. Key order is kept.
	Variables json.RawMessage
	Nodes     []Node
	Edges     []Edge
	// Extra keeps the fields that this version does not know, so that a round
	// trip loses nothing.
	Extra map[string]json.RawMessage
}

// Node is one box of the graph. Parent names the container whose body it is in;
// the empty parent is the workflow itself.
type Node struct {
	ID          string
	Type        string
	Label       string
	Parent      string
	Config      json.RawMessage // a JSON object; nil means {}
	OnError     OnError         // empty means stop
	Retry       *RetryPolicy    // nil means the default of the kind's class
	TimeoutMS   int64           // per attempt; 0 means the kind's default
	OnInterrupt OnInterrupt     // empty means retry
	Position    *Position
	Notes       string
	Extra       map[string]json.RawMessage
}

// Title is the label, or the id where there is none.
func (n *Node) Title() string {
	if n.Label != "" {
		return n.Label
	}
	return n.ID
}

// Edge joins two nodes of one body. An empty handle is the source's default
// handle. A condition that is false makes the edge dead.
type Edge struct {
	Source    string
	Target    string
	Handle    string
	Condition string
	Extra     map[string]json.RawMessage
}

// Position is where the builder draws a node, in canvas units. Inside a
// container it is relative to the container's corner.
type Position struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width,omitempty"`
	Height float64 `json:"height,omitempty"`
	// Extra keeps what other tools store here.
	Extra map[string]json.RawMessage `json:"-"`
}

// OnError says what a step's failure does to its scope.
type OnError string

// The error policies.
const (
	// OnErrorStop fails the scope.
	OnErrorStop OnError = "stop"
	// OnErrorContinue takes the step's default edges, with {"error":…} as output.
	OnErrorContinue OnError = "continue"
	// OnErrorBranch takes only the edges of the handle "error".
	OnErrorBranch OnError = "branch"
)

// HandleError is the handle whose edges a failed step takes under OnErrorBranch.
const HandleError = "error"

// OnInterrupt says what becomes of an effect that had started when its process died.
type OnInterrupt string

// The interrupt policies.
const (
	InterruptRetry OnInterrupt = "retry"
	InterruptFail  OnInterrupt = "fail"
	InterruptAsk   OnInterrupt = "ask"
)

// RetryPolicy bounds the attempts of a step. The wait before attempt n+1 is
// min(MaxMS, BaseMS·2ⁿ⁻¹ + jitter) milliseconds.
type RetryPolicy struct {
	MaxAttempts int   `json:"max_attempts"`
	BaseMS      int64 `json:"base_ms,omitempty"`
	MaxMS       int64 `json:"max_ms,omitempty"`
}

// Defaults of retry and timeout.
const (
	DefaultMaxAttempts  = 3
	DefaultBaseMS       = 2_000
	DefaultMaxMS        = 30_000
	DefaultTimeout      = 60 * time.Second
	DefaultModelTimeout = 120 * time.Second
)

// Limits of a definition.
const (
	MaxNodes = 2_000
	MaxDepth = 32
	MaxIDLen = 100
	// MaxName bounds names and labels, in characters.
	MaxName = 200
	// MaxDescription bounds descriptions, in characters.
	MaxDescription = 10_000
)

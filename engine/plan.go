package engine

import (
	"time"

	"sluice/engine/expr"
)

// Plan is a compiled definition: an immutable graph with every template and
// expression parsed. Safe for concurrent use.
type Plan struct {
	Definition *Definition
	// Hash is the SHA-256 of the canonical definition, in hex.
	Hash  string
	Nodes []PlanNode
	Edges []PlanEdge
	// Root is the workflow's own body.
	Root *Body
	// ByID finds a node's index.
	ByID map[string]int
}

// PlanNode is a node with all that running it needs.
type PlanNode struct {
	Index  int
	Node   *Node
	Kind   Kind
	Spec   Spec
	Config *expr.Document
	// Exprs are the compiled expression fields of the config, by field path.
	Exprs map[string]*expr.Expression
	// Handles are the outputs with this config, HandleError not included. Default
	// is the first, or "" for a kind with one unnamed output.
	Handles []Handle
	Default string
	// In and Out are indexes of edges, in definition order.
	In, Out []int
	// Container is the index of the node whose body this node is in, or -1.
	Container int
	// Body is the node's own body: for loops and branches. Parallels have Branches.
	Body *Body
	// Branches are the indexes of a parallel's branch nodes, in definition order.
	Branches []int
	// VarWriters are nodes of the same body, upstream of this one, that may assign
	// variables, in topological order (definition order among equals).
	VarWriters []int
	Retry      RetryPolicy // resolved, MaxAttempts ≥ 1
	Timeout    time.Duration
	OnError    OnError
	Interrupt  OnInterrupt
}

// PlanEdge is an edge between node indexes. Handle is resolved: never empty when
// the source has named handles, except [HandleAny].
type PlanEdge struct {
	Index int
	// At is the edge's place in the definition, where duplicates still stand.
	At        int
	Source    int
	Target    int
	Handle    string
	Condition *expr.Expression // nil: unconditional
}

// HandleAny marks an edge without a handle that leaves a node with several
// handles none of which is the natural default (condition, switch): it is taken
// whichever handle is chosen.
const HandleAny = "*"

// Body is a scope's graph: the nodes directly inside of one container.
type Body struct {
	// Container is the owning node's index, or -1 for the root.
	Container int
	// Nodes are in definition order, Topo in topological order with ties in
	// definition order.
	Nodes, Topo []int
	// Entries are the nodes without incoming edges that run when the scope opens:
	// the trigger in the root, all such nodes in a container's body.
	Entries []int
	// Sinks are the nodes without outgoing edges, in definition order.
	Sinks []int
	// HasVarWriters tells that some node in it, at any depth, may assign variables.
	HasVarWriters bool
}

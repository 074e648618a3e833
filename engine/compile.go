package engine

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"sluice/engine/expr"
)

// Compile validates a definition and makes a plan of it. The plan is nil if there
// are errors among the issues.
func Compile(def *Definition, reg *Registry) (*Plan, Issues) {
	a, issues := analyse(def, reg)
	if issues.HasErrors() {
		return nil, issues
	}
	_, hash, err := def.Canonical()
	if err != nil {
		a.fail("bad_document", "", "", "", "%v", err)
		return nil, a.issues
	}
	p := &Plan{Definition: def, Hash: hash, Edges: a.edges, ByID: a.byID, Nodes: make([]PlanNode, len(def.Nodes))}
	for i := range def.Nodes {
		p.Nodes[i] = a.planNode(i)
	}
	p.Root = a.body(p, -1)
	for i := range p.Nodes {
		switch n := &p.Nodes[i]; n.Spec.Container {
		case Loop, Branch:
			n.Body = a.body(p, i)
		case Parallel:
			n.Branches = a.children[i]
		}
	}
	a.markWriters(p)
	return p, issues
}

func (a *analysis) planNode(i int) PlanNode {
	node, spec := &a.def.Nodes[i], a.specs[i]
	n := PlanNode{
		Index: i, Node: node, Kind: a.kinds[i], Spec: spec, Config: a.configs[i], Exprs: map[string]*expr.Expression{},
		Handles: a.handles[i], In: a.in[i], Out: a.out[i], Container: a.parent[i],
		Retry: retryOf(node, spec), Timeout: timeoutOf(node, spec), OnError: node.OnError, Interrupt: node.OnInterrupt,
	}
	if len(n.Handles) > 0 {
		n.Default = n.Handles[0].ID
	}
	if n.OnError == "" {
		n.OnError = OnErrorStop
	}
	if n.Interrupt == "" {
		n.Interrupt = InterruptRetry
	}
	for _, f := range n.Config.Expressions() {
		n.Exprs[f] = n.Config.Expression(f)
	}
	return n
}

func retryOf(n *Node, s Spec) RetryPolicy {
	p := RetryPolicy{MaxAttempts: s.Attempts, BaseMS: DefaultBaseMS, MaxMS: DefaultMaxMS}
	if p.MaxAttempts == 0 {
		if p.MaxAttempts = 1; s.Class == Effect {
			p.MaxAttempts = DefaultMaxAttempts
		}
	}
	if n.Retry == nil {
		return p
	}
	p.MaxAttempts = max(1, n.Retry.MaxAttempts)
	if n.Retry.BaseMS > 0 {
		p.BaseMS = n.Retry.BaseMS
	}
	if n.Retry.MaxMS > 0 {
		p.MaxMS = n.Retry.MaxMS
	}
	return p
}

func timeoutOf(n *Node, s Spec) time.Duration {
	switch {
	case n.TimeoutMS > 0:
		return time.Duration(n.TimeoutMS) * time.Millisecond
	case s.Timeout > 0:
		return s.Timeout
	default:
		return DefaultTimeout
	}
}

func (a *analysis) body(p *Plan, owner int) *Body {
	b := &Body{Container: owner, Nodes: a.children[owner], Topo: a.topo[owner]}
	for _, n := range b.Nodes {
		if len(a.out[n]) == 0 {
			b.Sinks = append(b.Sinks, n)
		}
		entry := len(a.in[n]) == 0
		if owner < 0 {
			entry = p.Nodes[n].Spec.Type == "trigger"
		}
		if entry {
			b.Entries = append(b.Entries, n)
		}
	}
	return b
}

// assignments is the config's non-empty "variables" object, or nil.
func assignments(config json.RawMessage) json.RawMessage {
	var c struct {
		Variables json.RawMessage `json:"variables"`
	}
	if len(config) == 0 || json.Unmarshal(config, &c) != nil || len(c.Variables) < 3 || c.Variables[0] != '{' {
		return nil
	}
	return c.Variables
}

// markWriters finds the nodes that may assign variables, and those downstream.
func (a *analysis) markWriters(p *Plan) {
	writes := make([]bool, len(p.Nodes))
	for i := range p.Nodes {
		if len(assignments(p.Nodes[i].Node.Config)) == 0 || !hasProperty(p.Nodes[i].Spec.Config, "variables") {
			continue
		}
		for c := i; c >= 0; c = a.parent[c] {
			writes[c] = true
		}
	}
	for _, owner := range a.bodies() {
		var writers []int
		for _, n := range a.topo[owner] {
			for _, w := range writers {
				if a.upstream[n].has(a.pos[w]) {
					p.Nodes[n].VarWriters = append(p.Nodes[n].VarWriters, w)
				}
			}
			if writes[n] {
				writers = append(writers, n)
			}
		}
		if len(writers) == 0 {
			continue
		}
		if owner < 0 {
			p.Root.HasVarWriters = true
		} else if b := p.Nodes[owner].Body; b != nil {
			b.HasVarWriters = true
		}
	}
}

func hasProperty(schema json.RawMessage, name string) bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return false
	}
	_, ok := s.Properties[name]
	return ok
}

// modeSchema is the part of a config's JSON Schema that says how strings are read.
type modeSchema struct {
	Mode       expr.Mode              `json:"x-mode"`
	Secret     bool                   `json:"x-secret"`
	Properties map[string]*modeSchema `json:"properties"`
	Items      *modeSchema            `json:"items"`
	Additional json.RawMessage        `json:"additionalProperties"`
	rest       *modeSchema
}

// specOptions turns the hints of a spec's schema into compile options.
func specOptions(s Spec) expr.Options {
	var root modeSchema
	if len(s.Config) > 0 && json.Unmarshal(s.Config, &root) != nil {
		root = modeSchema{}
	}
	root.link(0)
	return expr.Options{
		ModeAt: func(path string) expr.Mode {
			m, _ := root.at(path)
			return m
		},
		SecretAt: func(path string) bool {
			_, secret := root.at(path)
			return secret
		},
	}
}

func (m *modeSchema) link(depth int) {
	if m == nil || depth > MaxDepth {
		return
	}
	if len(m.Additional) > 0 && m.Additional[0] == '{' {
		m.rest = &modeSchema{}
		if json.Unmarshal(m.Additional, m.rest) != nil {
			m.rest = nil
		}
	}
	for _, p := range m.Properties {
		p.link(depth + 1)
	}
	m.Items.link(depth + 1)
	m.rest.link(depth + 1)
}

// at finds the mode at a field path. A hint holds for everything below it.
func (m *modeSchema) at(path string) (expr.Mode, bool) {
	mode, secret := m.Mode, m.Secret
	for cur := m; path != "" && cur != nil; {
		var next *modeSchema
		var key string
		key, path = firstKey(path)
		if _, err := strconv.Atoi(key); err == nil && cur.Items != nil {
			next = cur.Items
		} else if next = cur.Properties[key]; next == nil {
			next = cur.rest
		}
		if cur = next; cur != nil {
			if cur.Mode != "" {
				mode = cur.Mode
			}
			secret = secret || cur.Secret
		}
	}
	return mode, secret
}

// firstKey splits "a[0].b" into "a" and "[0].b", "[0].b" into "0" and "b".
func firstKey(path string) (key, rest string) {
	path = strings.TrimPrefix(path, ".")
	if strings.HasPrefix(path, "[") {
		if end := strings.IndexByte(path, ']'); end > 0 {
			return path[1:end], strings.TrimPrefix(path[end+1:], ".")
		}
	}
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i], strings.TrimPrefix(path[i:], ".")
	}
	return path, ""
}

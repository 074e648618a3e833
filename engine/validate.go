package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/engine/expr"
)

const (
	// maxEdges bounds the edges of a definition.
	maxEdges = 20_000
	// maxIssues bounds what one validation lists.
	maxIssues = 10_000
	// maxNames bounds the names that one message lists.
	maxNames = 10
	// absurdID is the size in bytes from which ids are not worked with at all:
	// every issue of a node repeats its id.
	absurdID = 1_000
)

// Validate returns everything that is wrong with a definition, in document order:
// first the nodes, then the edges, then the graph as a whole. Errors keep it from
// running, warnings do not. It takes linear time up to the limits and never panics.
func Validate(def *Definition, reg *Registry) Issues {
	_, issues := analyse(def, reg)
	return issues
}

// analysis is what validation finds out about a definition; compiling goes on
// from it.
type analysis struct {
	def    *Definition
	reg    *Registry
	issues Issues

	byID   map[string]int // first node of an id
	steps  map[string]bool
	kinds  []Kind
	specs  []Spec
	parent []int // container's index, or -1
	depth  []int
	// children are the nodes of each body, in definition order; key -1 is the root.
	children map[int][]int
	edges    []PlanEdge // valid ones, without duplicates
	in, out  [][]int
	handles  [][]Handle
	// handleSets are the handles' ids of the nodes that edges name them of.
	handleSets map[int]map[string]bool
	configs    []*expr.Document
	topo       map[int][]int // per body
	// upstream are each node's ancestors in its body, as a set of positions.
	upstream []bits64
	pos      []int
	broken   bool // structure is too broken for graph analysis
	absurd   bool // ids are too long for any analysis
}

func (a *analysis) report(sev Severity, code, node, field, fix, format string, args ...any) {
	if len(a.issues) >= maxIssues { // before the message is made, so that the rest costs nothing
		a.more(sev)
		return
	}
	a.issues = append(a.issues, Issue{Code: code, Severity: sev, NodeID: node, Field: field, Message: fmt.Sprintf(format, args...), Fix: fix})
}

// more notes that an issue was left out, as grave as the gravest of those.
func (a *analysis) more(sev Severity) {
	if len(a.issues) == maxIssues {
		a.issues = append(a.issues, Issue{
			Code: "too_many_issues", Severity: sev, Message: fmt.Sprintf("only the first %d issues are listed", maxIssues), Fix: "Mend these first.",
		})
	}
	if sev == SeverityError {
		a.issues[maxIssues].Severity = sev
	}
}

func (a *analysis) fail(code, node, field, fix, format string, args ...any) {
	a.report(SeverityError, code, node, field, fix, format, args...)
}

func (a *analysis) warn(code, node, field, fix, format string, args ...any) {
	a.report(SeverityWarning, code, node, field, fix, format, args...)
}

func analyse(def *Definition, reg *Registry) (*analysis, Issues) {
	a := &analysis{def: def, reg: reg, byID: map[string]int{}, steps: map[string]bool{}, children: map[int][]int{}, topo: map[int][]int{}, handleSets: map[int]map[string]bool{}}
	if !a.withinLimits() {
		return a, a.issues
	}
	if a.checkIDs(); a.absurd {
		return a, a.issues
	}
	a.checkKinds()
	a.checkParents()
	a.checkMisfits()
	a.checkSettings()
	a.checkConfigs()
	a.checkEdges()
	a.checkTriggerAndEnd()
	if !a.broken {
		a.checkCycles()
	}
	if !a.broken {
		a.checkReach()
		a.checkReferences()
		a.checkHandlesUsed()
	}
	return a, a.issues
}

func (a *analysis) withinLimits() bool {
	if n := len(a.def.Nodes); n > MaxNodes {
		a.fail("too_many_nodes", "", "nodes", "Split the workflow.", "the workflow has %d nodes; at most %d are allowed", n, MaxNodes)
	}
	if n := len(a.def.Edges); n > maxEdges {
		a.fail("too_many_edges", "", "edges", "Split the workflow.", "the workflow has %d edges; at most %d are allowed", n, maxEdges)
	}
	a.checkLength("", "name", a.def.Name, MaxName)
	a.checkLength("", "description", a.def.Description, MaxDescription)
	return len(a.issues) == 0
}

func (a *analysis) checkLength(node, field, value string, limit int) {
	if n := utf8.RuneCountInString(value); n > limit {
		a.fail("too_long", node, field, "Shorten it.", "the %s has %d characters; at most %d are allowed", field, n, limit)
	}
}

func (a *analysis) checkIDs() {
	for i := range a.def.Nodes {
		id := a.def.Nodes[i].ID
		if len(id) > absurdID {
			a.absurd = true
			id = strings.ToValidUTF8(id[:MaxIDLen], "") + "…"
			a.fail("bad_id", id, fmt.Sprintf("nodes[%d].id", i), "Give the node another id.", "the id %q is longer than %d characters", id, MaxIDLen)
			continue
		}
		if why := idProblem(id); why != "" {
			a.fail("bad_id", id, fmt.Sprintf("nodes[%d].id", i), "Give the node another id.", "the id %q %s", id, why)
		}
		if first, dup := a.byID[id]; dup {
			a.fail("duplicate_id", id, fmt.Sprintf("nodes[%d].id", i), "Give one of them another id.",
				"the id %q is used by nodes[%d] and nodes[%d]", id, first, i)
			a.broken = true
			continue
		}
		a.byID[id] = i
		a.steps[id] = true
		a.checkLength(id, "label", a.def.Nodes[i].Label, MaxName)
		a.checkLength(id, "notes", a.def.Nodes[i].Notes, MaxDescription)
	}
}

// normalID brings an id into Unicode normal form C: the same name typed on two
// systems is one id.
func normalID(id string) string { return expr.NormalName(id) }

// idProblem says why an id is refused. Slashes and brackets are the separators of
// addresses; quotes and braces would have to be escaped in templates.
func idProblem(id string) string {
	switch {
	case id == "":
		return "is empty"
	case !utf8.ValidString(id):
		return "is not valid UTF-8"
	case utf8.RuneCountInString(id) > MaxIDLen:
		return fmt.Sprintf("is longer than %d characters", MaxIDLen)
	case strings.TrimSpace(id) != id:
		return "begins or ends with a space"
	}
	for _, r := range id {
		if strings.ContainsRune("/[]{}\"'\\`#@", r) || unicode.IsControl(r) {
			return fmt.Sprintf("holds %q, which ids must not", r)
		}
	}
	return ""
}

func (a *analysis) checkKinds() {
	n := len(a.def.Nodes)
	a.kinds, a.specs, a.handles = make([]Kind, n), make([]Spec, n), make([][]Handle, n)
	for i := range a.def.Nodes {
		node := &a.def.Nodes[i]
		kind, ok := a.reg.Kind(node.Type)
		if !ok {
			a.fail("unknown_type", node.ID, "type", a.suggestType(node.Type), "there is no node type %q", node.Type)
			continue
		}
		a.kinds[i], a.specs[i] = kind, kind.Spec()
		a.handles[i] = handlesOf(kind, a.specs[i], node.Config)
	}
}

func (a *analysis) suggestType(typ string) string {
	var names []string
	for _, s := range a.reg.Specs() {
		names = append(names, s.Type)
	}
	if best := nearest(typ, names); best != "" {
		return fmt.Sprintf("Did you mean %q?", best)
	}
	return "Types are: " + strings.Join(names, ", ") + "."
}

// handlesOf lists a node's outputs with its config.
func handlesOf(kind Kind, spec Spec, config json.RawMessage) []Handle {
	if l, ok := kind.(HandleLister); ok {
		return l.HandlesOf(config)
	}
	if spec.HandlesFrom == "" {
		return spec.Handles
	}
	var fields map[string]json.RawMessage
	var own []Handle
	if json.Unmarshal(rawOr(config, "{}"), &fields) == nil {
		_ = json.Unmarshal(fields[spec.HandlesFrom], &own)
	}
	own = slices.DeleteFunc(own, func(h Handle) bool { return h.ID == "" })
	for i := range own {
		if own[i].Label == "" {
			own[i].Label = own[i].ID
		}
	}
	if spec.Class == Parking && len(own) > 0 {
		return own // the config's outcomes replace the standard ones
	}
	return append(own, spec.Handles...)
}

func (a *analysis) checkParents() {
	n := len(a.def.Nodes)
	a.parent, a.depth = make([]int, n), make([]int, n)
	for i := range a.def.Nodes {
		node := &a.def.Nodes[i]
		a.parent[i] = -1
		if node.Parent == "" {
			continue
		}
		p, ok := a.byID[node.Parent]
		switch {
		case !ok:
			a.fail("missing_parent", node.ID, "parent", "Put the node into an existing container.", "the container %q does not exist", node.Parent)
			a.broken = true
		case a.kinds[p] != nil && a.specs[p].Class != Container:
			a.fail("parent_is_no_container", node.ID, "parent", "Only loops and branches hold nodes.", "%q is no container", node.Parent)
			a.broken = true
		default:
			a.parent[i] = p
		}
	}
	a.checkNesting()
	for i := range a.def.Nodes {
		a.children[a.parent[i]] = append(a.children[a.parent[i]], i)
	}
}

// checkNesting finds containers inside of themselves, and what is too deep or in
// the wrong container.
func (a *analysis) checkNesting() {
	for i := range a.def.Nodes {
		id := a.def.Nodes[i].ID
		depth := 0
		for p := a.parent[i]; p >= 0; p = a.parent[p] {
			if depth++; p == i || depth > len(a.def.Nodes) {
				a.fail("cycle", id, "parent", "Move it out.", "the container %q is inside of itself", id)
				a.parent[i], a.broken = -1, true
				break
			}
		}
		if a.depth[i] = depth; depth > MaxDepth {
			a.fail("too_deep", id, "parent", "Use a sub-workflow.", "%q is nested %d deep; at most %d are allowed", id, depth, MaxDepth)
			a.broken = true
		}
		a.checkPlace(i)
	}
}

func (a *analysis) checkPlace(i int) {
	id, spec, p := a.def.Nodes[i].ID, a.specs[i], a.parent[i]
	inParallel := p >= 0 && a.specs[p].Container == Parallel
	switch {
	case a.kinds[i] == nil:
	case spec.Container == Branch && !inParallel:
		a.fail("branch_outside_parallel", id, "parent", "Put the branch into a parallel.", "the branch %q is not inside of a parallel", id)
	case spec.Container != Branch && inParallel:
		a.fail("not_a_branch", id, "parent", "Put it into a branch of the parallel.", "a parallel holds branches only; %q is %s", id, a.def.Nodes[i].Type)
	}
}

func (a *analysis) checkSettings() {
	for i := range a.def.Nodes {
		n := &a.def.Nodes[i]
		switch n.OnError {
		case "", OnErrorStop, OnErrorContinue, OnErrorBranch:
		default:
			a.fail("bad_setting", n.ID, "on_error", "Use stop, continue or branch.", "on_error can't be %q", n.OnError)
		}
		switch n.OnInterrupt {
		case "", InterruptRetry, InterruptFail, InterruptAsk:
		default:
			a.fail("bad_setting", n.ID, "on_interrupt", "Use retry, fail or ask.", "on_interrupt can't be %q", n.OnInterrupt)
		}
		if n.TimeoutMS < 0 || n.TimeoutMS > 24*3600*1000 {
			a.fail("bad_setting", n.ID, "timeout_ms", "Use 1 to 86,400,000 milliseconds.", "timeout_ms can't be %d", n.TimeoutMS)
		}
		if r := n.Retry; r != nil && (r.MaxAttempts < 1 || r.MaxAttempts > 100) {
			a.fail("bad_setting", n.ID, "retry.max_attempts", "Use 1 to 100; 1 means no retry.", "max_attempts can't be %d", r.MaxAttempts)
		}
		if r := n.Retry; r != nil && (r.BaseMS < 0 || r.MaxMS < 0) {
			a.fail("bad_setting", n.ID, "retry", "Use times above 0.", "the times of retry can't be negative")
		}
	}
}

func (a *analysis) checkConfigs() {
	a.configs = make([]*expr.Document, len(a.def.Nodes))
	options := map[string]expr.Options{} // by type
	for i := range a.def.Nodes {
		if a.kinds[i] == nil {
			continue
		}
		n := &a.def.Nodes[i]
		if bytes.HasPrefix(bytes.TrimSpace(rawOr(n.Config, "{}")), []byte("{")) {
			a.checkSchema(n, a.specs[i])
		}
		if v, ok := a.kinds[i].(ConfigValidator); ok {
			for _, is := range v.ValidateConfig(rawOr(n.Config, "{}")) {
				is.NodeID, is.Field = n.ID, configField(is.Field)
				if is.Severity == "" {
					is.Severity = SeverityError
				}
				if len(a.issues) >= maxIssues {
					a.more(is.Severity)
					break
				}
				a.issues = append(a.issues, is)
			}
		}
		o, ok := options[n.Type]
		if !ok {
			o = specOptions(a.specs[i])
			o.Steps = a.steps
			options[n.Type] = o
		}
		doc, errs := expr.CompileDocument(rawOr(n.Config, "{}"), o)
		for _, e := range errs {
			a.fail("bad_template", n.ID, configField(e.Field), "Correct what stands between {{ and }}.", "%s (at character %d)", e.Message, e.Offset+1)
		}
		a.configs[i] = doc
	}
}

func configField(path string) string {
	switch {
	case path == "":
		return "config"
	case strings.HasPrefix(path, "["):
		return "config" + path
	default:
		return "config." + path
	}
}

func (a *analysis) checkSchema(n *Node, spec Spec) {
	if len(spec.Config) == 0 || a.reg.Schemas() == nil {
		return
	}
	problems, err := a.reg.Schemas().Check(spec.Config, rawOr(n.Config, "{}"), true)
	if err != nil {
		a.fail("bad_config", n.ID, "config", "Simplify the config.", "the config can't be checked: %v", err)
		return
	}
	for _, p := range problems {
		a.fail("bad_config", n.ID, configField(p.Path), "Change the field as the message says; the kind's form shows what it takes.", "%s", p.Message)
	}
}

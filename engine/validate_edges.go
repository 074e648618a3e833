package engine

import (
	"fmt"
	"strings"

	"sluice/engine/expr"
)

func (a *analysis) checkEdges() {
	a.in, a.out = make([][]int, len(a.def.Nodes)), make([][]int, len(a.def.Nodes))
	seen := map[edgeKey]int{}
	for i := range a.def.Edges {
		e := &a.def.Edges[i]
		field := fmt.Sprintf("edges[%d]", i)
		s, okS := a.byID[e.Source]
		t, okT := a.byID[e.Target]
		if !okS {
			a.fail("missing_node", "", field+".source", "Remove the edge or name an existing node.", "the edge's source %q does not exist", e.Source)
		}
		if !okT {
			a.fail("missing_node", "", field+".target", "Remove the edge or name an existing node.", "the edge's target %q does not exist", e.Target)
		}
		if !okS || !okT {
			continue
		}
		if s == t {
			a.fail("cycle", e.Source, field, "Use a loop container to repeat steps.", "the edge leads from %q to itself", e.Source)
			continue
		}
		if a.parent[s] != a.parent[t] {
			a.fail("edge_across_bodies", e.Source, field, "Join nodes inside of one container only.", "the edge from %q to %q crosses the border of a container", e.Source, e.Target)
			continue
		}
		if p := a.parent[s]; p >= 0 && a.specs[p].Container == Parallel {
			a.fail("edge_between_branches", e.Source, field, "Branches run side by side; put steps in order inside of one.", "the edge joins two branches")
			continue
		}
		handle := a.edgeHandle(i, s)
		key := edgeKey{s, t, handle, e.Condition}
		if first, dup := seen[key]; dup {
			a.warn("duplicate_edge", e.Source, field, "Remove one.", "the edge repeats edges[%d]", first)
			continue
		}
		seen[key] = i
		pe := PlanEdge{Index: len(a.edges), At: i, Source: s, Target: t, Handle: handle, Condition: a.edgeCondition(e, field)}
		a.out[s], a.in[t] = append(a.out[s], pe.Index), append(a.in[t], pe.Index)
		a.edges = append(a.edges, pe)
	}
}

// edgeKey tells equal edges apart from different ones.
type edgeKey struct {
	source, target    int
	handle, condition string
}

// edgeHandle resolves an edge's handle and reports one that does not exist.
func (a *analysis) edgeHandle(i, source int) string {
	e := &a.def.Edges[i]
	handles, spec := a.handles[source], a.specs[source]
	if a.kinds[source] == nil {
		return e.Handle
	}
	if spec.NoOutput {
		a.fail("no_output", e.Source, fmt.Sprintf("edges[%d]", i), "Remove the edge.", "nothing follows a node of type %s", spec.Type)
	}
	if e.Handle == "" {
		switch {
		case len(handles) == 0:
			return ""
		case spec.Class != Parking && len(handles) > 1:
			a.warn("edge_without_handle", e.Source, fmt.Sprintf("edges[%d].handle", i), "Choose a handle.",
				"the edge from %q names no handle; it is taken whichever is chosen", e.Source)
			return HandleAny
		default:
			return handles[0].ID
		}
	}
	if e.Handle == HandleError || a.hasHandle(source, e.Handle) {
		return e.Handle
	}
	if len(handles) == 0 && (e.Handle == "out" || e.Handle == "output" || e.Handle == "source" || e.Handle == "default") {
		return "" // what canvas libraries call the only output
	}
	fix := "The node has one unnamed output."
	if len(handles) > 0 {
		names := make([]string, min(len(handles), maxNames))
		for j := range names {
			names[j] = clip(handles[j].ID)
		}
		if len(handles) > maxNames {
			names = append(names, "…")
		}
		fix = "Handles are: " + strings.Join(names, ", ") + ", error."
	}
	a.fail("unknown_handle", e.Source, fmt.Sprintf("edges[%d].handle", i), fix, "%q has no handle %q", e.Source, e.Handle)
	return e.Handle
}

// hasHandle looks a handle up; each node's set is made once, as a switch may have
// thousands of cases and edges.
func (a *analysis) hasHandle(node int, handle string) bool {
	set, ok := a.handleSets[node]
	if !ok {
		set = make(map[string]bool, len(a.handles[node]))
		for _, h := range a.handles[node] {
			set[h.ID] = true
		}
		a.handleSets[node] = set
	}
	return set[handle]
}

// clip shortens a name to what an id may have.
func clip(name string) string {
	if len(name) <= MaxIDLen {
		return name
	}
	return strings.ToValidUTF8(name[:MaxIDLen], "") + "…"
}

func (a *analysis) edgeCondition(e *Edge, field string) *expr.Expression {
	if strings.TrimSpace(e.Condition) == "" {
		return nil
	}
	x, err := expr.CompileExpression(stripBraces(e.Condition), expr.Options{Steps: a.steps})
	if err != nil {
		a.fail("bad_expression", e.Source, field+".condition", "Write an expression that is true or false, such as step.review.score > 0.8.", "the condition does not compile: %v", err)
		return nil
	}
	return x
}

// stripBraces lets a condition be written as {{…}} too.
func stripBraces(s string) string {
	t := strings.TrimSpace(s)
	if strings.HasPrefix(t, "{{") && strings.HasSuffix(t, "}}") && strings.Count(t, "{{") == 1 {
		return t[2 : len(t)-2]
	}
	return s
}

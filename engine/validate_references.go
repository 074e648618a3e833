package engine

import (
	"fmt"

	"sluice/engine/expr"
)

// checkReferences looks at what templates and expressions mention.
func (a *analysis) checkReferences() {
	r := &references{a: a, variables: a.variables(), dominators: map[int][]bits64{}, told: map[told]bool{}, meant: map[string]string{}}
	for i, doc := range a.configs {
		if doc == nil {
			continue
		}
		for _, ref := range doc.References() {
			r.check(i, false, configField(ref.Field), ref)
		}
	}
	for i := range a.edges {
		e := &a.edges[i]
		if e.Condition != nil {
			for _, ref := range e.Condition.References() {
				r.check(e.Source, true, fmt.Sprintf("edges[%d].condition", e.At), ref)
			}
		}
	}
}

// variables are the names that a bare word may have: initial variables and those
// that some node assigns.
func (a *analysis) variables() map[string]bool {
	names := map[string]bool{}
	add := func(raw []byte) {
		if v, err := expr.Decode(raw); err == nil {
			if o, ok := v.(*expr.Object); ok {
				for _, k := range o.Keys() {
					names[k] = true
				}
			}
		}
	}
	if len(a.def.Variables) > 0 {
		add(a.def.Variables)
	}
	for i := range a.def.Nodes {
		if raw := assignments(a.def.Nodes[i].Config); len(raw) > 0 {
			add(raw)
		}
	}
	return names
}

type references struct {
	a          *analysis
	variables  map[string]bool
	dominators map[int][]bits64
	// told are the references that were looked at: a field that mentions a path a
	// hundred times has one issue.
	told map[told]bool
	// meant are the ids that unknown names are nearest to; ids are all of them.
	meant map[string]string
	ids   []string
}

// told tells references of one workflow apart.
type told struct {
	node               int
	after              bool
	field, path        string
	optional, fallback bool
}

func (r *references) check(at int, after bool, field string, ref expr.Reference) {
	key := told{at, after, field, ref.Path, ref.Optional, ref.Fallback}
	if r.told[key] {
		return
	}
	r.told[key] = true
	a, node := r.a, &r.a.def.Nodes[at]
	switch ref.Root {
	case expr.RootStep, expr.RootNode:
		r.checkStep(at, after, field, ref)
	case expr.RootLoopItem, expr.RootLoopIndex:
		inLoop := a.specs[at].Container == Loop && ref.Root == expr.RootLoopIndex && field == "config.while"
		for p := a.parent[at]; p >= 0 && !inLoop; p = a.parent[p] {
			inLoop = a.specs[p].Container == Loop
		}
		if !inLoop {
			a.fail("outside_loop", node.ID, field, "Move the node into a loop.", "{{%s}} exists only inside of a loop", ref.Path)
		}
	case expr.RootLoop:
		p := a.parent[at]
		for p >= 0 && a.def.Nodes[p].ID != ref.Name {
			p = a.parent[p]
		}
		if p < 0 {
			a.fail("outside_loop", node.ID, field, "Name a loop around the node.", "{{%s}}: the node is not inside of a loop %q", ref.Path, ref.Name)
		}
	case expr.RootVar, expr.RootVars:
		if ref.Name != "" && !r.variables[ref.Name] && !ref.Optional {
			fix := "Add it to the workflow's variables."
			if a.steps[ref.Name] {
				fix = "Did you mean step." + ref.Name + "?"
			}
			a.warn("unknown_variable", node.ID, field, fix, "{{%s}}: there is no variable %q", ref.Path, ref.Name)
		}
	default: // the input, the run and secrets are always there
	}
}

func (r *references) checkStep(at int, after bool, field string, ref expr.Reference) {
	a, node := r.a, &r.a.def.Nodes[at]
	target, ok := a.byID[ref.Name]
	if !ok {
		a.fail("unknown_step", node.ID, field, r.suggest(ref.Name), "{{%s}}: there is no step %q", ref.Path, ref.Name)
		return
	}
	if after && target == at {
		return
	}
	t, from, throughLoop := r.lift(target, at)
	switch {
	case throughLoop:
		a.warn("not_readable", node.ID, field, "Read the loop's results instead.", "{{%s}}: %q is inside of a loop and can't be read from outside", ref.Path, ref.Name)
	case t == from || !a.upstream[from].has(a.pos[t]):
		a.warn("not_upstream", node.ID, field, "Connect the step before this one.", "{{%s}}: %q does not run before %q", ref.Path, ref.Name, node.ID)
	case !ref.Optional && !ref.Fallback && !r.certain(t, from):
		a.warn("may_be_skipped", node.ID, field, "Give a default with ??.", "{{%s}}: %q may have been skipped when %q runs", ref.Path, ref.Name, node.ID)
	}
}

// maxSuggestions bounds the names that are compared with every id.
const maxSuggestions = 100

// suggest says which step an unknown name was probably meant for, if any.
func (r *references) suggest(name string) string {
	best, ok := r.meant[name]
	if !ok && len(r.meant) < maxSuggestions {
		if r.ids == nil {
			r.ids = sortedNames(r.a.steps)
		}
		best = nearest(name, r.ids)
		r.meant[name] = best
	}
	if best == "" {
		return ""
	}
	return "Did you mean " + expr.PathTo(expr.RootStep, best) + "?"
}

// lift goes up from two nodes to the ancestors that share a body.
func (r *references) lift(target, at int) (t, from int, throughLoop bool) {
	a := r.a
	for a.depth[target] > a.depth[at] || a.parent[target] != a.parent[at] {
		if a.depth[target] >= a.depth[at] {
			if target = a.parent[target]; target < 0 {
				return 0, 0, true
			}
			throughLoop = throughLoop || a.specs[target].Container == Loop
			continue
		}
		if at = a.parent[at]; at < 0 {
			return 0, 0, true
		}
		// Going up on this side may bring the two together at a loop around both.
	}
	if a.parent[target] != a.parent[at] {
		return target, at, true
	}
	return target, at, throughLoop
}

// certain reports whether t has run whenever from runs: it always runs in its
// body, or every way to from leads through it.
func (r *references) certain(t, from int) bool {
	body := r.a.parent[t]
	dom, ok := r.dominators[body]
	if !ok {
		dom = r.a.sureSets(body)
		r.dominators[body] = dom
	}
	return dom[r.a.pos[from]].has(r.a.pos[t])
}

package engine

import (
	"fmt"
	"slices"
	"strings"

	"sluice/engine/expr"
)

// bits64 is a set of positions.
type bits64 []uint64

func newBits(n int) bits64      { return make(bits64, (n+63)/64) }
func (b bits64) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bits64) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bits64) union(o bits64) {
	for i := range b {
		b[i] |= o[i]
	}
}

func (b bits64) intersect(o bits64) {
	for i := range b {
		b[i] &= o[i]
	}
}

func (b bits64) fill() {
	for i := range b {
		b[i] = ^uint64(0)
	}
}

// checkCycles orders each body topologically, ties in definition order, and
// reports the nodes of a cycle.
func (a *analysis) checkCycles() {
	a.pos = make([]int, len(a.def.Nodes))
	for _, body := range a.bodies() {
		nodes := a.children[body]
		for i, n := range nodes {
			a.pos[n] = i
		}
		order := a.order(nodes)
		if len(order) < len(nodes) {
			a.reportCycle(nodes, order)
			a.broken = true
		}
		a.topo[body] = order
	}
	if a.broken {
		return
	}
	a.upstream = make([]bits64, len(a.def.Nodes))
	for body, order := range a.topo {
		size := len(a.children[body])
		for _, n := range order {
			up := newBits(size)
			for _, e := range a.in[n] {
				s := a.edges[e].Source
				up.union(a.upstream[s])
				up.set(a.pos[s])
			}
			a.upstream[n] = up
		}
	}
}

// bodies lists the bodies' owners in order, the root (-1) first.
func (a *analysis) bodies() []int {
	out := make([]int, 0, len(a.children))
	for b := range a.children {
		out = append(out, b)
	}
	slices.Sort(out)
	return out
}

// order is Kahn's algorithm with a heap-free ready list: nodes become ready in
// waves, each wave in definition order.
func (a *analysis) order(nodes []int) []int {
	open := make(map[int]int, len(nodes))
	var wave, out []int
	for _, n := range nodes {
		if open[n] = len(a.in[n]); open[n] == 0 {
			wave = append(wave, n)
		}
	}
	for len(wave) > 0 {
		var next []int
		for _, n := range wave {
			out = append(out, n)
			for _, e := range a.out[n] {
				t := a.edges[e].Target
				if open[t]--; open[t] == 0 {
					next = append(next, t)
				}
			}
		}
		slices.Sort(next)
		wave = next
	}
	return out
}

// reportCycle names the nodes of one cycle among those that have no order.
func (a *analysis) reportCycle(nodes, order []int) {
	done := map[int]bool{}
	for _, n := range order {
		done[n] = true
	}
	var at int
	for _, n := range nodes {
		if !done[n] {
			at = n
			break
		}
	}
	// Going back over unordered sources must come round.
	seen := map[int]int{}
	var path []int
	for {
		if first, ok := seen[at]; ok {
			path = path[first:]
			break
		}
		seen[at] = len(path)
		path = append(path, at)
		for _, e := range a.in[at] {
			if s := a.edges[e].Source; !done[s] {
				at = s
				break
			}
		}
	}
	slices.Reverse(path)
	ids := make([]string, 0, len(path)+1)
	for _, n := range path[:min(len(path), 20)] {
		ids = append(ids, a.def.Nodes[n].ID)
	}
	ids = append(ids, ids[0])
	a.fail("cycle", a.def.Nodes[path[0]].ID, "edges", "Use a loop container to repeat steps.", "the edges go round in a circle: %s", strings.Join(ids, " → "))
}

// checkReach warns of nodes that nothing leads to.
func (a *analysis) checkReach() {
	reached := make([]bool, len(a.def.Nodes))
	for _, body := range a.bodies() {
		if body >= 0 && (!reached[body] && a.parent[body] < 0) {
			continue
		}
		for _, n := range a.topo[body] {
			entry := body >= 0 && len(a.in[n]) == 0 || a.def.Nodes[n].Type == "trigger"
			for _, e := range a.in[n] {
				entry = entry || reached[a.edges[e].Source]
			}
			reached[n] = entry
		}
	}
	for i := range a.def.Nodes {
		n := &a.def.Nodes[i]
		if a.parent[i] >= 0 || reached[i] || n.Type == "trigger" {
			continue
		}
		if len(a.in[i]) == 0 && len(a.out[i]) == 0 {
			a.warn("orphan", n.ID, "", "Connect it or delete it.", "%q is not connected; it never runs", n.ID)
		} else {
			a.warn("unreachable", n.ID, "", "Connect it to what comes after the trigger.", "nothing leads from the trigger to %q; it never runs", n.ID)
		}
	}
}

// checkHandlesUsed warns of a chosen output that leads nowhere while another does.
func (a *analysis) checkHandlesUsed() {
	for i := range a.def.Nodes {
		n := &a.def.Nodes[i]
		used := a.usedHandles(i)
		if n.OnError == OnErrorBranch && !used[HandleError] {
			a.warn("unconnected_handle", n.ID, "on_error", "Connect the handle \"error\" or choose continue.",
				"%q branches on errors, but its handle \"error\" leads nowhere", n.ID)
		}
		if a.kinds[i] == nil || a.specs[i].Class == Parking || len(a.handles[i]) < 2 || len(a.out[i]) == 0 || used[HandleAny] {
			continue
		}
		for _, h := range a.handles[i] {
			if !used[h.ID] && a.specs[i].Type == "switch" {
				a.warn("unconnected_handle", n.ID, "", "Connect it, or leave it if nothing should follow.", "the handle %q of %q leads nowhere", h.ID, n.ID)
			}
		}
	}
}

// usedHandles are the handles that edges leave a node from.
func (a *analysis) usedHandles(node int) map[string]bool {
	used := map[string]bool{}
	for _, e := range a.out[node] {
		used[a.edges[e].Handle] = true
	}
	return used
}

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
				r.check(e.Source, true, fmt.Sprintf("edges[%d].condition", a.edgeAt[i]), ref)
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

// sureSets gives, for each node of a body, the nodes that have certainly run when
// it runs: its own certain sources and theirs. An edge is certain if its source has
// one output and it carries no condition; a node runs certainly with a source if
// some certain edge leads from it, and what all of its sources share has run too.
func (a *analysis) sureSets(body int) []bits64 {
	nodes := a.children[body]
	sure := make([]bits64, len(nodes))
	// always holds the nodes that run whenever the body does.
	always := newBits(len(nodes))
	for _, n := range a.topo[body] {
		p := a.pos[n]
		set := newBits(len(nodes))
		if len(a.in[n]) > 0 {
			set.fill()
			for _, e := range a.in[n] {
				s := a.pos[a.edges[e].Source]
				set.intersect(sure[s])
			}
		} else {
			always.set(p)
		}
		for _, e := range a.in[n] {
			if s := a.pos[a.edges[e].Source]; a.certainEdge(e) && always.has(s) {
				always.set(p)
			}
		}
		set.set(p)
		sure[p] = set
	}
	for _, n := range nodes {
		p := a.pos[n]
		up := newBits(len(nodes))
		up.union(a.upstream[n])
		up.intersect(always)
		sure[p].union(up)
	}
	return sure
}

func (a *analysis) certainEdge(e int) bool {
	edge := &a.edges[e]
	if a.def.Nodes[edge.Source].OnError == OnErrorBranch {
		return false // dead when the source fails
	}
	return edge.Condition == nil && (len(a.handles[edge.Source]) < 2 && edge.Handle != HandleError || edge.Handle == HandleAny)
}

// nearest is the name with the smallest edit distance, if it is close.
func nearest(name string, names []string) string {
	best, score := "", 3
	for i, n := range names {
		if i > 500 {
			break
		}
		if d := distance(name, n); d < score && d < max(2, len(n)/2) {
			best, score = n, d
		}
	}
	return best
}

// distance is the Levenshtein distance, cut off for long names.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 60 || len(y) > 60 {
		return 100
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		last := row[0]
		row[0] = i + 1
		for j := range y {
			cost := last
			if x[i] != y[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(row[j+1]+1, row[j]+1, cost)
		}
	}
	return row[len(y)]
}

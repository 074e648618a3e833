package engine

import (
	"slices"
	"strings"
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

func (a *analysis) checkTriggerAndEnd() {
	var triggers []string
	ends := 0
	for i := range a.def.Nodes {
		switch n := &a.def.Nodes[i]; n.Type {
		case "trigger":
			triggers = append(triggers, n.ID)
			if n.Parent != "" {
				a.fail("trigger_inside", n.ID, "parent", "Move the trigger out.", "the trigger is inside of a container")
			}
		case "end":
			if n.Parent == "" {
				ends++
			}
		}
	}
	switch {
	case len(triggers) == 0:
		a.fail("no_trigger", "", "nodes", "Add a trigger node.", "the workflow has no trigger")
	case len(triggers) > 1:
		names := strings.Join(triggers[:min(len(triggers), maxNames)], ", ")
		if len(triggers) > maxNames {
			names += ", …"
		}
		for _, id := range triggers[1:] {
			a.fail("several_triggers", id, "type", "Keep one trigger.", "the workflow has %d triggers: %s", len(triggers), names)
		}
	}
	if ends == 0 {
		a.warn("no_end", "", "nodes", "Add an end node to say what the run gives.", "the workflow has no end node; its output is that of its last steps")
	}
}

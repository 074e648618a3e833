package enginetest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"sluice/engine"
)

func (o *oracle) loop(n *drawnNode, v view) *result {
	at := address(v.prefix, n.id)
	r := &result{fate: &fate{status: engine.StepSucceeded, mark: strconv.Itoa(n.count)}, written: map[string]string{}}
	seen := maps.Clone(v.vars)
	var culprits []int
	for i := range n.count {
		item := strconv.Itoa(i)
		if n.form == "list" {
			item = strconv.Itoa(i * 10)
		}
		out := o.body(n.body, view{prefix: fmt.Sprintf("%s[%d]", at, i), index: i, item: item, vars: maps.Clone(seen)})
		if out.blame.any() {
			r.blame = r.blame.or(out.blame)
			culprits = append(culprits, i)
			continue
		}
		maps.Copy(r.written, out.written)
		if n.concurrency == 1 {
			maps.Copy(seen, out.written)
		}
	}
	if len(culprits) > 0 && n.itemError == "stop" {
		r.fate.status, r.fate.mark, r.written = engine.StepFailed, "", nil
		r.stops = n.onError == ""
		for i := range n.count {
			if n.concurrency > 1 || i > culprits[0] {
				o.doubtIteration(at, i)
			}
		}
		if n.concurrency == 1 { // the first one to fail is the last one to run
			r.blame = o.blameOf(n, v, seen, culprits[0])
		}
		return r
	}
	r.blame = blame{}
	return r
}

// blameOf asks one iteration again, whose blame was mixed with that of others.
func (o *oracle) blameOf(n *drawnNode, v view, vars map[string]string, i int) blame {
	again := &oracle{flow: o.flow, fates: map[string]*fate{}}
	out := again.body(n.body, view{prefix: fmt.Sprintf("%s[%d]", address(v.prefix, n.id), i), index: i, item: "0", vars: vars})
	return out.blame
}

func (o *oracle) doubtIteration(loop string, i int) {
	prefix := fmt.Sprintf("%s[%d]/", loop, i)
	for a, f := range o.fates {
		if len(a) > len(prefix) && a[:len(prefix)] == prefix {
			f.uncertain = true
		}
	}
}

func (o *oracle) parallel(n *drawnNode, v view) *result {
	at := address(v.prefix, n.id)
	r := &result{fate: &fate{status: engine.StepSucceeded}, written: map[string]string{}}
	failed, first := 0, blame{}
	for i, br := range n.branches {
		where := address(at, br.id)
		inner := v
		inner.prefix, inner.vars = where, maps.Clone(v.vars)
		out := o.body(br.body, inner)
		f := &fate{status: engine.StepSucceeded}
		if out.blame.any() {
			f.status = engine.StepFailed
			if failed++; failed == 1 {
				first = out.blame
			}
		} else {
			maps.Copy(r.written, out.written)
		}
		o.fates[where] = f
		if i == 0 {
			r.fate.mark = strconv.FormatBool(!out.blame.any())
		}
	}
	if n.require == "all" && failed > 0 || n.require == "any" && failed == len(n.branches) {
		r.fate.status, r.fate.mark, r.written = engine.StepFailed, "", nil
		r.blame, r.stops = first, n.onError == ""
	}
	return r
}

// visible are the variables that a node reads: what its body saw when it began, and
// what the nodes upstream of it have assigned since, in topological order.
func (b *drawnBody) visible(at int, vars map[string]string, results []*result) map[string]string {
	out := maps.Clone(vars)
	up := b.upstream(at)
	for _, i := range b.order() {
		if up[i] && results[i].fate.status == engine.StepSucceeded {
			maps.Copy(out, results[i].written)
		}
	}
	return out
}

// upstream are the nodes from which edges lead to a node.
func (b *drawnBody) upstream(at int) map[int]bool {
	out := map[int]bool{}
	for queue := []int{at}; len(queue) > 0; queue = queue[1:] {
		for _, s := range b.sources(queue[0]) {
			if !out[s] {
				out[s] = true
				queue = append(queue, s)
			}
		}
	}
	return out
}

// order is topological: by the longest way from a beginning, then as written.
func (b *drawnBody) order() []int {
	level := make([]int, len(b.nodes))
	out := make([]int, len(b.nodes))
	for i := range b.nodes {
		out[i] = i
		for _, e := range b.edges {
			if e.to == i && e.from >= 0 {
				level[i] = max(level[i], level[e.from]+1)
			}
			if e.to == i && e.from < 0 {
				level[i] = max(level[i], 1)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y int) int { return level[x] - level[y] })
	return out
}

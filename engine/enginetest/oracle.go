package enginetest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"strconv"
	"strings"

	"sluice/engine"
)

// The oracle says what becomes of a flow by the rules alone. It shares no code with
// the engine.
//
// A step that fails under "stop" fails its scope: what else becomes of the steps there
// is a matter of timing, so all but the culprit and what came before it is uncertain:
// it came out as foretold, or was cancelled, skipped, or never reached.

// fate is what the oracle foretells of one step.
type fate struct {
	status    engine.StepStatus
	uncertain bool
	attempts  int    // of probes
	mark      string // what it gave, as JSON, where later steps read it
	input     *task  // of probes
}

// blame is the set of codes that a failed scope or container may have.
type blame struct{ failed, rejected bool }

func (b blame) any() bool { return b.failed || b.rejected }

func (b blame) or(o blame) blame { return blame{b.failed || o.failed, b.rejected || o.rejected} }

type oracle struct {
	flow  *Flow
	fates map[string]*fate
}

// view is what a step sees around it.
type view struct {
	prefix string
	index  int               // of the innermost iteration
	item   string            // JSON, "" outside of loops
	vars   map[string]string // seen when the body began
}

// outcome is how a body came out.
type outcome struct {
	blame   blame
	written map[string]string
}

// foretell computes the fate of every step, and how the run may end.
func (f *Flow) foretell() (map[string]*fate, blame) {
	o := &oracle{flow: f, fates: map[string]*fate{"start": {status: engine.StepSucceeded}}}
	out := o.body(f.root, view{index: -1, vars: map[string]string{"w": `"w0"`}})
	return o.fates, out.blame
}

// result is how a node came out in a body.
type result struct {
	fate    *fate
	handle  string
	blame   blame // of a failure, whether or not it stops the scope
	stops   bool
	written map[string]string
}

func (o *oracle) body(b *drawnBody, v view) outcome {
	results := make([]*result, len(b.nodes))
	for i, n := range b.nodes {
		if !o.runs(b, i, v, results) {
			results[i] = &result{fate: &fate{status: engine.StepSkipped}}
		} else {
			seen := v
			seen.vars = b.visible(i, v.vars, results)
			results[i] = o.node(b, i, seen, results)
		}
		o.fates[address(v.prefix, n.id)] = results[i].fate
	}
	out := outcome{written: map[string]string{}}
	var culprits []int
	for i, r := range results {
		if r.stops {
			culprits = append(culprits, i)
			out.blame = out.blame.or(r.blame)
		}
	}
	for _, i := range b.order() {
		if results[i].fate.status == engine.StepSucceeded {
			maps.Copy(out.written, results[i].written)
		}
	}
	if len(culprits) > 0 {
		o.doubt(b, v.prefix, culprits)
	}
	return out
}

// doubt marks what a failing scope leaves to chance.
func (o *oracle) doubt(b *drawnBody, prefix string, culprits []int) {
	certain := map[int]bool{}
	if len(culprits) == 1 {
		certain = b.upstream(culprits[0])
		certain[culprits[0]] = true
	}
	for i, n := range b.nodes {
		if certain[i] {
			continue
		}
		o.doubtBelow(address(prefix, n.id))
	}
}

// doubtBelow marks a step and all inside of it.
func (o *oracle) doubtBelow(at string) {
	for a, f := range o.fates {
		if a == at || strings.HasPrefix(a, at+"/") || strings.HasPrefix(a, at+"[") {
			f.uncertain = true
		}
	}
}

// runs tells whether a node has a taken edge, or needs none.
func (o *oracle) runs(b *drawnBody, at int, v view, results []*result) bool {
	edges := 0
	for _, e := range b.edges {
		if e.to != at {
			continue
		}
		edges++
		if e.from < 0 && o.holds(e.when, v) {
			return true
		}
		if e.from >= 0 && o.takes(b, e, v, results) {
			return true
		}
	}
	return edges == 0 && !b.root
}

func (o *oracle) holds(q *question, v view) bool {
	if q == nil {
		return true
	}
	switch q.about {
	case "input":
		return o.flow.n > q.value
	case "index":
		return v.index%2 == q.value
	default:
		return q.yes
	}
}

func (o *oracle) takes(b *drawnBody, e drawnEdge, v view, results []*result) bool {
	n, r := b.nodes[e.from], results[e.from]
	if !o.holds(e.when, v) {
		return false
	}
	switch r.fate.status {
	case engine.StepSucceeded:
		named := n.kind == "condition" || n.kind == "switch"
		return e.handle == r.handle || named && e.handle == ""
	case engine.StepFailed:
		if r.stops {
			return false
		}
		if e.handle == "error" {
			return true
		}
		if n.onError == "branch" {
			return false
		}
		for _, other := range b.edges { // "continue" goes on by the error's own edges if it has some
			if other.from == e.from && other.handle == "error" && o.holds(other.when, v) {
				return false
			}
		}
		return e.handle == ""
	default:
		return false
	}
}

// node foretells a node that runs.
func (o *oracle) node(b *drawnBody, at int, v view, results []*result) *result {
	n := b.nodes[at]
	switch n.kind {
	case "probe":
		return o.probe(b, at, v, results)
	case "set":
		mark := n.id
		for _, s := range b.sources(at) {
			if k := b.nodes[s].kind; k == "probe" || k == "set" {
				mark = n.id + ":" + strings.Trim(results[s].reads(b.nodes[s]), `"`)
				break
			}
		}
		r := &result{fate: &fate{status: engine.StepSucceeded, mark: `"` + mark + `"`}}
		if n.assigns != "" {
			r.written = map[string]string{n.assigns: r.fate.mark}
		}
		return r
	case "condition":
		yes := o.holds(&n.asks[0], v)
		return &result{handle: map[bool]string{true: "then", false: "else"}[yes], fate: &fate{status: engine.StepSucceeded, mark: strconv.FormatBool(yes)}}
	case "switch":
		r := &result{handle: "default"}
		for i := len(n.asks) - 1; i >= 0; i-- {
			if o.holds(&n.asks[i], v) {
				r.handle = fmt.Sprintf("c%d", i)
			}
		}
		r.fate = &fate{status: engine.StepSucceeded, mark: `"` + r.handle + `"`}
		return r
	case "approval":
		return o.approval(b, at, address(v.prefix, n.id))
	case "loop":
		return o.loop(n, v)
	case "parallel":
		return o.parallel(n, v)
	default: // wait
		return &result{fate: &fate{status: engine.StepSucceeded}}
	}
}

// reads is what a later step reads of a node.
func (r *result) reads(n *drawnNode) string {
	switch {
	case r.fate.status == engine.StepSucceeded:
		return r.fate.mark
	case n.kind == "parallel":
		return "false"
	default:
		return `"-"`
	}
}

func (o *oracle) probe(b *drawnBody, at int, v view, results []*result) *result {
	n := b.nodes[at]
	t := &task{ID: n.id, In: []json.RawMessage{}, Fail: n.fail, Fatal: n.fatal}
	for _, s := range b.sources(at) {
		if b.nodes[s].reading() != "" {
			t.In = append(t.In, []byte(results[s].reads(b.nodes[s])))
		}
	}
	for _, name := range []string{"v", "w"} {
		x, ok := v.vars[name]
		if !ok {
			x = `"-"`
		}
		t.Vars = append(t.Vars, []byte(x))
	}
	t.Item = []byte(v.item)
	r := &result{fate: &fate{input: t, attempts: n.fail + 1, status: engine.StepSucceeded, mark: `"` + t.mark() + `"`}}
	if n.fatal || n.fail >= n.tries {
		r.fate.status, r.fate.mark, r.fate.attempts = engine.StepFailed, "", n.tries
		if n.fatal {
			r.fate.attempts = 1
		}
		r.blame, r.stops = blame{failed: true}, n.onError == ""
	}
	return r
}

// mark sums up what a probe was given.
func (t *task) mark() string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s %s %s", t.ID, t.In, t.Vars, t.Item)
	return strconv.FormatUint(h.Sum64(), 16)
}

func (o *oracle) approval(b *drawnBody, at int, where string) *result {
	outcome := o.flow.decision(where)
	if outcome == "reject" && !b.handles(at, "reject") {
		return &result{stops: true, blame: blame{rejected: true}, fate: &fate{status: engine.StepFailed}}
	}
	return &result{handle: outcome, fate: &fate{status: engine.StepSucceeded, mark: `"` + outcome + `"`}}
}

func (b *drawnBody) handles(at int, handle string) bool {
	for _, e := range b.edges {
		if e.from == at && e.handle == handle {
			return true
		}
	}
	return false
}

// decision is what people say to the approval at an address.
func (f *Flow) decision(address string) string {
	h := fnv.New64a()
	fmt.Fprint(h, f.Seed, address)
	if h.Sum64()%4 == 0 {
		return "reject"
	}
	return "approve"
}

func address(prefix, id string) string {
	if prefix == "" {
		return id
	}
	return prefix + "/" + id
}

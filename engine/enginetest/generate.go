package enginetest

import (
	"fmt"
	"math/rand/v2"
)

// Flow is a random workflow with everything that its oracle needs to know.
type Flow struct {
	Seed uint64
	// Document is the workflow, Input what its runs are given.
	Document string
	Input    string
	// Nodes counts its nodes without the trigger.
	Nodes int

	root *drawnBody
	n    int // workflow_input.n
}

// Shape bounds random workflows. Zero fields take the defaults.
type Shape struct {
	Nodes int // default 40
	Depth int // of containers; default 6
	// Steps bounds what a run of it may execute. Default 300.
	Steps int
	// Calm draws nothing that fails for good, so that each step's fate is certain.
	Calm bool
	// NoPeople draws no approvals, NoTimers no waits and no retries.
	NoPeople, NoTimers bool
}

type drawnBody struct {
	nodes []*drawnNode
	edges []drawnEdge
	// root bodies have the trigger as source -1 and let nodes without edges rest.
	root bool
}

type drawnNode struct {
	id, kind string
	onError  string
	// probe: it fails the first fail attempts of at most tries, or for good at once.
	fail, tries int
	fatal       bool
	// condition, switch: what they ask.
	asks []question
	// set: the variable it assigns, or "".
	assigns string
	// loop
	form        string // times, list, input, while
	count       int
	concurrency int
	itemError   string
	body        *drawnBody // loop and branch
	// parallel
	require  string
	branches []*drawnNode
}

type drawnEdge struct {
	from, to int // from -1: the trigger
	handle   string
	when     *question
}

// question is a condition that the oracle can answer.
type question struct {
	about string // constant, input, index
	value int
	yes   bool
}

func (q question) expression() string {
	switch q.about {
	case "input":
		return fmt.Sprintf("workflow_input.n > %d", q.value)
	case "index":
		return fmt.Sprintf("loop_index %% 2 == %d", q.value)
	default:
		if q.yes {
			return "1 < 2"
		}
		return "1 > 2"
	}
}

// Generate draws a workflow: the same seed and shape give the same one.
func Generate(seed uint64, shape Shape) *Flow {
	if shape.Nodes == 0 {
		shape.Nodes = 40
	}
	if shape.Depth == 0 {
		shape.Depth = 6
	}
	if shape.Steps == 0 {
		shape.Steps = 300
	}
	d := &drawer{Rand: rand.New(rand.NewPCG(seed, 0x5175_1ce)), shape: shape}
	d.left = 1 + d.IntN(shape.Nodes)
	f := &Flow{Seed: seed, n: d.IntN(8)}
	f.Nodes = d.left
	d.steps = shape.Steps
	f.root = d.body(0, 1, false, 1+d.IntN(12))
	f.root.root = true
	f.Nodes = d.next
	items := make([]int, f.n)
	for i := range items {
		items[i] = i * 10
	}
	f.Input = fmt.Sprintf(`{"n":%d,"items":%s}`, f.n, list(items))
	f.Document = f.document()
	return f
}

type drawer struct {
	*rand.Rand
	shape Shape
	left  int // nodes that may still be drawn
	steps int // steps that may still be executed
	next  int // number of the next node
}

// one in n.
func (d *drawer) one(n int) bool { return d.IntN(n) == 0 }

func pick[T any](d *drawer, from ...T) T { return from[d.IntN(len(from))] }

// body draws a body that runs times times in all.
func (d *drawer) body(depth, times int, inLoop bool, size int) *drawnBody {
	b := &drawnBody{}
	for len(b.nodes) < size && d.left > 0 && d.steps > times {
		d.left--
		d.steps -= times
		b.nodes = append(b.nodes, d.node(depth, times, inLoop))
		d.connect(b, depth == 0, inLoop)
	}
	return b
}

func (d *drawer) node(depth, times int, inLoop bool) *drawnNode {
	n := &drawnNode{id: fmt.Sprintf("n%d", d.next), onError: pick(d, "", "", "continue", "branch")}
	d.next++
	kinds := []string{"probe", "probe", "probe", "probe", "set", "set", "condition", "switch"}
	if !d.shape.NoTimers {
		kinds = append(kinds, "wait")
	}
	if !d.shape.NoPeople && times <= 10 {
		kinds = append(kinds, "approval")
	}
	if depth < d.shape.Depth {
		kinds = append(kinds, "loop", "loop", "parallel")
	}
	n.kind = pick(d, kinds...)
	switch n.kind {
	case "probe":
		d.probe(n)
	case "set":
		if d.one(2) {
			n.assigns = pick(d, "v", "w")
		}
	case "condition":
		n.asks = []question{d.question(inLoop)}
	case "switch":
		for range 1 + d.IntN(2) {
			n.asks = append(n.asks, d.question(inLoop))
		}
	case "loop":
		d.loop(n, depth, times)
	case "parallel":
		n.require = pick(d, "none", "any", "all")
		for range 1 + d.IntN(3) {
			br := &drawnNode{id: fmt.Sprintf("n%d", d.next), kind: "branch"}
			d.next++
			br.body = d.body(depth+1, times, inLoop, 1+d.IntN(4))
			n.branches = append(n.branches, br)
		}
	}
	return n
}

func (d *drawer) probe(n *drawnNode) {
	n.tries = 1
	if !d.shape.NoTimers && d.one(3) {
		n.tries = 2 + d.IntN(2)
		n.fail = d.IntN(n.tries)
	}
	if d.one(8) {
		n.fail, n.fatal = 1, true
	} else if d.one(10) {
		n.fail = n.tries
	}
	if d.shape.Calm && n.onError == "" && (n.fatal || n.fail == n.tries) {
		n.onError = "continue"
	}
}

func (d *drawer) loop(n *drawnNode, depth, times int) {
	n.form = pick(d, "times", "list", "while")
	n.count = d.IntN(8)
	if n.count*times > 40 {
		n.count = d.IntN(3)
	}
	n.concurrency = 1
	if n.form != "while" {
		n.concurrency = 1 + d.IntN(4)
	}
	n.itemError = pick(d, "stop", "continue")
	if d.shape.Calm {
		n.itemError = "continue"
	}
	n.body = d.body(depth+1, times*max(1, n.count), true, 1+d.IntN(5))
}

func (d *drawer) question(inLoop bool) question {
	switch {
	case inLoop && d.one(2):
		return question{about: "index", value: d.IntN(2)}
	case d.one(3):
		return question{about: "input", value: d.IntN(8)}
	default:
		return question{about: "constant", yes: d.IntN(3) > 0}
	}
}

// connect joins the newest node of a body to earlier ones. Some stay alone.
func (d *drawer) connect(b *drawnBody, root, inLoop bool) {
	to := len(b.nodes) - 1
	first := 0
	if root {
		first = -1
	}
	sources := 0
	for from := to - 1; from >= first; from-- {
		if sources > 0 && !d.one(4) || sources == 0 && d.one(4) && from > first {
			continue
		}
		if sources == 0 && from == first && d.one(6) {
			continue // no source at all
		}
		sources++
		e := drawnEdge{from: from, to: to}
		if from >= 0 {
			e.handle = d.handle(b.nodes[from])
		}
		if d.one(5) {
			q := d.question(inLoop)
			e.when = &q
		}
		b.edges = append(b.edges, e)
	}
}

func (d *drawer) handle(n *drawnNode) string {
	switch n.kind {
	case "condition":
		return pick(d, "then", "else", "")
	case "switch":
		return pick(d, "c0", fmt.Sprintf("c%d", len(n.asks)-1), "default", "")
	case "approval":
		if d.shape.Calm || d.one(2) {
			return pick(d, "approve", "reject")
		}
		return "approve"
	}
	if n.onError != "" && d.one(3) {
		return "error"
	}
	return ""
}

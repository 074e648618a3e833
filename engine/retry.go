package engine

import (
	"fmt"
	"strconv"
	"strings"
)

// scopeOf splits an address into the prefix of its scope and the node's id.
func scopeOf(address string) (prefix, id string) {
	if i := strings.LastIndexByte(address, '/'); i >= 0 {
		return address[:i], address[i+1:]
	}
	return "", address
}

// containerOf is the address of the container that a scope prefix belongs to, and
// the iteration, or -1.
func containerOf(prefix string) (address string, iteration int) {
	if !strings.HasSuffix(prefix, "]") {
		return prefix, -1
	}
	open := strings.LastIndexByte(prefix, '[')
	if open < 0 {
		return prefix, -1
	}
	n, err := strconv.Atoi(prefix[open+1 : len(prefix)-1])
	if err != nil {
		return prefix, -1
	}
	return prefix[:open], n
}

// history is a run's current records (the latest round of each address), by
// address and by the container whose scopes they are in.
type history struct {
	prog      *program
	byAddress map[string]*Record
	inside    map[string][]*Record // direct children of a container ("" is the root)
}

func newHistory(prog *program, records []Record) *history {
	h := &history{prog: prog, byAddress: map[string]*Record{}, inside: map[string][]*Record{}}
	for i := range records {
		r := &records[i]
		if r.Superseded {
			continue
		}
		if old := h.byAddress[r.Address]; old == nil || old.Round < r.Round {
			h.byAddress[r.Address] = r
		}
	}
	for _, r := range h.byAddress {
		prefix, _ := scopeOf(r.Address)
		c, _ := containerOf(prefix)
		h.inside[c] = append(h.inside[c], r)
	}
	return h
}

func (h *history) node(r *Record) *PlanNode {
	n, ok := h.prog.ByID[r.NodeID]
	if !ok {
		return nil
	}
	return &h.prog.Nodes[n]
}

// below visits the records inside of a container, at any depth.
func (h *history) below(address string, visit func(*Record)) {
	for _, r := range h.inside[address] {
		visit(r)
		h.below(r.Address, visit)
	}
}

// downstream visits the records of the nodes that edges lead to from the node at
// an address, in its own scope, and all that is inside of them.
func (h *history) downstream(address string, visit func(*Record)) {
	prefix, id := scopeOf(address)
	start, ok := h.prog.ByID[id]
	if !ok {
		return
	}
	seen := map[int]bool{start: true}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		for _, e := range h.prog.Nodes[queue[0]].Out {
			t := h.prog.Edges[e].Target
			if seen[t] {
				continue
			}
			seen[t] = true
			queue = append(queue, t)
			next := joinAddress(prefix, h.prog.Nodes[t].Node.ID)
			if r := h.byAddress[next]; r != nil {
				visit(r)
			}
			h.below(next, visit)
		}
	}
}

// resetFailed finds what a retry runs again: the steps that failed the run and
// what came after them. Containers on the way are opened again with the decision
// they had made; everything that succeeded stays.
func resetFailed(prog *program, snap Snapshot) Reset {
	h := newHistory(prog, snap.Records)
	superseded := map[RecordKey]bool{}
	var reset Reset
	drop := func(r *Record) { superseded[r.Key()] = true }
	var walk func(container string)
	walk = func(container string) {
		for _, r := range h.inside[container] {
			node := h.node(r)
			if node == nil || !h.broken(node, r) {
				continue
			}
			h.downstream(r.Address, drop)
			if r.Status == StepSucceeded {
				reset.Records = append(reset.Records, undecided(*r))
				continue
			}
			if node.Spec.Class == Container && (node.Spec.Container != Loop || len(r.Decision) > 0) {
				reset.Records = append(reset.Records, reopened(*r))
				walk(r.Address)
				continue
			}
			drop(r)
			h.below(r.Address, drop)
		}
	}
	walk("")
	kept := reset.Records[:0]
	for _, r := range reset.Records {
		if !superseded[r.Key()] {
			kept = append(kept, r)
		}
	}
	reset.Records = kept
	for _, r := range snap.Records {
		if superseded[r.Key()] {
			reset.Superseded = append(reset.Superseded, r.Key())
		}
	}
	return reset
}

// broken reports whether a record kept its scope from going on.
func (h *history) broken(node *PlanNode, r *Record) bool {
	switch r.Status {
	case StepCancelled:
		return true
	case StepFailed:
		return r.Error == nil || !goesOn(&step{node: node}, r.Error)
	case StepSucceeded:
		return r.Error != nil && !goesOn(&step{node: node}, r.Error)
	default:
		return !r.Status.Terminal()
	}
}

// reopened is a container's record as it was while it ran.
func reopened(r Record) Record {
	r.Status, r.Error, r.Output, r.Taken, r.Variables, r.Handle = StepRunning, nil, nil, nil, nil, ""
	r.EndedAt, r.Warning = zeroTime, ""
	return r
}

// undecided is a succeeded step's record before its edges were decided.
func undecided(r Record) Record {
	r.Error, r.Taken, r.Warning = nil, nil, ""
	return r
}

// forkRecords are the records that a fork from an address starts with.
func forkRecords(prog *program, snap Snapshot, from string) ([]Record, error) {
	h := newHistory(prog, snap.Records)
	if h.byAddress[from] == nil {
		return nil, invalid("from", fmt.Sprintf("the run has no step %q", from))
	}
	dropped := map[string]bool{}
	open := map[string]bool{}
	drop := func(r *Record) { dropped[r.Address] = true }
	for at := from; ; {
		if at == from {
			dropped[at] = true
			h.below(at, drop)
		} else {
			open[at] = true
		}
		h.downstream(at, drop)
		prefix, _ := scopeOf(at)
		if prefix == "" {
			break
		}
		container, iteration := containerOf(prefix)
		h.dropLater(container, iteration, drop)
		at = container
	}
	var out []Record
	for i := range snap.Records {
		r := snap.Records[i]
		node := h.node(&r)
		if h.byAddress[r.Address] != &snap.Records[i] || dropped[r.Address] || node == nil {
			continue
		}
		switch {
		case open[r.Address]:
			r = reopened(r)
		case h.broken(node, &r) && r.Status == StepSucceeded:
			r = undecided(r)
		case h.broken(node, &r):
			continue
		}
		r.Round, r.ParkID, r.Usage = 0, "", Usage{}
		out = append(out, r)
	}
	return out, nil
}

// dropLater drops the iterations after one whose variables or condition they may
// depend on.
func (h *history) dropLater(container string, iteration int, drop func(*Record)) {
	r := h.byAddress[container]
	if iteration < 0 || r == nil {
		return
	}
	node := h.node(r)
	if node == nil || (node.Exprs["while"] == nil && (node.Body == nil || !node.Body.HasVarWriters)) {
		return
	}
	for _, c := range h.inside[container] {
		prefix, _ := scopeOf(c.Address)
		if _, i := containerOf(prefix); i > iteration {
			drop(c)
			h.below(c.Address, drop)
		}
	}
}

package engine

// program is a plan with what the scheduler looks up at every step. Immutable,
// shared by all runs of a version.
type program struct {
	*Plan
	// pos is each node's position inside of its body's Nodes.
	pos []int
	// bodies are each container's body, by node index; a parallel's is made of its
	// branches, which have no edges between them.
	bodies []*Body
}

func newProgram(p *Plan) *program {
	pr := &program{Plan: p, pos: make([]int, len(p.Nodes)), bodies: make([]*Body, len(p.Nodes))}
	pr.index(p.Root)
	for i := range p.Nodes {
		n := &p.Nodes[i]
		switch n.Spec.Container {
		case Loop, Branch:
			pr.bodies[i] = n.Body
			if n.Body == nil {
				pr.bodies[i] = &Body{Container: i}
			}
		case Parallel:
			pr.bodies[i] = &Body{Container: i, Nodes: n.Branches, Topo: n.Branches, Entries: n.Branches, Sinks: n.Branches}
			for _, b := range n.Branches {
				if body := p.Nodes[b].Body; body != nil && body.HasVarWriters {
					pr.bodies[i].HasVarWriters = true
				}
			}
		default:
			continue
		}
		pr.index(pr.bodies[i])
	}
	return pr
}

func (p *program) index(b *Body) {
	for i, n := range b.Nodes {
		p.pos[n] = i
	}
}

package engine

import "slices"

// Measures of the drawing, in canvas units.
const (
	nodeWidth, nodeHeight = 220.0, 64.0
	gapX, gapY            = 80.0, 40.0
	padX, padTop, padEnd  = 32.0, 64.0, 32.0
)

// place gives positions to a workflow that has none: each body in layers from left
// to right, a container as large as what is in it. What is over the limits, which
// validation refuses, is not drawn.
func place(d *Definition, reg *Registry) {
	if reg == nil || len(d.Nodes) > MaxNodes || len(d.Edges) > maxEdges {
		return
	}
	for i := range d.Nodes {
		if d.Nodes[i].Position != nil {
			return
		}
	}
	l := &layouter{def: d, index: map[string]int{}, children: map[string][]int{}, out: map[string][]string{}, drawn: map[string]bool{}}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		l.index[n.ID] = i
		l.children[n.Parent] = append(l.children[n.Parent], i)
	}
	for _, e := range d.Edges {
		l.out[e.Source] = append(l.out[e.Source], e.Target)
	}
	l.body("", 0)
}

type layouter struct {
	def      *Definition
	index    map[string]int
	children map[string][]int
	out      map[string][]string
	// drawn are the containers whose body is placed. Ids may repeat here, and
	// drawing a body once for each would take exponential time.
	drawn map[string]bool
}

// body places the nodes directly inside of a container and returns its size.
func (l *layouter) body(parent string, depth int) (width, height float64) {
	l.drawn[parent] = true
	nodes := l.children[parent]
	if depth > MaxDepth {
		return nodeWidth, nodeHeight
	}
	x, top := 0.0, 0.0
	if parent != "" {
		x, top = padX, padTop
	}
	for _, layer := range l.layers(nodes) {
		widest, y := 0.0, top
		for _, i := range layer {
			w, h := l.node(&l.def.Nodes[i], x, y, depth)
			widest = max(widest, w)
			y += h + gapY
			height = max(height, y-gapY)
		}
		width = x + widest
		x += widest + gapX
	}
	return width + padX, height + padEnd
}

// node places one node, with its body if it has one, and returns its size.
func (l *layouter) node(n *Node, x, y float64, depth int) (width, height float64) {
	n.Position = &Position{X: x, Y: y}
	if len(l.children[n.ID]) == 0 || l.drawn[n.ID] {
		return nodeWidth, nodeHeight
	}
	width, height = l.body(n.ID, depth+1)
	n.Position.Width, n.Position.Height = width, height
	return width, height
}

// layers groups nodes by their longest distance from a start, each group in
// definition order. Nodes of a cycle, which validation refuses, come last.
func (l *layouter) layers(nodes []int) [][]int {
	waiting := make(map[int]int, len(nodes))
	for _, i := range nodes {
		waiting[i] = 0
	}
	l.eachEdge(nodes, waiting, func(to int) { waiting[to]++ })
	var layers [][]int
	var wave []int
	for _, i := range nodes {
		if waiting[i] == 0 {
			wave = append(wave, i)
		}
	}
	left := len(nodes)
	for len(wave) > 0 {
		layers, left = append(layers, wave), left-len(wave)
		var next []int
		l.eachEdge(wave, waiting, func(to int) {
			if waiting[to]--; waiting[to] == 0 {
				next = append(next, to)
			}
		})
		slices.Sort(next)
		wave = next
	}
	if left > 0 {
		layers = append(layers, slices.DeleteFunc(slices.Clone(nodes), func(i int) bool { return waiting[i] == 0 }))
	}
	return layers
}

// eachEdge visits the edges that leave nodes for others of the same body.
func (l *layouter) eachEdge(nodes []int, body map[int]int, visit func(to int)) {
	for _, i := range nodes {
		id := l.def.Nodes[i].ID
		if l.index[id] != i {
			continue // of nodes with one id, the last has the edges
		}
		for _, target := range l.out[id] {
			if j, ok := l.index[target]; ok && j != i {
				if _, inside := body[j]; inside {
					visit(j)
				}
			}
		}
	}
}

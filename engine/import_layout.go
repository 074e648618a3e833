package engine

// Measures of the drawing, in canvas units.
const (
	nodeWidth, nodeHeight = 220.0, 64.0
	gapX, gapY            = 80.0, 40.0
	padX, padTop, padEnd  = 32.0, 64.0, 32.0
)

// place gives positions to a workflow that has none: each body in layers from left
// to right, a container as large as what is in it.
func place(d *Definition, reg *Registry) {
	if reg == nil || len(d.Nodes) > MaxNodes {
		return
	}
	for i := range d.Nodes {
		if d.Nodes[i].Position != nil {
			return
		}
	}
	l := &layouter{def: d, index: map[string]int{}, children: map[string][]int{}, out: map[string][]string{}}
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
}

// body places the nodes directly inside of a container and returns its size.
func (l *layouter) body(parent string, depth int) (width, height float64) {
	nodes := l.children[parent]
	if depth > MaxDepth {
		return nodeWidth, nodeHeight
	}
	layer := l.layers(nodes)
	x := 0.0
	if parent != "" {
		x = padX
	}
	top := 0.0
	if parent != "" {
		top = padTop
	}
	for level := 0; ; level++ {
		widest, y, any := 0.0, top, false
		for _, i := range nodes {
			if layer[i] != level {
				continue
			}
			any = true
			n := &l.def.Nodes[i]
			w, h := nodeWidth, nodeHeight
			n.Position = &Position{X: x, Y: y}
			if len(l.children[n.ID]) > 0 && n.ID != parent {
				w, h = l.body(n.ID, depth+1)
				n.Position.Width, n.Position.Height = w, h
			}
			widest = max(widest, w)
			y += h + gapY
			height = max(height, y-gapY)
		}
		if !any {
			break
		}
		width = x + widest
		x += widest + gapX
	}
	return width + padX, height + padEnd
}

// layers gives each node its longest distance from a start, in the order in which
// a bounded relaxation finds it: cycles, which validation refuses, end too.
func (l *layouter) layers(nodes []int) map[int]int {
	layer := make(map[int]int, len(nodes))
	inside := make(map[int]bool, len(nodes))
	for _, i := range nodes {
		inside[i] = true
	}
	for round := 0; round < min(len(nodes), 200); round++ {
		changed := false
		for _, i := range nodes {
			for _, t := range l.out[l.def.Nodes[i].ID] {
				j, ok := l.index[t]
				if ok && inside[j] && j != i && layer[j] <= layer[i] && layer[i] < len(nodes) {
					layer[j] = layer[i] + 1
					changed = true
				}
			}
		}
		if !changed {
			break
		}
	}
	// Empty layers, which only cycles leave, would end the drawing early.
	used := map[int]bool{}
	for _, i := range nodes {
		used[layer[i]] = true
	}
	shift, next := map[int]int{}, 0
	for level := 0; level <= len(nodes); level++ {
		if used[level] {
			shift[level] = next
			next++
		}
	}
	for _, i := range nodes {
		layer[i] = shift[layer[i]]
	}
	return layer
}

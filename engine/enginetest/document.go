package enginetest

import (
	"encoding/json"
	"fmt"
	"strings"
)

func list(items []int) string {
	raw, _ := json.Marshal(items) //nolint:errchkjson // integers
	return string(raw)
}

// document writes the flow as a workflow.
func (f *Flow) document() string {
	w := &writer{nodes: []string{`{"id":"start","type":"trigger"}`}}
	w.body(f.root, "", false)
	return `{"format":"sluice/v1","name":"random","variables":{"w":"w0"},"nodes":[` + strings.Join(w.nodes, ",\n") + `],"edges":[` + strings.Join(w.edges, ",\n") + `]}`
}

type writer struct{ nodes, edges []string }

func (w *writer) body(b *drawnBody, parent string, inLoop bool) {
	for i, n := range b.nodes {
		w.node(n, parent, map[string]any{"id": n.id, "type": n.kind, "config": n.config(b, i, inLoop)})
		switch n.kind {
		case "loop":
			w.body(n.body, n.id, true)
		case "parallel":
			for _, br := range n.branches {
				w.node(br, n.id, map[string]any{"id": br.id, "type": "branch"})
				w.body(br.body, br.id, inLoop)
			}
		}
	}
	for _, e := range b.edges {
		edge := map[string]any{"source": "start", "target": b.nodes[e.to].id}
		if e.from >= 0 {
			edge["source"] = b.nodes[e.from].id
		}
		if e.handle != "" {
			edge["handle"] = e.handle
		}
		if e.when != nil {
			edge["condition"] = e.when.expression()
		}
		w.edges = append(w.edges, encode(edge))
	}
}

func (w *writer) node(n *drawnNode, parent string, fields map[string]any) {
	if parent != "" {
		fields["parent"] = parent
	}
	if n.onError != "" {
		fields["on_error"] = n.onError
	}
	if n.tries > 0 {
		fields["retry"] = map[string]any{"max_attempts": n.tries, "base_ms": 1, "max_ms": 2}
	}
	w.nodes = append(w.nodes, encode(fields))
}

func encode(v any) string {
	raw, _ := json.Marshal(v) //nolint:errchkjson // maps of text and numbers
	return string(raw)
}

// task is a probe's value: what it is to do and what came in.
type task struct {
	ID    string            `json:"id"`
	In    []json.RawMessage `json:"in"`
	Vars  []json.RawMessage `json:"vars"`
	Item  json.RawMessage   `json:"item,omitempty"`
	Fail  int               `json:"fail"`
	Fatal bool              `json:"fatal"`
}

func (n *drawnNode) config(b *drawnBody, at int, inLoop bool) map[string]any {
	switch n.kind {
	case "probe":
		in := []string{}
		for _, s := range b.sources(at) {
			if x := b.nodes[s].reading(); x != "" {
				in = append(in, "{{"+x+"}}")
			}
		}
		value := map[string]any{"id": n.id, "in": in, "vars": []string{"{{vars.v ?? '-'}}", "{{vars.w ?? '-'}}"}, "fail": n.fail, "fatal": n.fatal}
		if inLoop {
			value["item"] = "{{loop_item}}"
		}
		return map[string]any{"value": value}
	case "set":
		mark := n.id
		for _, s := range b.sources(at) {
			if k := b.nodes[s].kind; k == "probe" || k == "set" {
				mark = n.id + ":{{" + b.nodes[s].reading() + "}}"
				break
			}
		}
		c := map[string]any{"values": map[string]any{"mark": mark}}
		if n.assigns != "" {
			c["variables"] = map[string]any{n.assigns: mark}
		}
		return c
	case "condition":
		return map[string]any{"expression": n.asks[0].expression()}
	case "switch":
		cases := make([]any, len(n.asks))
		for i, q := range n.asks {
			cases[i] = map[string]any{"id": fmt.Sprintf("c%d", i), "when": q.expression()}
		}
		return map[string]any{"cases": cases}
	case "wait":
		return map[string]any{"duration": "2ms"}
	case "approval":
		return map[string]any{"title": n.id + "?"}
	case "parallel":
		return map[string]any{"require": n.require}
	case "loop":
		return n.loopConfig()
	default:
		return map[string]any{}
	}
}

func (n *drawnNode) loopConfig() map[string]any {
	c := map[string]any{"concurrency": n.concurrency, "on_item_error": n.itemError}
	switch n.form {
	case "times":
		c["times"] = n.count
	case "while":
		c["while"] = fmt.Sprintf("loop_index < %d", n.count)
	default:
		items := make([]int, n.count)
		for i := range items {
			items[i] = i * 10
		}
		c["collection"] = items
	}
	return c
}

// sources lists where a node's edges come from, without the trigger.
func (b *drawnBody) sources(at int) []int {
	var out []int
	for _, e := range b.edges {
		if e.to == at && e.from >= 0 {
			out = append(out, e.from)
		}
	}
	return out
}

// reading is the expression that reads what a node gave, "" where that can't be
// foretold.
func (n *drawnNode) reading() string {
	switch n.kind {
	case "probe", "set":
		return "step." + n.id + ".mark ?? '-'"
	case "condition":
		return "step." + n.id + ".result ?? '-'"
	case "switch":
		return "step." + n.id + ".case ?? '-'"
	case "approval":
		return "step." + n.id + ".outcome ?? '-'"
	case "loop":
		return "step." + n.id + ".count ?? '-'"
	case "parallel":
		return "(step." + n.id + ".branches." + n.branches[0].id + ".status ?? '-') == 'succeeded'"
	default:
		return ""
	}
}

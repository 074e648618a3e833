package engine

import (
	"fmt"
	"strconv"
	"strings"

	"sluice/engine/expr"
)

// nested reads a list of steps and draws it as a graph: a trigger, the steps in a
// chain, an end. A condition's chains join at the step after it.
func (r *reader) nested(root *expr.Object) {
	n := &nester{r: r, taken: map[string]bool{}, tried: map[string]int{}}
	var steps any
	fields(root, documentAliases, func(name, original string, v any) {
		switch {
		case r.head(name, v):
		case name == "steps":
			steps = v
		default:
			r.keep(&r.def.Extra, "", original, v)
		}
	})
	list := r.list("steps", steps)
	n.reserve(list, 0)
	trigger := n.unusedID("trigger")
	r.def.Nodes = append(r.def.Nodes, Node{ID: trigger, Type: "trigger", Label: "Start", Config: []byte("{}")})
	open := n.chain(list, "", "steps", 0, []loose{{source: trigger}})
	end := n.unusedID("end")
	r.def.Nodes = append(r.def.Nodes, Node{ID: end, Type: "end", Label: "Done", Config: []byte("{}")})
	n.join(open, end)
	place(r.def, r.reg)
}

// nester turns nested lists into nodes and edges.
type nester struct {
	r     *reader
	taken map[string]bool
	// tried is the last number that was put behind each base name.
	tried map[string]int
}

// unusedID makes an id that is not taken yet.
func (n *nester) unusedID(base string) string {
	base = strings.TrimSpace(base)
	if base == "" {
		base = "step"
	}
	id := base
	for i := max(2, n.tried[base]+1); n.taken[id]; i++ {
		id = base + "-" + strconv.Itoa(i)
		n.tried[base] = i
	}
	n.taken[id] = true
	return id
}

// loose is an edge whose target is the next step, whichever that will be.
type loose struct{ source, handle string }

func (n *nester) join(open []loose, target string) {
	for _, l := range open {
		n.r.def.Edges = append(n.r.def.Edges, Edge{Source: l.source, Target: target, Handle: l.handle})
	}
}

// listFields are the fields of a step that hold lists of steps.
var listFields = []string{"steps", "thenSteps", "then_steps", "then", "elseSteps", "else_steps", "else", "branches"}

// reserve notes every id that the document gives, so that made-up ones differ.
func (n *nester) reserve(list []any, depth int) {
	if depth > MaxDepth+1 {
		return
	}
	for _, item := range list {
		o, ok := item.(*expr.Object)
		if !ok {
			continue
		}
		if v, ok := o.Get("id"); ok {
			id, _ := idText(v)
			n.taken[id] = true
		}
		for _, f := range listFields {
			if v, ok := o.Get(f); ok {
				if inner, ok := v.([]any); ok {
					n.reserve(inner, depth+1)
				}
			}
		}
	}
}

// chain adds steps one after the other and returns the edges that lead on.
func (n *nester) chain(list []any, parent, at string, depth int, open []loose) []loose {
	for i, item := range list {
		open = n.step(item, parent, fmt.Sprintf("%s[%d]", at, i), depth, open)
	}
	return open
}

// step adds one step with what is inside of it.
func (n *nester) step(item any, parent, at string, depth int, open []loose) []loose {
	o, ok := item.(*expr.Object)
	if !ok {
		node := Node{ID: n.unusedID(""), Parent: parent}
		misfit(&node.Extra, notAnObject, item)
		n.r.def.Nodes = append(n.r.def.Nodes, node)
		return open
	}
	node := Node{Parent: parent}
	if v, ok := o.Get("id"); ok {
		node.ID, _ = idText(v)
	}
	if v, ok := o.Get("type"); ok {
		node.Type = text(&node.Extra, "type", v)
	}
	if node.ID == "" {
		node.ID = n.unusedID(node.Type)
	}
	inner := n.settings(&node, o, at, depth)
	n.r.def.Nodes = append(n.r.def.Nodes, node)
	n.join(open, node.ID)
	switch node.Type {
	case "condition":
		return n.condition(node.ID, parent, at, depth, inner)
	case "parallel":
		n.branches(node.ID, at, depth, inner["branches"])
	case "loop":
		n.chain(inner["steps"], node.ID, at+".steps", depth+1, nil)
	default:
		for _, f := range []string{"steps", "branches", "then", "else"} {
			if len(inner[f]) > 0 {
				n.chain(inner[f], node.ID, at+"."+f, depth+1, nil)
			}
		}
	}
	return []loose{{source: node.ID}}
}

// condition adds both chains; where one is empty its handle leads straight on.
func (n *nester) condition(id, parent, at string, depth int, inner map[string][]any) []loose {
	open := n.chain(inner["then"], parent, at+".then", depth+1, []loose{{id, "then"}})
	return append(open, n.chain(inner["else"], parent, at+".else", depth+1, []loose{{id, "else"}})...)
}

func (n *nester) branches(id, at string, depth int, list []any) {
	for i, item := range list {
		here := fmt.Sprintf("%s.branches[%d]", at, i)
		o, ok := item.(*expr.Object)
		if !ok {
			if steps, isList := item.([]any); isList { // a bare list of steps
				o = expr.NewObject()
				o.Set("steps", steps)
			} else {
				node := Node{ID: n.unusedID(fmt.Sprintf("%s-%d", id, i+1)), Type: "branch", Parent: id}
				misfit(&node.Extra, notAnObject, item)
				n.r.def.Nodes = append(n.r.def.Nodes, node)
				continue
			}
		}
		node := Node{Type: "branch", Parent: id}
		if v, ok := o.Get("id"); ok {
			node.ID, _ = idText(v)
		} else {
			node.ID = n.unusedID(fmt.Sprintf("%s-%d", id, i+1))
		}
		inner := n.settings(&node, o, here, depth)
		n.r.def.Nodes = append(n.r.def.Nodes, node)
		n.chain(inner["steps"], node.ID, here+".steps", depth+1, nil)
	}
}

// holds reports whether steps of a type have a list of that name. What unknown
// types hold is kept as their body.
func holds(typ, list string) bool {
	switch typ {
	case "condition":
		return list == "then" || list == "else"
	case "parallel":
		return list == "branches"
	case "loop", "branch":
		return list == "steps"
	default:
		return true
	}
}

func (n *nester) tooDeep(node, field string) {
	n.r.issues = append(n.r.issues, Issue{
		Code: "too_deep", Severity: SeverityError, NodeID: node, Field: field, Fix: "Use a sub-workflow.",
		Message: fmt.Sprintf("steps are nested deeper than %d", MaxDepth),
	})
}

// nodeFields are the fields of a step that are the node's own; the rest is config.
var nodeFields = map[string]bool{
	"label": true, "notes": true, "on_error": true, "retry": true, "timeout_ms": true, "on_interrupt": true, "position": true,
}

// settings reads a step's fields and returns its lists of steps by canonical name.
// Lists that its type does not have, or that stand too deep, stay in the config.
func (n *nester) settings(node *Node, o *expr.Object, at string, depth int) map[string][]any {
	inner := map[string][]any{}
	config := expr.NewObject()
	fields(o, map[string]string{
		"thenSteps": "then", "then_steps": "then", "elseSteps": "else", "else_steps": "else",
		"onError": "on_error", "timeoutMs": "timeout_ms", "onInterrupt": "on_interrupt", "name": "label",
	}, func(name, original string, v any) {
		switch {
		case name == "id" || name == "type":
		case name == "then" || name == "else" || name == "steps" || name == "branches":
			list, ok := v.([]any)
			switch {
			case ok && holds(node.Type, name) && depth <= MaxDepth:
				inner[name] = list
			case ok && holds(node.Type, name):
				n.tooDeep(node.ID, at+"."+original)
				fallthrough
			case v != nil:
				config.Set(original, v)
			}
		case name == "config":
			c, ok := v.(*expr.Object)
			if !ok {
				if v != nil {
					config.Set(original, v)
				}
				return
			}
			for _, k := range c.Keys() {
				x, _ := c.Get(k)
				config.Set(k, x)
			}
		case nodeFields[name]:
			n.r.setting(node, name, original, v)
		default:
			config.Set(original, v)
		}
	})
	n.r.config(node, config)
	return inner
}

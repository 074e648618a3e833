package engine

import (
	"sluice/engine/expr"
)

var edgeAliases = map[string]string{"sourceHandle": "handle", "from": "source", "to": "target", "when": "condition"}

// edgeNoise are fields that canvas libraries write and that mean nothing here.
var edgeNoise = map[string]bool{"id": true, "targetHandle": true, "type": true, "animated": true, "style": true, "markerEnd": true, "selected": true}

func (r *reader) edge(at string, item any) Edge {
	o, ok := item.(*expr.Object)
	if !ok {
		e := Edge{}
		misfit(&e.Extra, notAnObject, item)
		return e
	}
	var e Edge
	fields(o, edgeAliases, func(name, original string, v any) {
		switch name {
		case "source":
			e.Source, _ = idText(v) // as with nodes
		case "target":
			e.Target, _ = idText(v)
		case "handle":
			e.Handle = reference(&e.Extra, name, v)
		case "condition":
			if v != nil {
				e.Condition = text(&e.Extra, name, v)
			}
		default:
			misfit(&e.Extra, original, v)
			if !edgeNoise[original] {
				r.warn("", at+"."+original, "%q is not a field of an edge; it is kept and has no effect", original)
			}
		}
	})
	return e
}

// namedHandles reads the true and false handles of other tools' conditions.
func (r *reader) namedHandles() {
	types := map[string]string{}
	for i := range r.def.Nodes {
		types[r.def.Nodes[i].ID] = r.def.Nodes[i].Type
	}
	for i := range r.def.Edges {
		e := &r.def.Edges[i]
		if types[e.Source] != "condition" {
			continue
		}
		switch e.Handle {
		case "true", "yes":
			e.Handle = "then"
		case "false", "no":
			e.Handle = "else"
		}
	}
}

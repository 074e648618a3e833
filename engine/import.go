package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"unicode/utf8"

	"sluice/engine/expr"
)

// maxDefinition bounds the bytes of a definition.
const maxDefinition = 16 << 20

// Import reads a workflow in any of the accepted forms: canonical; the bare graph
// of other tools (camelCase names, sourceHandle, settings inside of config, ids
// that are numbers); or a nested list of steps, which becomes nodes and edges. The
// issues are warnings about fields that are not known; they are kept. The error is
// for bytes that are no workflow at all. reg gives the kinds' aliases and may be nil.
func Import(data []byte, reg *Registry) (*Definition, Issues, error) {
	if len(data) > maxDefinition {
		return nil, nil, &InvalidError{Message: fmt.Sprintf("the workflow has %d bytes; at most %d are read", len(data), maxDefinition)}
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	v, err := expr.Decode(data)
	if err != nil {
		return nil, nil, &InvalidError{Message: "this is not JSON: " + syntaxPlace(data, err)}
	}
	root, ok := v.(*expr.Object)
	if !ok {
		return nil, nil, &InvalidError{Message: "a workflow is a JSON object with nodes and edges, or with steps; this is " + typeName(v)}
	}
	r := &reader{reg: reg, def: &Definition{Format: Format}}
	_, hasNodes := root.Get("nodes")
	_, hasSteps := root.Get("steps")
	switch {
	case hasNodes:
		r.graph(root)
	case hasSteps:
		r.nested(root)
	default:
		return nil, nil, &InvalidError{Message: `a workflow needs "nodes" (and "edges"), or a list of "steps"; neither is there`}
	}
	return r.def, r.issues, nil
}

// syntaxPlace says where JSON is broken, in lines and columns.
func syntaxPlace(data []byte, err error) string {
	var se *json.SyntaxError
	var any any
	if !errors.As(json.Unmarshal(data, &any), &se) {
		return err.Error()
	}
	at := min(int(se.Offset), len(data))
	line := 1 + bytes.Count(data[:at], []byte("\n"))
	column := utf8.RuneCount(data[bytes.LastIndexByte(data[:at], '\n')+1 : at])
	return fmt.Sprintf("line %d, column %d: %s", line, column, se)
}

// reader collects a definition from decoded JSON.
type reader struct {
	reg    *Registry
	def    *Definition
	issues Issues
}

func (r *reader) warn(node, field, format string, args ...any) {
	r.issues = append(r.issues, Issue{
		Code: "unknown_field", Severity: SeverityWarning, NodeID: node, Field: field, Message: fmt.Sprintf(format, args...),
	})
}

// bad notes a field of the wrong type; the value is kept as an unknown field.
func (r *reader) bad(node, field, want string, got any) {
	r.issues = append(r.issues, Issue{
		Code: "wrong_type", Severity: SeverityError, NodeID: node, Field: field,
		Message: fmt.Sprintf("%s must be %s, not %s", field, want, typeName(got)),
	})
}

// fields walks an object's fields by their canonical names.
func fields(o *expr.Object, aliases map[string]string, visit func(name, original string, v any)) {
	for _, k := range o.Keys() {
		v, _ := o.Get(k)
		name := k
		if a, ok := aliases[k]; ok {
			name = a
		}
		visit(name, k, v)
	}
}

var documentAliases = map[string]string{"inputSchema": "input_schema", "input": "input_schema"}

func (r *reader) head(name, original string, v any) bool {
	d := r.def
	switch name {
	case "format":
		if s, _ := v.(string); s != Format {
			r.warn("", "format", "the format is %s; it is read as %s", show(v), Format)
		}
	case "name":
		d.Name = r.str("", original, v)
	case "description":
		d.Description = r.str("", original, v)
	case "input_schema":
		d.InputSchema = r.raw(v)
	case "variables":
		if _, ok := v.(*expr.Object); !ok && v != nil {
			r.bad("", original, "an object", v)
			return true
		}
		d.Variables = r.raw(v)
	default:
		return false
	}
	return true
}

func (r *reader) keep(into *map[string]json.RawMessage, node, key string, v any) {
	if *into == nil {
		*into = map[string]json.RawMessage{}
	}
	(*into)[key] = r.raw(v)
	r.warn(node, key, "%q is not a field of a workflow; it is kept and has no effect", key)
}

// graph reads nodes and edges, in canonical form or another tool's.
func (r *reader) graph(root *expr.Object) {
	fields(root, documentAliases, func(name, original string, v any) {
		switch {
		case r.head(name, original, v):
		case name == "nodes":
			for i, item := range r.list(original, v) {
				r.def.Nodes = append(r.def.Nodes, r.node(fmt.Sprintf("nodes[%d]", i), item))
			}
		case name == "edges":
			for i, item := range r.list(original, v) {
				r.def.Edges = append(r.def.Edges, r.edge(fmt.Sprintf("edges[%d]", i), item))
			}
		default:
			r.keep(&r.def.Extra, "", original, v)
		}
	})
	r.namedHandles()
	place(r.def, r.reg)
}

func (r *reader) list(field string, v any) []any {
	l, ok := v.([]any)
	if !ok && v != nil {
		r.bad("", field, "a list", v)
	}
	return l
}

var nodeAliases = map[string]string{
	"parentId": "parent", "parentNode": "parent", "onError": "on_error", "timeoutMs": "timeout_ms", "timeout": "timeout_ms",
	"onInterrupt": "on_interrupt", "name": "label", "title": "label",
}

// configAliases are settings of a node that other tools keep in its config.
var configAliases = map[string]string{
	"onError": "on_error", "on_error": "on_error", "retry": "retry", "timeoutMs": "timeout_ms", "timeout_ms": "timeout_ms",
}

func (r *reader) node(at string, item any) Node {
	o, ok := item.(*expr.Object)
	if !ok {
		r.bad("", at, "an object", item)
		return Node{}
	}
	n := Node{}
	if v, ok := o.Get("id"); ok {
		n.ID = r.id(at+".id", v)
	}
	var config *expr.Object
	fields(o, nodeAliases, func(name, original string, v any) {
		switch name {
		case "id":
		case "config":
			c, ok := v.(*expr.Object)
			if !ok && v != nil {
				r.bad(n.ID, "config", "an object", v)
				return
			}
			config = c
		case "data":
			c, label, typ := r.data(v)
			if config == nil {
				config = c
			}
			if n.Label == "" {
				n.Label = label
			}
			if typ != "" {
				n.Type = typ
			}
		default:
			r.setting(&n, name, original, v)
		}
	})
	r.config(&n, config)
	return n
}

// data reads the "data" of a canvas library's export.
func (r *reader) data(v any) (config *expr.Object, label, typ string) {
	o, ok := v.(*expr.Object)
	if !ok {
		return nil, "", ""
	}
	config = expr.NewObject()
	for _, k := range o.Keys() {
		x, _ := o.Get(k)
		switch k {
		case "label":
			label, _ = x.(string)
		case "type":
			typ, _ = x.(string)
		case "config":
			if c, ok := x.(*expr.Object); ok {
				for _, ck := range c.Keys() {
					cv, _ := c.Get(ck)
					config.Set(ck, cv)
				}
			}
		default:
			config.Set(k, x)
		}
	}
	return config, label, typ
}

// setting reads one field of a node beside its config.
func (r *reader) setting(n *Node, name, original string, v any) {
	switch name {
	case "type":
		if n.Type == "" {
			n.Type = r.str(n.ID, original, v)
		}
	case "label":
		n.Label = r.str(n.ID, original, v)
	case "parent":
		n.Parent = r.id(original, v)
	case "notes":
		n.Notes = r.str(n.ID, original, v)
	case "on_error":
		n.OnError = OnError(r.str(n.ID, original, v))
	case "on_interrupt":
		n.OnInterrupt = OnInterrupt(r.str(n.ID, original, v))
	case "timeout_ms":
		n.TimeoutMS = r.whole(n.ID, original, v)
	case "retry":
		n.Retry = r.retry(n.ID, v)
	case "position":
		n.Position = r.position(n.ID, v)
	default:
		r.keep(&n.Extra, n.ID, original, v)
	}
}

func (r *reader) retry(node string, v any) *RetryPolicy {
	if n, ok := v.(int64); ok {
		return &RetryPolicy{MaxAttempts: int(n)}
	}
	o, ok := v.(*expr.Object)
	if !ok {
		if v != nil {
			r.bad(node, "retry", "an object", v)
		}
		return nil
	}
	p := &RetryPolicy{}
	fields(o, map[string]string{"maxAttempts": "max_attempts", "attempts": "max_attempts", "baseMs": "base_ms", "maxMs": "max_ms"}, func(name, original string, v any) {
		n := r.whole(node, "retry."+original, v)
		switch name {
		case "max_attempts":
			p.MaxAttempts = int(n)
		case "base_ms":
			p.BaseMS = n
		case "max_ms":
			p.MaxMS = n
		default:
			r.warn(node, "retry."+original, "%q is not a setting of retry", original)
		}
	})
	return p
}

func (r *reader) position(node string, v any) *Position {
	raw := r.raw(v)
	var p Position
	if err := json.Unmarshal(raw, &p); err != nil {
		r.bad(node, "position", "{x, y}", v)
		return nil
	}
	return &p
}

// config applies a kind's aliases and lifts settings of the node out of its config.
func (r *reader) config(n *Node, config *expr.Object) {
	out := expr.NewObject()
	aliases := r.aliases(n.Type)
	if config != nil {
		for _, k := range config.Keys() {
			v, _ := config.Get(k)
			if name, ok := configAliases[k]; ok && !r.own(n.Type, k) {
				if name == "retry" || name == "timeout_ms" || name == "on_error" {
					r.setting(n, name, "config."+k, v)
					continue
				}
			}
			if a, ok := aliases[k]; ok {
				if _, taken := config.Get(a); !taken {
					k = a
				}
			}
			out.Set(k, v)
		}
	}
	n.Config = r.raw(out)
}

func (r *reader) aliases(typ string) map[string]string {
	if r.reg == nil {
		return nil
	}
	k, ok := r.reg.Kind(typ)
	if !ok {
		return nil
	}
	return k.Spec().Aliases
}

// own reports whether a kind's config has a field of that name itself.
func (r *reader) own(typ, field string) bool {
	if r.reg == nil {
		return true // canonical input from our own store
	}
	k, ok := r.reg.Kind(typ)
	if !ok {
		return false
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(k.Spec().Config, &schema) != nil {
		return false
	}
	_, ok = schema.Properties[field]
	return ok
}

var edgeAliases = map[string]string{"sourceHandle": "handle", "from": "source", "to": "target", "when": "condition"}

// edgeNoise are fields that canvas libraries write and that mean nothing here.
var edgeNoise = map[string]bool{"id": true, "targetHandle": true, "type": true, "animated": true, "style": true, "markerEnd": true, "selected": true}

func (r *reader) edge(at string, item any) Edge {
	o, ok := item.(*expr.Object)
	if !ok {
		r.bad("", at, "an object", item)
		return Edge{}
	}
	var e Edge
	fields(o, edgeAliases, func(name, original string, v any) {
		switch name {
		case "source":
			e.Source = r.id(at+".source", v)
		case "target":
			e.Target = r.id(at+".target", v)
		case "handle":
			if v != nil {
				e.Handle = r.id(at+".handle", v)
			}
		case "condition":
			if v != nil {
				e.Condition = r.str("", at+".condition", v)
			}
		default:
			if edgeNoise[original] {
				if e.Extra == nil {
					e.Extra = map[string]json.RawMessage{}
				}
				e.Extra[original] = r.raw(v)
				return
			}
			if e.Extra == nil {
				e.Extra = map[string]json.RawMessage{}
			}
			e.Extra[original] = r.raw(v)
			r.warn("", at+"."+original, "%q is not a field of an edge; it is kept and has no effect", original)
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

// id reads an id: text, or a number as other tools have them.
func (r *reader) id(field string, v any) string {
	switch v := v.(type) {
	case string:
		return normalID(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case nil:
		return ""
	default:
		r.bad("", field, "text", v)
		return ""
	}
}

func (r *reader) str(node, field string, v any) string {
	s, ok := v.(string)
	if !ok && v != nil {
		r.bad(node, field, "text", v)
	}
	return s
}

func (r *reader) whole(node, field string, v any) int64 {
	n, ok := v.(int64)
	if !ok && v != nil {
		r.bad(node, field, "a whole number", v)
	}
	return n
}

func (r *reader) raw(v any) json.RawMessage {
	raw, err := expr.Encode(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

func show(v any) string {
	raw, err := expr.Encode(v)
	if err != nil {
		return typeName(v)
	}
	return excerpt(raw)
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for k := range m {
		names = append(names, k)
	}
	sort.Strings(names)
	return names
}

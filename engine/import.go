package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sort"
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
	if r.err != nil {
		return nil, nil, r.err
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
	err    error // the document is no workflow
}

func (r *reader) warn(node, field, format string, args ...any) {
	r.issues = append(r.issues, Issue{
		Code: "unknown_field", Severity: SeverityWarning, NodeID: node, Field: field, Message: fmt.Sprintf(format, args...),
	})
}

// fields walks an object's fields by their canonical names. Where several names
// of one field are given the canonical one counts, else the first; the others
// keep their names and are unknown fields.
func fields(o *expr.Object, aliases map[string]string, visit func(name, original string, v any)) {
	seen := map[string]bool{}
	for _, k := range o.Keys() {
		v, _ := o.Get(k)
		name := k
		if a, ok := aliases[k]; ok {
			if _, canonical := o.Get(a); !canonical && !seen[a] {
				name = a
			}
		}
		seen[name] = true
		visit(name, k, v)
	}
}

var documentAliases = map[string]string{"inputSchema": "input_schema", "input": "input_schema"}

func (r *reader) head(name string, v any) bool {
	d := r.def
	switch name {
	case "format":
		if s, _ := v.(string); s != Format {
			r.warn("", "format", "the format is %s; it is read as %s", show(v), Format)
		}
	case "name":
		d.Name = text(&d.Extra, name, v)
	case "description":
		d.Description = text(&d.Extra, name, v)
	case "input_schema":
		d.InputSchema = encoded(v)
	case "variables":
		if _, ok := v.(*expr.Object); !ok && v != nil {
			misfit(&d.Extra, name, v)
			return true
		}
		d.Variables = encoded(v)
	default:
		return false
	}
	return true
}

func (r *reader) keep(into *map[string]json.RawMessage, node, key string, v any) {
	misfit(into, key, v)
	r.warn(node, key, "%q is not a field of a workflow; it is kept and has no effect", key)
}

// graph reads nodes and edges, in canonical form or another tool's.
func (r *reader) graph(root *expr.Object) {
	fields(root, documentAliases, func(name, original string, v any) {
		switch {
		case r.head(name, v):
		case name == "nodes":
			for _, item := range r.list(original, v) {
				r.def.Nodes = append(r.def.Nodes, r.node(item))
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
		r.err = &InvalidError{Message: fmt.Sprintf("%q must be a list, not %s", field, typeName(v))}
	}
	return l
}

// notAnObject is the extra field that keeps an item which should be an object.
const notAnObject = "value"

var nodeAliases = map[string]string{
	"parentId": "parent", "parentNode": "parent", "onError": "on_error", "timeoutMs": "timeout_ms", "timeout": "timeout_ms",
	"onInterrupt": "on_interrupt", "name": "label", "title": "label",
}

// configAliases are settings of a node that other tools keep in its config.
var configAliases = map[string]string{
	"onError": "on_error", "on_error": "on_error", "retry": "retry",
	"timeoutMs": "timeout_ms", "timeout_ms": "timeout_ms", "timeout": "timeout_ms",
}

func (r *reader) node(item any) Node {
	o, ok := item.(*expr.Object)
	if !ok {
		n := Node{}
		misfit(&n.Extra, notAnObject, item)
		return n
	}
	n := Node{}
	if v, ok := o.Get("id"); ok {
		n.ID, _ = idText(v) // what is no id is empty, which validation refuses
	}
	var config any
	if v, ok := o.Get("config"); ok {
		config = v
	}
	fields(o, nodeAliases, func(name, original string, v any) {
		switch name {
		case "id", "config":
		case "data":
			data, ok := v.(*expr.Object)
			if !ok || config != nil {
				r.keep(&n.Extra, n.ID, original, v)
				return
			}
			c, label, typ := splitData(data)
			config = c
			if typ != "" {
				n.Type = typ
			}
			if labelled(o) && label != "" {
				rest := expr.NewObject()
				rest.Set("label", label)
				r.keep(&n.Extra, n.ID, original, rest)
				return
			}
			n.Label = label
		default:
			r.setting(&n, name, original, v)
		}
	})
	r.config(&n, config)
	return n
}

// labelled reports whether a node has a label beside its data; that one counts.
func labelled(node *expr.Object) bool {
	for _, name := range []string{"label", "name", "title"} {
		if _, ok := node.Get(name); ok {
			return true
		}
	}
	return false
}

// splitData reads the "data" of a canvas library's export: label, type, and a
// config that stands in it or is mixed with them.
func splitData(o *expr.Object) (config *expr.Object, label, typ string) {
	config = expr.NewObject()
	for _, k := range o.Keys() {
		x, _ := o.Get(k)
		s, isText := x.(string)
		c, isObject := x.(*expr.Object)
		switch {
		case k == "label" && isText:
			label = s
		case k == "type" && isText:
			typ = s
		case k == "config" && isObject:
			for _, ck := range c.Keys() {
				cv, _ := c.Get(ck)
				config.Set(ck, cv)
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
			n.Type = text(&n.Extra, name, v)
		}
	case "label":
		n.Label = text(&n.Extra, name, v)
	case "parent":
		n.Parent = reference(&n.Extra, name, v)
	case "notes":
		n.Notes = text(&n.Extra, name, v)
	case "on_error":
		n.OnError = OnError(text(&n.Extra, name, v))
	case "on_interrupt":
		n.OnInterrupt = OnInterrupt(text(&n.Extra, name, v))
	case "timeout_ms":
		n.TimeoutMS = whole(&n.Extra, name, v)
	case "retry":
		if n.Retry = r.retry(n.ID, v); n.Retry == nil && v != nil {
			misfit(&n.Extra, name, v)
		}
	case "position":
		if n.Position = r.position(v); n.Position == nil && v != nil {
			r.warn(n.ID, name, "the position %s is not {x, y}; it is dropped", show(v))
		}
	default:
		r.keep(&n.Extra, n.ID, original, v)
	}
}

var retryAliases = map[string]string{"maxAttempts": "max_attempts", "attempts": "max_attempts", "baseMs": "base_ms", "maxMs": "max_ms"}

// retry reads a policy; nil if it is none, or a value in it is no whole number.
func (r *reader) retry(node string, v any) *RetryPolicy {
	if n, ok := v.(int64); ok {
		return &RetryPolicy{MaxAttempts: clampInt(n)}
	}
	o, ok := v.(*expr.Object)
	if !ok {
		return nil
	}
	p, fits := &RetryPolicy{}, true
	fields(o, retryAliases, func(name, original string, v any) {
		n, ok := v.(int64)
		switch name {
		case "max_attempts":
			p.MaxAttempts, fits = clampInt(n), fits && ok
		case "base_ms":
			p.BaseMS, fits = n, fits && ok
		case "max_ms":
			p.MaxMS, fits = n, fits && ok
		default:
			r.warn(node, "retry."+original, "%q is not a setting of retry; it is dropped", original)
		}
	})
	if !fits {
		return nil
	}
	return p
}

// clampInt keeps a number that an int can't hold out of any valid range.
func clampInt(n int64) int { return int(max(min(n, math.MaxInt32), math.MinInt32)) }

// position reads where a node is drawn; nil if it is no {x, y}.
func (r *reader) position(v any) *Position {
	if _, ok := v.(*expr.Object); !ok {
		return nil
	}
	var p Position
	if err := json.Unmarshal(encoded(v), &p); err != nil {
		return nil
	}
	return &p
}

// config applies a kind's aliases and lifts settings of the node out of its config.
// A config that is no object is kept for validation to refuse.
func (r *reader) config(n *Node, v any) {
	config, ok := v.(*expr.Object)
	if !ok {
		if n.Config = encoded(v); v == nil {
			n.Config = json.RawMessage("{}")
		}
		return
	}
	out := expr.NewObject()
	fields(config, r.aliases(n.Type), func(name, original string, v any) {
		_, isWhole := v.(int64)
		setting, ok := configAliases[original]
		if ok && v != nil && !n.has(setting) && !r.own(n.Type, original) && (isWhole || original != "timeout") {
			r.setting(n, setting, "config."+original, v)
			return
		}
		out.Set(name, v)
	})
	n.Config = encoded(out)
}

// has reports whether a setting that may stand in the config stands beside it.
func (n *Node) has(setting string) bool {
	_, misfit := n.Extra[setting]
	switch setting {
	case "on_error":
		return misfit || n.OnError != ""
	case "retry":
		return misfit || n.Retry != nil
	default:
		return misfit || n.TimeoutMS != 0
	}
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

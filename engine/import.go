package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
		Fix: "Remove it, or correct its name.",
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

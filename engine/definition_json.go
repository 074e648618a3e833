package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"sluice/engine/expr"
)

// MarshalJSON writes the canonical form: fixed field order, nothing empty.
func (d *Definition) MarshalJSON() ([]byte, error) {
	o := expr.NewObject()
	o.Set("format", Format)
	put(o, "name", d.Name)
	put(o, "description", d.Description)
	putRaw(o, "input_schema", d.InputSchema)
	putRaw(o, "variables", d.Variables)
	nodes := make([]any, len(d.Nodes))
	for i := range d.Nodes {
		nodes[i] = d.Nodes[i].object()
	}
	o.Set("nodes", nodes)
	edges := make([]any, len(d.Edges))
	for i := range d.Edges {
		edges[i] = d.Edges[i].object()
	}
	o.Set("edges", edges)
	putExtra(o, d.Extra)
	return expr.Encode(o)
}

func (n *Node) object() *expr.Object {
	o := expr.NewObject()
	o.Set("id", n.ID)
	if _, misfit := n.Extra["type"]; !misfit || n.Type != "" {
		o.Set("type", n.Type)
	}
	put(o, "label", n.Label)
	put(o, "parent", n.Parent)
	o.Set("config", rawOr(n.Config, "{}"))
	put(o, "on_error", string(n.OnError))
	if n.Retry != nil {
		o.Set("retry", n.Retry)
	}
	if n.TimeoutMS != 0 {
		o.Set("timeout_ms", n.TimeoutMS)
	}
	put(o, "on_interrupt", string(n.OnInterrupt))
	if n.Position != nil {
		o.Set("position", n.Position.object())
	}
	put(o, "notes", n.Notes)
	putExtra(o, n.Extra)
	return o
}

func (e *Edge) object() *expr.Object {
	o := expr.NewObject()
	o.Set("source", e.Source)
	o.Set("target", e.Target)
	put(o, "handle", e.Handle)
	put(o, "condition", e.Condition)
	putExtra(o, e.Extra)
	return o
}

func (p *Position) object() *expr.Object {
	o := expr.NewObject()
	o.Set("x", p.X)
	o.Set("y", p.Y)
	if p.Width != 0 {
		o.Set("width", p.Width)
	}
	if p.Height != 0 {
		o.Set("height", p.Height)
	}
	putExtra(o, p.Extra)
	return o
}

func put(o *expr.Object, key, value string) {
	if value != "" {
		o.Set(key, value)
	}
}

func putRaw(o *expr.Object, key string, raw json.RawMessage) {
	if len(raw) > 0 && string(raw) != "null" {
		o.Set(key, raw)
	}
}

func putExtra(o *expr.Object, extra map[string]json.RawMessage) {
	for _, k := range sortedNames(extra) {
		if _, taken := o.Get(k); !taken {
			o.Set(k, extra[k])
		}
	}
}

// UnmarshalJSON reads the canonical form. Other forms are read by [Import].
func (d *Definition) UnmarshalJSON(data []byte) error {
	def, _, err := Import(data, nil)
	if err != nil {
		return err
	}
	*d = *def
	return nil
}

// Canonical is the canonical form and its SHA-256 in hex, which names a version.
func (d *Definition) Canonical() (json.RawMessage, string, error) {
	raw, err := d.MarshalJSON()
	if err != nil {
		return nil, "", fmt.Errorf("write definition: %w", err)
	}
	sum := sha256.Sum256(raw)
	return raw, hex.EncodeToString(sum[:]), nil
}

package engine

import (
	"encoding/json"
	"math"

	"sluice/engine/expr"
)

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
	o, ok := v.(*expr.Object)
	if !ok {
		return nil
	}
	var p Position
	if err := json.Unmarshal(encoded(v), &p); err != nil {
		return nil
	}
	for _, k := range o.Keys() {
		switch k {
		case "x", "y", "width", "height":
		default:
			v, _ := o.Get(k)
			misfit(&p.Extra, k, v)
		}
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

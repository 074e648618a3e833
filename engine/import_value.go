package engine

import (
	"encoding/json"

	"sluice/engine/expr"
)

// idText reads an id: text, or a number as other tools have them.
func idText(v any) (id string, ok bool) {
	switch v := v.(type) {
	case string:
		return normalID(v), true
	case nil:
		return "", true
	case bool, []any, *expr.Object:
		return "", false
	default:
		return string(encoded(v)), true
	}
}

// reference reads an id as text reads a string.
func reference(extra *map[string]json.RawMessage, field string, v any) string {
	id, ok := idText(v)
	if !ok {
		misfit(extra, field, v)
	}
	return id
}

// text reads a string; any other value but null is kept among the extra fields,
// where validation finds it.
func text(extra *map[string]json.RawMessage, field string, v any) string {
	s, ok := v.(string)
	if !ok && v != nil {
		misfit(extra, field, v)
	}
	return s
}

// whole reads a whole number as text reads a string.
func whole(extra *map[string]json.RawMessage, field string, v any) int64 {
	n, ok := v.(int64)
	if !ok && v != nil {
		misfit(extra, field, v)
	}
	return n
}

// misfit keeps a value that its field can't hold, or that has no field.
func misfit(extra *map[string]json.RawMessage, field string, v any) {
	if *extra == nil {
		*extra = map[string]json.RawMessage{}
	}
	(*extra)[field] = encoded(v)
}

func encoded(v any) json.RawMessage {
	raw, err := expr.Encode(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

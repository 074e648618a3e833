package web

import (
	"strings"

	"sluice/engine/expr"
	"sluice/views/page"
)

// contentFields draws the form of a content whose schema is a flat object; others
// are edited as text.
func contentFields(schema, content string) []page.ContentField {
	props := properties(schema)
	if props == nil {
		return nil
	}
	values := object(content)
	if values == nil {
		if content != "" && content != "null" {
			return nil // not an object: a form would replace it
		}
		values = expr.NewObject()
	}
	var out []page.ContentField
	for _, name := range props.Keys() {
		prop, ok := get(props, name).(*expr.Object)
		if !ok {
			return nil
		}
		f := page.ContentField{Name: name, Title: text(get(prop, "title")), Hint: text(get(prop, "description"))}
		if f.Title == "" {
			f.Title = name
		}
		value, present := values.Get(name)
		f.Kind, f.Options = fieldKind(prop, value, present)
		switch s, isText := value.(string); {
		case !present:
		case isText && f.Kind != "json":
			f.Value = s
		default:
			f.Value = show(value)
		}
		out = append(out, f)
	}
	return out
}

// properties are those of an object's schema, or nil.
func properties(schema string) *expr.Object {
	root := object(schema)
	if root == nil {
		return nil
	}
	props, _ := get(root, "properties").(*expr.Object)
	return props
}

// object is a JSON object, or nil for anything else.
func object(raw string) *expr.Object {
	if raw == "" {
		return nil
	}
	v, err := expr.Decode([]byte(raw))
	if err != nil {
		return nil
	}
	o, _ := v.(*expr.Object)
	return o
}

func get(o *expr.Object, key string) any {
	v, _ := o.Get(key)
	return v
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// fieldKind chooses the control of a field. A value that the control could not
// show as it is gets edited as JSON.
func fieldKind(prop *expr.Object, value any, present bool) (kind string, options []string) {
	s, isText := value.(string)
	if list, ok := get(prop, "enum").([]any); ok {
		for _, v := range list {
			option, ok := v.(string)
			if !ok {
				return "json", nil
			}
			options = append(options, option)
		}
		if present && !isText {
			return "json", nil
		}
		return "choice", options
	}
	switch kind := text(get(prop, "type")); {
	case kind == "string" && present && !isText:
		return "json", nil
	case kind == "string" && (len(s) > 80 || strings.ContainsAny(s, "\r\n")):
		return "long", nil
	case kind == "string":
		return "text", nil
	case kind == "number", kind == "integer":
		return "number", nil
	case kind == "boolean":
		if _, ok := value.(bool); present && !ok {
			return "json", nil
		}
		return "boolean", nil
	default:
		return "json", nil
	}
}

func show(v any) string {
	raw, err := expr.Encode(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

package web

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/expr"
	"sluice/views/page"
)

// contentFields draws the form of a content whose schema is a flat object; others
// are edited as text.
func contentFields(schema, content string) []page.ContentField {
	if schema == "" {
		return nil
	}
	s, err := expr.Decode([]byte(schema))
	root, ok := s.(*expr.Object)
	if err != nil || !ok {
		return nil
	}
	props, ok := get(root, "properties").(*expr.Object)
	if !ok {
		return nil
	}
	var values *expr.Object
	if v, err := expr.Decode([]byte(content)); err == nil {
		values, _ = v.(*expr.Object)
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
		var value any
		if values != nil {
			value, _ = values.Get(name)
		}
		f.Kind, f.Value, f.Options = fieldKind(prop, value)
		out = append(out, f)
	}
	return out
}

func get(o *expr.Object, key string) any {
	v, _ := o.Get(key)
	return v
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func fieldKind(prop *expr.Object, value any) (kind, shown string, options []string) {
	if list, ok := get(prop, "enum").([]any); ok {
		for _, v := range list {
			s, ok := v.(string)
			if !ok {
				return "json", show(value), nil
			}
			options = append(options, s)
		}
		return "choice", text(value), options
	}
	switch text(get(prop, "type")) {
	case "string":
		s := text(value)
		if len(s) > 80 || strings.Contains(s, "\n") {
			return "long", s, nil
		}
		return "text", s, nil
	case "number", "integer":
		return "number", show(value), nil
	case "boolean":
		return "boolean", show(value), nil
	default:
		return "json", show(value), nil
	}
}

func show(v any) string {
	if v == nil {
		return ""
	}
	raw, err := expr.Encode(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

// answerData reads the content as it was edited. Nil: the approval has none.
func answerData(c echo.Context) (json.RawMessage, error) {
	if c.FormValue("has_fields") != "" {
		return formData(c)
	}
	switch c.FormValue("data_kind") {
	case "text":
		return expr.Encode(c.FormValue("data"))
	case "json":
		return jsonField("data", c.FormValue("data"))
	default:
		return nil, nil
	}
}

func jsonField(field, text string) (json.RawMessage, error) {
	v, err := expr.Decode([]byte(text))
	if err != nil {
		return nil, badField(field, "this is not JSON: "+err.Error())
	}
	return expr.Encode(v)
}

func badField(field, message string) error {
	return &engine.InvalidError{Message: field + ": " + message, Issues: engine.Issues{{Code: "invalid", Severity: engine.SeverityError, Field: field, Message: message}}}
}

// formData reads the fields of a content's form, by name.
func formData(c echo.Context) (json.RawMessage, error) {
	form, err := c.FormParams()
	if err != nil {
		return nil, badField("data", "the form can't be read")
	}
	out := expr.NewObject()
	for _, key := range slices.Sorted(maps.Keys(form)) {
		name, ok := strings.CutPrefix(key, "field:")
		if !ok {
			continue
		}
		value := form.Get(key)
		switch form.Get("kind:" + name) {
		case "number", "json", "boolean":
			if strings.TrimSpace(value) == "" {
				continue
			}
			v, err := expr.Decode([]byte(value))
			if err != nil {
				return nil, badField(name, "“"+value+"” is not what this field takes")
			}
			out.Set(name, v)
		default:
			out.Set(name, value)
		}
	}
	return expr.Encode(out)
}

package web

import (
	"encoding/json"
	"net/url"
	"strings"

	"sluice/engine"
	"sluice/engine/expr"
	"sluice/models"
)

// answerData is the content as an approver left it. What was not touched comes back
// as it was stored, to the byte: browsers rewrite line ends, and a form knows only
// the fields of its schema. Nil: the approval has no content, or it is refused
// unchanged, which needs no content that fits.
func answerData(form url.Values, a models.ApprovalItem) (json.RawMessage, error) {
	var data json.RawMessage
	var err error
	switch {
	case form.Get("has_fields") != "":
		data, err = fieldsData(form, a)
	case form.Get("data_kind") == "text":
		data, err = expr.Encode(untouched(text(decoded(a.Content)), form.Get("data")))
	case form.Get("data_kind") == "json":
		data, err = jsonData(form.Get("data"), a.Content)
	}
	if err == nil && string(data) == a.Content && refusal(a.Outcomes, form.Get("outcome")) {
		return nil, nil
	}
	return data, err
}

// untouched is the text as it was, if what came back differs by its line ends alone.
func untouched(before, given string) string {
	given = unixLines(given)
	if unixLines(before) == given {
		return before
	}
	return given
}

// unixLines undoes what browsers do to the lines of a text.
func unixLines(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

func decoded(raw string) any {
	if raw == "" {
		return nil
	}
	v, err := expr.Decode([]byte(raw))
	if err != nil {
		return nil
	}
	return v
}

func jsonData(given, content string) (json.RawMessage, error) {
	if before, _ := readable(content); before != "" && unixLines(given) == before {
		return json.RawMessage(content), nil
	}
	if strings.TrimSpace(given) == "" && content == "" {
		return nil, nil
	}
	v, err := expr.Decode([]byte(given))
	if err != nil {
		return nil, badField("data", "this is not JSON: "+err.Error())
	}
	return expr.Encode(v)
}

// fieldsData puts a form's fields into the content, whose other fields stay.
func fieldsData(form url.Values, a models.ApprovalItem) (json.RawMessage, error) {
	before := object(a.Content)
	if before == nil {
		before = expr.NewObject()
	}
	changed := map[string]any{}
	gone := map[string]bool{}
	fields := contentFields(a.Schema, a.Content)
	for _, f := range fields {
		value, present := before.Get(f.Name)
		given := untouched(f.Value, form.Get("field:"+f.Name))
		switch {
		case !form.Has("field:" + f.Name), given == f.Value:
			if present {
				changed[f.Name] = value
			}
		case f.Kind == "text", f.Kind == "long", f.Kind == "choice" && given != "":
			changed[f.Name] = given
		case strings.TrimSpace(given) == "":
			gone[f.Name] = true
		default:
			v, err := expr.Decode([]byte(given))
			if err != nil {
				return nil, badField(f.Title, "“"+given+"” is not what this field takes")
			}
			changed[f.Name] = v
		}
	}
	out := expr.NewObject()
	for _, key := range before.Keys() {
		if v, ok := changed[key]; ok {
			out.Set(key, v)
		} else if !gone[key] {
			out.Set(key, get(before, key))
		}
	}
	for _, f := range fields {
		if v, ok := changed[f.Name]; ok {
			out.Set(f.Name, v)
		}
	}
	return expr.Encode(out)
}

// refusal reports whether an answer says no.
func refusal(outcomes, id string) bool {
	var list []engine.Outcome
	if outcomes == "" || json.Unmarshal([]byte(outcomes), &list) != nil {
		return false
	}
	for _, o := range list {
		if o.ID == id {
			return o.Refusal || o.Rejects
		}
	}
	return false
}

func badField(field, message string) error {
	return &engine.InvalidError{Message: field + ": " + message, Issues: engine.Issues{{Code: "invalid", Severity: engine.SeverityError, Field: field, Message: message}}}
}

package llm

import (
	"maps"
	"math"
	"sort"
	"strings"
	"unicode/utf8"
)

// generator makes up values that fit a JSON Schema, for the demo model. It knows
// the words that output schemas use: types, enum, const, default, examples,
// bounds, properties, items, references and alternatives. It knows no patterns.
type generator struct {
	root   any
	prompt string
}

// maxGenerated bounds the depth of a recursive schema.
const maxGenerated = 12

func (g generator) value(schema any, name string, depth int) any {
	s, ok := schema.(map[string]any)
	if !ok {
		return demoText(name, g.prompt) // true: anything fits
	}
	s = g.resolve(s, depth)
	for _, key := range []string{"const", "default"} {
		if v, ok := s[key]; ok {
			return v
		}
	}
	for _, key := range []string{"enum", "examples"} {
		if list, ok := s[key].([]any); ok && len(list) > 0 {
			return list[0]
		}
	}
	switch g.typeOf(s) {
	case "object":
		return g.object(s, depth)
	case "array":
		return g.array(s, name, depth)
	case "integer":
		return int64(g.number(s, true))
	case "number":
		return g.number(s, false)
	case "boolean":
		return true
	case "null":
		return nil
	default:
		return g.text(s, name)
	}
}

// resolve follows references and takes the first alternative; what the schema
// itself says is kept beside it.
func (g generator) resolve(s map[string]any, depth int) map[string]any {
	for range maxGenerated {
		next := g.step(s, depth)
		if next == nil {
			return s
		}
		merged := map[string]any{}
		maps.Copy(merged, next)
		for k, v := range s {
			switch k {
			case "$ref", "anyOf", "oneOf", "allOf":
				continue
			}
			merged[k] = v
		}
		s = merged
	}
	return s
}

func (g generator) step(s map[string]any, depth int) map[string]any {
	if ref, ok := s["$ref"].(string); ok {
		return g.lookup(ref)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		list, _ := s[key].([]any)
		if len(list) == 0 {
			continue
		}
		pick, _ := list[0].(map[string]any)
		if depth >= maxGenerated/2 { // end recursion at the alternative that says null
			for _, x := range list {
				if m, ok := x.(map[string]any); ok && m["type"] == "null" {
					pick = m
				}
			}
		}
		return pick
	}
	list, _ := s["allOf"].([]any)
	if len(list) == 0 {
		return nil
	}
	all := map[string]any{}
	for _, x := range list {
		m, _ := x.(map[string]any)
		mergeSchema(all, g.resolve(m, depth))
	}
	return all
}

func mergeSchema(into, from map[string]any) {
	for k, v := range from {
		old, ok := into[k].(map[string]any)
		more, isObject := v.(map[string]any)
		if k != "properties" || !ok || !isObject {
			into[k] = v
			continue
		}
		maps.Copy(old, more)
	}
}

// lookup finds a local reference such as "#/$defs/item".
func (g generator) lookup(ref string) map[string]any {
	v := g.root
	for _, key := range strings.Split(strings.TrimPrefix(ref, "#"), "/")[1:] {
		m, ok := v.(map[string]any)
		if !ok {
			return map[string]any{}
		}
		v = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(key)]
	}
	m, ok := v.(map[string]any)
	if !ok {
		return map[string]any{}
	}
	return m
}

func (generator) typeOf(s map[string]any) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		for _, x := range t {
			if name, ok := x.(string); ok && name != "null" {
				return name
			}
		}
		return "null"
	}
	switch {
	case s["properties"] != nil:
		return "object"
	case s["items"] != nil:
		return "array"
	}
	return "string"
}

func (g generator) object(s map[string]any, depth int) any {
	out := map[string]any{}
	required := map[string]bool{}
	if list, ok := s["required"].([]any); ok {
		for _, x := range list {
			if name, ok := x.(string); ok {
				required[name] = true
			}
		}
	}
	props, _ := s["properties"].(map[string]any)
	names := make([]string, 0, len(props))
	for name := range props {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if required[name] || depth < maxGenerated/2 {
			if depth < maxGenerated {
				out[name] = g.value(props[name], name, depth+1)
			}
		}
	}
	for name := range required {
		if _, ok := out[name]; !ok && depth < maxGenerated {
			out[name] = g.value(s["additionalProperties"], name, depth+1)
		}
	}
	return out
}

func (g generator) array(s map[string]any, name string, depth int) any {
	n := 2
	if depth >= maxGenerated/2 {
		n = 0
	}
	if v, ok := s["minItems"].(float64); ok {
		n = max(n, int(min(v, 100)))
	}
	if v, ok := s["maxItems"].(float64); ok {
		n = min(n, int(v))
	}
	if s["uniqueItems"] == true {
		n = min(n, 1)
	}
	out := make([]any, 0, n)
	for range n {
		if depth >= maxGenerated {
			break
		}
		out = append(out, g.value(s["items"], name, depth+1))
	}
	return out
}

// number is a value within the bounds, near the middle where there are two.
func (generator) number(s map[string]any, whole bool) float64 {
	low, hasLow := bound(s, "minimum", "exclusiveMinimum", 1, whole)
	high, hasHigh := bound(s, "maximum", "exclusiveMaximum", -1, whole)
	v := 1.0
	switch {
	case hasLow && hasHigh:
		v = (low + high) / 2
	case hasLow:
		v = max(low, 1)
	case hasHigh:
		v = min(high, 1)
	}
	if m, ok := s["multipleOf"].(float64); ok && m > 0 {
		v = math.Ceil(v/m) * m
	}
	if whole {
		v = math.Floor(v)
	}
	return v
}

func bound(s map[string]any, inclusive, exclusive string, direction float64, whole bool) (float64, bool) {
	if v, ok := s[inclusive].(float64); ok {
		return v, true
	}
	v, ok := s[exclusive].(float64)
	if !ok {
		return 0, false
	}
	step := 1e-6
	if whole {
		step = 1
	}
	return v + direction*step, true
}

// formats are texts of a known shape.
var formats = map[string]string{
	"date": "2027-01-31", "date-time": "2027-01-31T09:00:00Z", "time": "09:00:00Z",
	"email": "demo@example.com", "uri": "https://example.com/", "uuid": "00000000-0000-7000-8000-000000000000",
}

func (g generator) text(s map[string]any, name string) any {
	if f, ok := s["format"].(string); ok && formats[f] != "" {
		return formats[f]
	}
	t := demoText(name, g.prompt)
	if v, ok := s["maxLength"].(float64); ok && float64(utf8.RuneCountInString(t)) > v {
		t = string([]rune(t)[:max(0, int(v))])
	}
	if v, ok := s["minLength"].(float64); ok {
		for float64(utf8.RuneCountInString(t)) < min(v, 10_000) {
			t += "."
		}
	}
	return t
}

// demoText names the field and repeats the prompt, so that what came in before is
// seen to go on.
func demoText(name, prompt string) string {
	if name == "" {
		name = "value"
	}
	return "[Demo model, not an AI] " + name + ": " + Excerpt(prompt)
}

package expr

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// path is a reference without operators: a root and the keys after it.
type path struct {
	ref  Ref
	keys []string
	text string
}

// isSegment reports whether a rune may stand in a path segment without brackets.
// ASCII punctuation other than "_" and "-" may not; everything beyond ASCII but
// spaces and controls may, so that names in any script work.
func isSegment(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	return !unicode.IsSpace(r) && !unicode.IsControl(r) && r != utf8.RuneError
}

// isWord is isSegment without the dash: what an identifier in an expression holds.
func isWord(r rune) bool { return r != '-' && isSegment(r) }

// segments splits a pure path into its keys; ok is false if the text is anything
// else. A bracketed key is a JSON string, a string in single quotes, or an integer.
func segments(text string) (keys []string, ok bool) {
	for at := 0; at < len(text); {
		switch {
		case text[at] == '[':
			key, n, ok := bracketed(text[at:])
			if !ok || len(keys) == 0 {
				return nil, false
			}
			keys = append(keys, key)
			at += n
			continue
		case text[at] == '.':
			if len(keys) == 0 {
				return nil, false
			}
			at++
		case len(keys) > 0:
			return nil, false
		}
		n := run(text[at:], isSegment)
		if n == 0 {
			return nil, false
		}
		keys = append(keys, text[at:at+n])
		at += n
	}
	return keys, len(keys) > 0
}

// run is the length of the longest prefix whose runes all fit.
func run(s string, fits func(rune) bool) int {
	for i, r := range s {
		if !fits(r) {
			return i
		}
	}
	return len(s)
}

// bracketed reads ["key"], ['key'] or [3] and returns its length.
func bracketed(s string) (key string, n int, ok bool) {
	if len(s) < 3 {
		return "", 0, false
	}
	if q := s[1]; q == '"' || q == '\'' {
		for i := 2; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case q:
				if i+1 >= len(s) || s[i+1] != ']' {
					return "", 0, false
				}
				key, err := unquote(s[1 : i+1])
				return key, i + 2, err == nil
			}
		}
		return "", 0, false
	}
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return "", 0, false
	}
	if _, err := strconv.Atoi(s[1:end]); err != nil {
		return "", 0, false
	}
	return s[1:end], end + 1, true
}

func unquote(s string) (string, error) {
	if s[0] == '\'' {
		s = `"` + strings.ReplaceAll(strings.ReplaceAll(s[1:len(s)-1], `\'`, `'`), `"`, `\"`) + `"`
	}
	return strconv.Unquote(s)
}

// parsePath reads a pure path; ok is false for anything that is an expression.
func parsePath(text string, steps map[string]bool) (path, bool) {
	text = strings.TrimSpace(text)
	if p, ok := dottedStep(text, steps); ok {
		return p, true
	}
	p, ok := plainPath(text)
	p.ref.Name = NormalName(p.ref.Name)
	return p, ok
}

// NormalName brings a name into Unicode normal form C, so that a name typed on two
// systems is one name. Step ids and variables are compared in this form; keys of
// values are not touched.
func NormalName(s string) string { return norm.NFC.String(s) }

// plainPath reads a path by its syntax alone.
func plainPath(text string) (path, bool) {
	keys, ok := segments(text)
	if !ok {
		return path{}, false
	}
	p := path{text: text}
	root, rest := Root(keys[0]), keys[1:]
	switch root {
	case RootInput, RootLoopItem, RootLoopIndex, RootRun:
		p.ref, p.keys = Ref{Root: root}, rest
	case RootStep, RootLoop, RootSecret:
		if len(rest) == 0 {
			return path{}, false
		}
		p.ref, p.keys = Ref{Root: root, Name: rest[0]}, rest[1:]
	case RootVars:
		p.ref = Ref{Root: RootVars}
		if len(rest) > 0 {
			p.ref.Name, p.keys = rest[0], rest[1:]
		}
	default:
		return barePath(p, keys)
	}
	return p, true
}

// barePath is a variable, or {{_node_<id>}}.
func barePath(p path, keys []string) (path, bool) {
	first := keys[0]
	if id, ok := strings.CutPrefix(first, string(RootNode)); ok && id != "" {
		p.ref, p.keys = Ref{Root: RootNode, Name: id, Whole: len(keys) == 1}, keys[1:]
		return p, true
	}
	r, _ := utf8.DecodeRuneInString(first)
	if r >= '0' && r <= '9' || strings.Contains(first, "-") || reserved[first] {
		return path{}, false
	}
	p.ref, p.keys = Ref{Root: RootVar, Name: first}, keys[1:]
	return p, true
}

// reserved are words of the expression language that are no variables.
var reserved = map[string]bool{
	"true": true, "false": true, "nil": true, "null": true, "not": true, "and": true, "or": true, "in": true, "let": true,
	"if": true, "else": true, "contains": true, "matches": true, "startsWith": true, "endsWith": true,
}

// dottedStep reads step.<id>… where the id is known and is not one plain segment
// (it has dots or spaces): the longest known id wins.
func dottedStep(text string, steps map[string]bool) (path, bool) {
	rest, ok := strings.CutPrefix(text, "step.")
	if !ok {
		return path{}, false
	}
	id := longestID(rest, steps)
	if id == "" || run(id, isSegment) == len(id) {
		return path{}, false
	}
	p := path{ref: Ref{Root: RootStep, Name: id}, text: text}
	tail := rest[len(id):]
	if tail == "" {
		return p, true
	}
	keys, ok := segments("x" + tail)
	if !ok || keys[0] != "x" {
		return path{}, false
	}
	p.keys = keys[1:]
	return p, true
}

// longestID is the longest known id that text begins with and that ends there.
func longestID(text string, steps map[string]bool) string {
	best := ""
	for id := range steps {
		if len(id) <= len(best) || !strings.HasPrefix(text, id) {
			continue
		}
		if next, _ := utf8.DecodeRuneInString(text[len(id):]); len(text) == len(id) || !isWord(next) {
			best = id
		}
	}
	return best
}

// PathTo writes a path that resolves to a key below a root: dotted where a dot
// works, in brackets elsewhere.
func PathTo(root Root, name string, keys ...string) string {
	var b strings.Builder
	all := keys
	switch root {
	case RootVar:
		b.WriteString(string(RootVars))
		all = append([]string{name}, keys...)
	case RootNode:
		b.WriteString(string(RootNode) + name)
	case RootStep, RootLoop, RootSecret, RootVars:
		b.WriteString(string(root))
		all = append([]string{name}, keys...)
	default:
		b.WriteString(string(root))
	}
	for _, k := range all {
		if k != "" && run(k, isSegment) == len(k) {
			b.WriteByte('.')
			b.WriteString(k)
			continue
		}
		b.WriteByte('[')
		b.Write(appendString(nil, k))
		b.WriteByte(']')
	}
	return b.String()
}

// eval resolves a path.
func (p *path) eval(env Env) (any, error) {
	v, err := env.Resolve(p.ref)
	if err != nil {
		return nil, err
	}
	for _, k := range p.keys {
		next, ok := member(v, k)
		if !ok {
			return nil, &MissingError{Path: p.text, Reason: whyMissing(v, k)}
		}
		v = next
	}
	return v, nil
}

// member reads a key of an object or an index of a list; negative indexes count
// from the end.
func member(v any, key string) (any, bool) {
	switch v := v.(type) {
	case *Object:
		if v == nil {
			return nil, false
		}
		return v.Get(key)
	case []any:
		i, err := strconv.Atoi(key)
		if err != nil {
			return nil, false
		}
		if i < 0 {
			i += len(v)
		}
		if i < 0 || i >= len(v) {
			return nil, false
		}
		return v[i], true
	case map[string]any:
		x, ok := v[key]
		return x, ok
	default:
		return nil, false
	}
}

func whyMissing(v any, key string) string {
	switch v := v.(type) {
	case *Object:
		return "there is no key " + strconv.Quote(key)
	case []any:
		return "a list of " + strconv.Itoa(len(v)) + " has no item " + key
	default:
		return kindOf(v) + " has no key " + strconv.Quote(key)
	}
}

// kindOf names a value's type for people.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "text"
	case int, int64, float64, Number:
		return "a number"
	case []any:
		return "a list"
	default:
		return "an object"
	}
}

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

// nodeWord is [RootNode] where its id stands in brackets: _node["a b"].
const nodeWord = "_node"

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

// prefix is the length of the longest beginning whose runes all fit.
func prefix(s string, fits func(rune) bool) int {
	for i, r := range s {
		if !fits(r) {
			return i
		}
	}
	return len(s)
}

// segments splits a pure path into its keys; ok is false if the text is anything
// else. A bracketed key is a JSON string, the same in single quotes, or an integer.
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
		n := prefix(text[at:], isSegment)
		if n == 0 {
			return nil, false
		}
		keys = append(keys, text[at:at+n])
		at += n
	}
	return keys, len(keys) > 0
}

// bracketed reads ["key"], ['key'] or [3] and returns its length.
func bracketed(s string) (key string, n int, ok bool) {
	if len(s) < 3 {
		return "", 0, false
	}
	if s[1] == '"' || s[1] == '\'' {
		key, n, ok = quoted(s[1:])
		if !ok || len(s) <= n+1 || s[n+1] != ']' {
			return "", 0, false
		}
		return key, n + 2, true
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

// quoted reads a JSON string, or the same in single quotes, and returns its length.
func quoted(s string) (text string, n int, ok bool) {
	n = stringLen(s)
	if n < 2 || s[n-1] != s[0] {
		return "", 0, false
	}
	inside := s[1 : n-1]
	if s[0] == '\'' {
		inside = strings.ReplaceAll(strings.ReplaceAll(inside, `\'`, `'`), `"`, `\"`)
	}
	d := decoder{data: []byte(`"` + inside + `"`)}
	text, err := d.text()
	return text, n, err == nil && d.at == len(d.data)
}

// stringLen is the length of the quoted string that s begins with; all of s if it
// has no end.
func stringLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if s[0] != '`' {
				i++
			}
		case s[0]:
			return i + 1
		}
	}
	return len(s)
}

// NormalName brings a name into Unicode normal form C, so that a name typed on two
// systems is one name. Step ids and variables are compared in this form; keys of
// values are not touched.
func NormalName(s string) string { return norm.NFC.String(s) }

// path reads a pure path; ok is false for anything that is an expression.
func (ids idSet) path(text string) (path, bool) {
	if p, ok := ids.oddPath(text); ok {
		return p, true
	}
	p, ok := plainPath(text)
	p.ref.Name = NormalName(p.ref.Name)
	return p, ok
}

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
	case RootStep, RootLoop, RootSecret, nodeWord:
		if len(rest) == 0 {
			return path{}, false
		}
		p.ref, p.keys = namedRef(root, rest[0], len(rest) == 1), rest[1:]
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

// namedRef is the reference of a root that has a name after it.
func namedRef(root Root, name string, last bool) Ref {
	if root == nodeWord {
		return Ref{Root: RootNode, Name: name, Whole: last}
	}
	return Ref{Root: root, Name: name}
}

// barePath is a variable, or {{_node_<id>}}.
func barePath(p path, keys []string) (path, bool) {
	first := keys[0]
	if id, ok := strings.CutPrefix(first, string(RootNode)); ok && id != "" {
		p.ref, p.keys = Ref{Root: RootNode, Name: id, Whole: len(keys) == 1}, keys[1:]
		return p, true
	}
	r, _ := utf8.DecodeRuneInString(first)
	if r >= '0' && r <= '9' || strings.Contains(first, "-") || isReserved(first) {
		return path{}, false
	}
	p.ref, p.keys = Ref{Root: RootVar, Name: first}, keys[1:]
	return p, true
}

// isReserved reports whether a word belongs to the expression language, so that it
// is no bare variable.
func isReserved(word string) bool {
	switch word {
	case "true", "false", "nil", "null":
		return true
	default:
		return isOperator(word)
	}
}

// isOperator reports whether a word is an operator or a keyword of expressions.
func isOperator(word string) bool {
	switch word {
	case "not", "and", "or", "in", "let", "if", "else", "contains", "matches", "startsWith", "endsWith":
		return true
	default:
		return false
	}
}

// oddPath reads a path whose id is known and is not one plain segment (it has dots
// or spaces): the longest known id wins.
func (ids idSet) oddPath(text string) (path, bool) {
	for _, root := range []Root{RootStep, RootLoop, nodeWord} {
		n := len(root)
		if len(text) <= n+1 || text[:n] != string(root) || root == nodeWord && text[n] != '_' || root != nodeWord && text[n] != '.' {
			continue
		}
		rest := text[n+1:]
		size := ids.longest(rest)
		if prefix(rest[:size], isSegment) == size {
			return path{}, false
		}
		p := path{text: text}
		if tail := rest[size:]; tail != "" {
			keys, ok := segments("x" + tail)
			if !ok || keys[0] != "x" {
				return path{}, false
			}
			p.keys = keys[1:]
		}
		p.ref = namedRef(root, NormalName(rest[:size]), len(p.keys) == 0)
		return p, true
	}
	return path{}, false
}

// idSet finds known ids at the beginning of a text.
type idSet struct {
	known map[string]bool
	limit int // no id has more bytes, in any normal form
}

func newIDSet(known map[string]bool) idSet {
	longest := 0
	for id := range known {
		longest = max(longest, len(id))
	}
	return idSet{known: known, limit: min(4*longest, 1024)}
}

// longest is the length of the longest known id that text begins with and that
// ends there.
func (ids idSet) longest(text string) int {
	best := 0
	for i, r := range text {
		if i > ids.limit {
			return best
		}
		if i > 0 && !isWord(r) && ids.known[NormalName(text[:i])] {
			best = i
		}
	}
	if len(text) <= ids.limit && ids.known[NormalName(text)] {
		best = len(text)
	}
	return best
}

// PathTo writes a path that resolves to a key below a root, in a template and in
// an expression that knows the step's id: dotted where a dot works, in brackets
// elsewhere. name is the step, the loop, the secret or the variable.
func PathTo(root Root, name string, keys ...string) string {
	var b strings.Builder
	switch root {
	case RootVar:
		b.WriteString(string(RootVars) + pathKey(name))
	case RootNode:
		if prefix(name, isSegment) == len(name) && name != "" {
			b.WriteString(string(RootNode) + name)
		} else {
			b.WriteString(nodeWord + keyText(name))
		}
	case RootVars:
		b.WriteString(string(root))
		if name != "" {
			b.WriteString(pathKey(name))
		}
	case RootStep, RootLoop, RootSecret:
		b.WriteString(string(root) + keyText(name))
	default:
		b.WriteString(string(root))
	}
	for _, k := range keys {
		b.WriteString(pathKey(k))
	}
	return b.String()
}

// pathKey is a key that works in expressions too, where a dash is a minus.
func pathKey(key string) string {
	if key != "" && prefix(key, isWord) == len(key) {
		return "." + key
	}
	return "[" + string(appendString(nil, key)) + "]"
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

package expr

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

// spell prepares a source for the expression library's parser: references are
// spelt with brackets, so that ids and keys in any script, with digits first or
// with dashes, are understood. Strings and comments stay as they are.
func spell(src string, steps map[string]bool) string {
	var b strings.Builder
	b.Grow(len(src) + 32)
	for at := 0; at < len(src); {
		n := spellNext(&b, src, at, steps)
		at += n
	}
	return b.String()
}

// spellNext copies or rewrites what begins at a position and returns its length.
func spellNext(b *strings.Builder, src string, at int, steps map[string]bool) int {
	rest := src[at:]
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case r == '"' || r == '\'' || r == '`':
		n := stringLen(rest)
		b.WriteString(rest[:n])
		return n
	case strings.HasPrefix(rest, "//"):
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		b.WriteString(rest[:n])
		return n
	case strings.HasPrefix(rest, "/*"):
		n := strings.Index(rest, "*/")
		if n < 0 {
			n = len(rest)
		} else {
			n += 2
		}
		b.WriteString(rest[:n])
		return n
	case r >= '0' && r <= '9':
		n := numberLen(rest)
		b.WriteString(rest[:n])
		return n
	case isWord(r):
		n := run(rest, isWord)
		if at > 0 && (src[at-1] == '#' || src[at-1] == '.') {
			b.WriteString(rest[:n])
			return n
		}
		return spellReference(b, rest, n, steps)
	default:
		b.WriteString(rest[:size])
		return size
	}
}

func numberLen(s string) int {
	n := run(s, func(r rune) bool { return r < utf8.RuneSelf && isWord(r) })
	if n < len(s)-1 && s[n] == '.' && s[n+1] >= '0' && s[n+1] <= '9' {
		n++
		n += run(s[n:], func(r rune) bool { return r < utf8.RuneSelf && isWord(r) })
	}
	return n
}

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

// spellReference rewrites a reference whose first word has n bytes.
func spellReference(b *strings.Builder, rest string, n int, steps map[string]bool) int {
	word := rest[:n]
	at := n
	switch {
	case word == string(RootStep) && strings.HasPrefix(rest[n:], "."):
		id := longestID(rest[n+1:], steps)
		if id == "" {
			id = rest[n+1 : n+1+run(rest[n+1:], isWord)]
		}
		if id == "" {
			b.WriteString(word)
			return n
		}
		b.WriteString("step")
		writeKey(b, id)
		at = n + 1 + len(id)
	case strings.HasPrefix(word, string(RootNode)) && len(word) > len(RootNode):
		id := longestID(rest[len(RootNode):], steps)
		if id == "" {
			id = word[len(RootNode):]
		}
		b.WriteString("_node")
		writeKey(b, id)
		at = len(RootNode) + len(id)
	case lexable(word):
		b.WriteString(word)
	default:
		b.WriteString("vars")
		writeKey(b, word)
	}
	for at < len(rest) {
		m := at
		optional := strings.HasPrefix(rest[m:], "?.")
		if optional {
			m += 2
		} else if rest[m] == '.' {
			m++
		} else {
			break
		}
		k := run(rest[m:], isWord)
		if k == 0 || strings.HasPrefix(strings.TrimLeft(rest[m+k:], " "), "(") {
			break
		}
		if optional {
			b.WriteString("?.")
		}
		writeKey(b, rest[m:m+k])
		at = m + k
	}
	return at
}

func writeKey(b *strings.Builder, key string) {
	b.WriteByte('[')
	b.WriteString(strconv.Quote(key))
	b.WriteByte(']')
}

// lexable reports whether the expression library reads the word as one identifier.
func lexable(word string) bool {
	return run(word, func(r rune) bool {
		return r == '_' || r == '$' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}) == len(word)
}

// Names of the functions that rewritten expressions call.
const (
	fnRef  = "__ref"
	fnGet  = "__get"
	fnTick = "__tick"
	fnOp   = "__op"
	fnCall = "__call"
)

// rewriter turns references into calls that resolve them through the Env, and
// operators into ones that know the package's values.
type rewriter struct {
	refs   []Reference
	locals map[string]int
	err    error
}

func call(name string, args ...ast.Node) ast.Node {
	return &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: args}
}

// rewrite returns the node's replacement. lenient is set where the absence of a
// value is handled.
func (w *rewriter) rewrite(n ast.Node, lenient bool) ast.Node {
	switch n := n.(type) {
	case *ast.IdentifierNode, *ast.MemberNode:
		return w.access(n, lenient)
	case *ast.ChainNode:
		return w.rewrite(n.Node, lenient)
	case *ast.UnaryNode:
		n.Node = w.rewrite(n.Node, false)
		if n.Operator == "-" || n.Operator == "+" {
			n.Node = call(fnCall, &ast.StringNode{Value: "number"}, n.Node)
		}
	case *ast.BinaryNode:
		return w.binary(n, lenient)
	case *ast.ConditionalNode:
		n.Cond, n.Exp1, n.Exp2 = w.rewrite(n.Cond, false), w.rewrite(n.Exp1, lenient), w.rewrite(n.Exp2, lenient)
	case *ast.SliceNode:
		n.Node = w.rewrite(n.Node, false)
		if n.From != nil {
			n.From = w.rewrite(n.From, false)
		}
		if n.To != nil {
			n.To = w.rewrite(n.To, false)
		}
	case *ast.CallNode:
		for i := range n.Arguments {
			n.Arguments[i] = w.rewrite(n.Arguments[i], false)
		}
		if id, ok := n.Callee.(*ast.IdentifierNode); !ok || !isFunction(id.Value) {
			w.fail("there is no function %s", n.Callee.String())
		} else {
			return call(fnCall, append([]ast.Node{&ast.StringNode{Value: id.Value}}, n.Arguments...)...)
		}
	case *ast.BuiltinNode:
		return w.builtin(n)
	case *ast.PredicateNode:
		n.Node = call(fnTick, w.rewrite(n.Node, false))
	case *ast.VariableDeclaratorNode:
		n.Value = w.rewrite(n.Value, false)
		w.locals[n.Name]++
		n.Expr = w.rewrite(n.Expr, lenient)
		w.locals[n.Name]--
	case *ast.SequenceNode:
		for i := range n.Nodes {
			n.Nodes[i] = w.rewrite(n.Nodes[i], lenient)
		}
	case *ast.ArrayNode:
		for i := range n.Nodes {
			n.Nodes[i] = w.rewrite(n.Nodes[i], false)
		}
	case *ast.MapNode:
		for i := range n.Pairs {
			p := n.Pairs[i].(*ast.PairNode) //nolint:forcetypeassert // the parser makes nothing else
			if _, ok := p.Key.(*ast.StringNode); !ok {
				p.Key = w.rewrite(p.Key, false)
			}
			p.Value = w.rewrite(p.Value, false)
		}
	}
	return n
}

// binary rewrites operators. The boolean and ?? keep their short-circuits.
func (w *rewriter) binary(n *ast.BinaryNode, lenient bool) ast.Node {
	switch n.Operator {
	case "??":
		n.Left = w.rewrite(n.Left, true)
		first := len(w.refs)
		n.Right = w.rewrite(n.Right, lenient)
		for i := first; i < len(w.refs); i++ {
			w.refs[i].Fallback = true
		}
		return n
	case "and", "&&", "or", "||":
		n.Left, n.Right = w.rewrite(n.Left, false), w.rewrite(n.Right, false)
		return n
	case "matches", "startsWith", "endsWith", "..":
		n.Left, n.Right = w.rewrite(n.Left, false), w.rewrite(n.Right, false)
		return n
	case "not in":
		return &ast.UnaryNode{Operator: "not", Node: w.binary(&ast.BinaryNode{Operator: "in", Left: n.Left, Right: n.Right}, lenient)}
	default:
		return call(fnOp, &ast.StringNode{Value: n.Operator}, w.rewrite(n.Left, false), w.rewrite(n.Right, false))
	}
}

// ownBuiltins are functions of the library that the package answers itself,
// because they must know its values or give a stable order.
var ownBuiltins = map[string]bool{
	"len": true, "keys": true, "values": true, "toJSON": true, "fromJSON": true, "string": true, "type": true, "int": true,
	"float": true, "now": true,
}

func (w *rewriter) builtin(n *ast.BuiltinNode) ast.Node {
	for i := range n.Arguments {
		switch arg := n.Arguments[i].(type) {
		case *ast.PredicateNode:
			n.Arguments[i] = w.rewrite(arg, false)
		default:
			n.Arguments[i] = w.rewrite(arg, n.Name == "get" && i == 0)
			if !ownBuiltins[n.Name] {
				n.Arguments[i] = call(fnCall, &ast.StringNode{Value: "plain"}, n.Arguments[i])
			}
		}
	}
	if ownBuiltins[n.Name] {
		return call(fnCall, append([]ast.Node{&ast.StringNode{Value: n.Name}}, n.Arguments...)...)
	}
	return n
}

// access rewrites a name and the members after it.
func (w *rewriter) access(n ast.Node, lenient bool) ast.Node {
	var members []*ast.MemberNode
	base := n
	for {
		if c, ok := base.(*ast.ChainNode); ok {
			base = c.Node
			continue
		}
		m, ok := base.(*ast.MemberNode)
		if !ok {
			break
		}
		members = append([]*ast.MemberNode{m}, members...)
		base = m.Node
	}
	id, isName := base.(*ast.IdentifierNode)
	var out ast.Node
	text := "value"
	switch {
	case isName && w.locals[id.Value] > 0:
		out, text = id, id.Value
	case isName:
		out, members, text = w.reference(id.Value, members, lenient)
	default:
		out = w.rewrite(base, false)
	}
	soft := lenient
	for _, m := range members {
		soft = soft || m.Optional
		key := m.Property
		if s, ok := key.(*ast.StringNode); ok {
			text += keyText(s.Value)
		} else {
			text += "[" + key.String() + "]"
			key = w.rewrite(key, false)
		}
		out = call(fnGet, out, key, &ast.StringNode{Value: text}, &ast.BoolNode{Value: soft})
	}
	return out
}

func keyText(key string) string {
	if key != "" && run(key, isSegment) == len(key) {
		return "." + key
	}
	return "[" + strconv.Quote(key) + "]"
}

// reference notes a reference and returns the call that resolves it, with the
// members that are not part of it.
func (w *rewriter) reference(name string, members []*ast.MemberNode, lenient bool) (ast.Node, []*ast.MemberNode, string) {
	ref := Ref{Root: RootVar, Name: NormalName(name)}
	text := name
	first := func() (string, bool) {
		if len(members) == 0 {
			return "", false
		}
		s, ok := members[0].Property.(*ast.StringNode)
		if !ok {
			return "", false
		}
		return s.Value, true
	}
	switch Root(name) {
	case RootInput, RootLoopItem, RootLoopIndex, RootRun:
		ref = Ref{Root: Root(name)}
	case RootVars:
		ref = Ref{Root: RootVars}
		if key, ok := first(); ok {
			ref.Name, members = NormalName(key), members[1:]
			text += keyText(key)
		}
	case RootStep, RootLoop, RootSecret, "_node":
		key, ok := first()
		if !ok {
			w.fail("%s needs a name after it, such as %s.name", name, name)
			return &ast.NilNode{}, nil, text
		}
		root := Root(name)
		text += keyText(key)
		if name == "_node" {
			root, text = RootNode, string(RootNode)+key
		}
		members = members[1:]
		ref = Ref{Root: root, Name: NormalName(key), Whole: root == RootNode && len(members) == 0}
	default: // a variable
	}
	soft := lenient || (len(members) > 0 && members[0].Optional)
	full := text
	var fullSb379 strings.Builder
	for _, m := range members {
		if s, ok := m.Property.(*ast.StringNode); ok {
			fullSb379.WriteString(keyText(s.Value))
			continue
		}
		fullSb379.WriteString("[…]")
	}
	full += fullSb379.String()
	optional := soft
	for _, m := range members {
		optional = optional || m.Optional
	}
	w.refs = append(w.refs, Reference{Ref: ref, Path: full, Optional: optional})
	return call(fnRef, &ast.IntegerNode{Value: len(w.refs) - 1}, &ast.BoolNode{Value: soft}), members, text
}

func (w *rewriter) fail(format string, args ...any) {
	if w.err == nil {
		w.err = syntaxf(0, format, args...)
	}
}

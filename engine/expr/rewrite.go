package expr

import (
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
)

// rewriter turns references into calls that resolve them through the Env, and
// operators and functions into calls of ours, which know the package's values.
// What is left to the library: names of let, short-circuits and loops.
type rewriter struct {
	spelt  *speller
	config *conf.Config
	refs   []Reference
	// locals maps the names of let to the variables that hold them, inner last.
	locals map[string][]string
	names  int
	chains int
	err    *SyntaxError
}

// fail notes the first error. The position is that of a node.
func (w *rewriter) fail(n ast.Node, format string, args ...any) ast.Node {
	if w.err == nil {
		w.err = syntaxf(w.spelt.source(n.Location().From), format, args...)
	}
	return &ast.NilNode{}
}

// rewrite returns the node's replacement. lenient is set on the left of ??.
func (w *rewriter) rewrite(n ast.Node, lenient bool) ast.Node {
	switch n := n.(type) {
	case *ast.IdentifierNode, *ast.MemberNode, *ast.PointerNode:
		return w.chain(n, lenient)
	case *ast.ChainNode:
		return w.rewrite(n.Node, lenient)
	case *ast.UnaryNode:
		return w.call(n, unaryName(n.Operator), lenient, w.rewrite(n.Node, lenient))
	case *ast.BinaryNode:
		return w.binary(n, lenient)
	case *ast.ConditionalNode:
		return w.conditional(n, lenient)
	case *ast.SliceNode:
		return w.slice(n, lenient)
	case *ast.CallNode:
		return w.callNode(n, lenient)
	case *ast.BuiltinNode:
		return w.builtin(n, lenient)
	case *ast.VariableDeclaratorNode:
		return w.let(n, lenient)
	case *ast.SequenceNode:
		return &ast.SequenceNode{Nodes: w.all(n.Nodes, lenient)}
	case *ast.ArrayNode:
		return w.call(n, "[…]", lenient, w.all(n.Nodes, lenient)...)
	case *ast.MapNode:
		return w.call(n, "{…}", lenient, w.pairs(n, lenient)...)
	case *ast.BytesNode:
		return w.fail(n, `a string begins with a quote, not with b and a quote`)
	default:
		return n
	}
}

func (w *rewriter) all(nodes []ast.Node, lenient bool) []ast.Node {
	out := make([]ast.Node, len(nodes))
	for i, n := range nodes {
		out[i] = w.rewrite(n, lenient)
	}
	return out
}

func unaryName(operator string) string {
	switch operator {
	case "!":
		return "not"
	case "-":
		return "-x"
	case "+":
		return "+x"
	default:
		return operator
	}
}

// call calls one of our functions or operators.
func (w *rewriter) call(at ast.Node, name string, lenient bool, args ...ast.Node) ast.Node {
	f, ok := functionNamed(name)
	if !ok {
		return w.fail(at, "there is no function %s", name)
	}
	if len(args) < f.min || f.max >= 0 && len(args) > f.max {
		return w.fail(at, "%s needs %s, not %d", name, f.arity(), len(args))
	}
	return w.apply(name, f.do, lenient, args)
}

// apply makes a function of ours known to the library and calls it. On the left of
// ??, it passes on what is absent.
func (w *rewriter) apply(name string, do function, lenient bool, args []ast.Node) ast.Node {
	if lenient {
		return w.bare("?"+name, passOn(do), args)
	}
	return w.bare("="+name, refuse(do), args)
}

// bare is apply for what looks after absent values itself. No name that an author
// can write begins like its id.
func (w *rewriter) bare(id string, do function, args []ast.Node) ast.Node {
	if w.config.Functions[id] == nil {
		w.config.Functions[id] = &builtin.Function{Name: id, Func: adapt(do)}
	}
	all := append([]ast.Node{&ast.IdentifierNode{Value: runName}}, args...)
	return &ast.CallNode{Callee: &ast.IdentifierNode{Value: id}, Arguments: all}
}

// adapt is a function as the library calls it.
func adapt(do function) func(...any) (any, error) {
	return func(args ...any) (any, error) {
		r := args[0].(run).evaluation //nolint:forcetypeassert // the rewriter gives nothing else
		v, err := do(r, args[1:])
		if err != nil && r.failed == nil {
			r.failed = err
		}
		return v, err
	}
}

// passOn gives what is absent among the values instead of calling the function.
func passOn(do function) function {
	return func(r *evaluation, args []any) (any, error) {
		if a := absentIn(args); a != nil {
			return a, nil
		}
		return do(r, args)
	}
}

// refuse fails if a value is absent.
func refuse(do function) function {
	return func(r *evaluation, args []any) (any, error) {
		if a := absentIn(args); a != nil {
			return nil, a.err
		}
		return do(r, args)
	}
}

func absentIn(args []any) *absent {
	for _, arg := range args {
		if a, ok := arg.(*absent); ok {
			return a
		}
	}
	return nil
}

// present gives nil for what is absent.
func present(_ *evaluation, args []any) (any, error) {
	if absentIn(args) != nil {
		return nil, nil
	}
	return args[0], nil
}

func isNothing(_ *evaluation, args []any) (any, error) {
	return args[0] == nil || absentIn(args) != nil, nil
}

func isAbsent(_ *evaluation, args []any) (any, error) { return absentIn(args) != nil, nil }

// binary rewrites operators. The boolean ones and ?? keep their short-circuits. The
// library's parser uses a node twice in 1 < x < 3, so nodes are made anew.
func (w *rewriter) binary(n *ast.BinaryNode, lenient bool) ast.Node {
	switch n.Operator {
	case "??":
		return w.fallback(n, lenient)
	case "and", "&&":
		return w.logic("and", n, lenient)
	case "or", "||":
		return w.logic("or", n, lenient)
	case "not in":
		in := &ast.BinaryNode{Operator: "in", Left: n.Left, Right: n.Right}
		return w.call(n, "not", lenient, w.binary(in, lenient))
	case "^":
		return w.call(n, "**", lenient, w.rewrite(n.Left, lenient), w.rewrite(n.Right, lenient))
	default:
		return w.call(n, n.Operator, lenient, w.rewrite(n.Left, lenient), w.rewrite(n.Right, lenient))
	}
}

// fallback is ??. The library's own would take the value apart where it is a
// pointer, as objects are.
func (w *rewriter) fallback(n *ast.BinaryNode, lenient bool) ast.Node {
	name := w.name()
	held := func() ast.Node { return &ast.IdentifierNode{Value: name} }
	left := w.rewrite(n.Left, true)
	first := len(w.refs)
	right := w.rewrite(n.Right, lenient)
	for i := first; i < len(w.refs); i++ {
		w.refs[i].Fallback = true
	}
	return &ast.VariableDeclaratorNode{Name: name, Value: left, Expr: &ast.ConditionalNode{
		Cond: w.bare("nothing", isNothing, []ast.Node{held()}), Exp1: right, Exp2: held(),
	}}
}

func (w *rewriter) logic(word string, n *ast.BinaryNode, lenient bool) ast.Node {
	left, right := w.rewrite(n.Left, lenient), w.rewrite(n.Right, lenient)
	check := func(v ast.Node) ast.Node {
		return w.apply("beside "+word, truth("beside "+word), lenient, []ast.Node{v})
	}
	if !lenient {
		return &ast.BinaryNode{Operator: word, Left: check(left), Right: check(right)}
	}
	return w.unlessAbsent(left, func(v ast.Node) ast.Node {
		return &ast.BinaryNode{Operator: word, Left: check(v), Right: check(right)}
	})
}

func (w *rewriter) conditional(n *ast.ConditionalNode, lenient bool) ast.Node {
	cond := w.rewrite(n.Cond, lenient)
	exp1, exp2 := w.rewrite(n.Exp1, lenient), w.rewrite(n.Exp2, lenient)
	choose := func(v ast.Node) ast.Node {
		v = w.apply("choice", truth("before ?"), false, []ast.Node{v})
		return &ast.ConditionalNode{Cond: v, Exp1: exp1, Exp2: exp2}
	}
	if lenient {
		return w.unlessAbsent(cond, choose)
	}
	return choose(cond)
}

// unlessAbsent holds a value in a variable, and gives it back as it is if it is
// absent.
func (w *rewriter) unlessAbsent(value ast.Node, use func(ast.Node) ast.Node) ast.Node {
	name := w.name()
	held := func() ast.Node { return &ast.IdentifierNode{Value: name} }
	return &ast.VariableDeclaratorNode{Name: name, Value: value, Expr: &ast.ConditionalNode{
		Cond: w.bare("absent", isAbsent, []ast.Node{held()}), Exp1: held(), Exp2: use(held()),
	}}
}

func (w *rewriter) name() string {
	w.names++
	return "__let_" + strconv.Itoa(w.names)
}

func (w *rewriter) let(n *ast.VariableDeclaratorNode, lenient bool) ast.Node {
	value := w.rewrite(n.Value, lenient)
	word, name := unspell(n.Name), w.name()
	w.locals[word] = append(w.locals[word], name)
	body := w.rewrite(n.Expr, lenient)
	w.locals[word] = w.locals[word][:len(w.locals[word])-1]
	return &ast.VariableDeclaratorNode{Name: name, Value: value, Expr: body}
}

func (w *rewriter) slice(n *ast.SliceNode, lenient bool) ast.Node {
	bound := func(b ast.Node) ast.Node {
		if b == nil {
			return &ast.NilNode{}
		}
		return w.rewrite(b, lenient)
	}
	return w.call(n, "slice", lenient, w.rewrite(n.Node, lenient), bound(n.From), bound(n.To))
}

func (w *rewriter) pairs(n *ast.MapNode, lenient bool) []ast.Node {
	var out []ast.Node
	for _, pair := range n.Pairs {
		p, ok := pair.(*ast.PairNode)
		if !ok {
			continue
		}
		key := p.Key
		if s, ok := key.(*ast.StringNode); !ok {
			key = w.rewrite(key, lenient)
		} else if from := w.spelt.source(s.Location().From); from < len(w.spelt.src) && !strings.ContainsRune("'\"`", rune(w.spelt.src[from])) {
			key = &ast.StringNode{Value: unspell(s.Value)}
		}
		out = append(out, key, w.rewrite(p.Value, lenient))
	}
	return out
}

func (w *rewriter) callNode(n *ast.CallNode, lenient bool) ast.Node {
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return w.fail(n, "a value has no functions of its own; write name(value) instead of value.name()")
	}
	return w.named(n, unspell(id.Value), n.Arguments, lenient)
}

// named calls a function by the name that an author gave it.
func (w *rewriter) named(n ast.Node, name string, args []ast.Node, lenient bool) ast.Node {
	if !isName(name) {
		return w.fail(n, "there is no function %q", name)
	}
	if name != "default" || len(args) == 0 {
		return w.call(n, name, lenient, w.all(args, lenient)...)
	}
	first := w.bare("present", present, []ast.Node{w.rewrite(args[0], true)})
	return w.call(n, name, lenient, append([]ast.Node{first}, w.all(args[1:], lenient)...)...)
}

// isName tells the functions that authors call from operators.
func isName(name string) bool { return prefix(name, isWord) == len(name) && !isOperator(name) }

// builtin rewrites the library's own functions. Those with a predicate stay its
// loops, over a list of ours; all others are ours.
func (w *rewriter) builtin(n *ast.BuiltinNode, lenient bool) ast.Node {
	switch n.Name {
	case "all", "none", "any", "one", "filter", "find", "findIndex", "findLast", "findLastIndex", "count":
		return w.loop(n, truth("in "+n.Name), lenient)
	case "map", "reduce":
		return w.loop(n, tick, lenient)
	case "groupBy", "sortBy", "sum":
		if len(n.Arguments) > 1 {
			return w.keyed(n, lenient)
		}
	}
	return w.named(n, n.Name, n.Arguments, lenient)
}

// loop rewrites a loop; check is what every result of its predicate goes through.
func (w *rewriter) loop(n *ast.BuiltinNode, check function, lenient bool) ast.Node {
	return w.over(n, lenient, func(list ast.Node) ast.Node {
		out := &ast.BuiltinNode{Name: n.Name, Arguments: []ast.Node{list, w.predicate(n, check)}}
		for _, arg := range n.Arguments[min(2, len(n.Arguments)):] {
			out.Arguments = append(out.Arguments, w.rewrite(arg, false))
		}
		if n.Name == "map" {
			return w.apply("mapped", mapped, false, []ast.Node{out})
		}
		return out
	})
}

// over gives a loop its list.
func (w *rewriter) over(n *ast.BuiltinNode, lenient bool, use func(ast.Node) ast.Node) ast.Node {
	if len(n.Arguments) == 0 {
		return w.fail(n, "%s needs a list", n.Name)
	}
	list := w.apply("list of "+n.Name, listOf(n.Name), lenient, []ast.Node{w.rewrite(n.Arguments[0], lenient)})
	if lenient {
		return w.unlessAbsent(list, use)
	}
	return use(list)
}

// predicate rewrites the second argument. What is missing in it is an error even on
// the left of ??: a loop can't stop half-way.
func (w *rewriter) predicate(n *ast.BuiltinNode, check function) ast.Node {
	var body ast.Node = &ast.PointerNode{}
	if len(n.Arguments) > 1 {
		body = n.Arguments[1]
		if p, ok := body.(*ast.PredicateNode); ok {
			body = p.Node
		}
		body = w.rewrite(body, false)
	}
	return &ast.PredicateNode{Node: w.apply("each "+n.Name, check, false, []ast.Node{body})}
}

// keyed calls a function of ours with a list and what the predicate gives for each
// of its items.
func (w *rewriter) keyed(n *ast.BuiltinNode, lenient bool) ast.Node {
	return w.over(n, lenient, func(list ast.Node) ast.Node {
		name := w.name()
		held := func() ast.Node { return &ast.IdentifierNode{Value: name} }
		keys := &ast.BuiltinNode{Name: "map", Arguments: []ast.Node{held(), w.predicate(n, tick)}}
		args := []ast.Node{held(), w.apply("mapped", mapped, false, []ast.Node{keys})}
		args = append(args, w.all(n.Arguments[2:], false)...)
		return &ast.VariableDeclaratorNode{Name: name, Value: list, Expr: w.call(n, n.Name+" by", false, args...)}
	})
}

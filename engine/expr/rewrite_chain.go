package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// chain rewrites a value and the members after it to one call.
func (w *rewriter) chain(n ast.Node, lenient bool) ast.Node {
	base, members := unchain(n)
	c := &chain{lenient: lenient}
	var args []ast.Node
	switch b := base.(type) {
	case *ast.PointerNode:
		if len(members) == 0 {
			return b
		}
		args = []ast.Node{b}
		if c.name = "#" + b.Name; b.Name == "" {
			c.name = ""
		}
	case *ast.IdentifierNode:
		var done ast.Node
		if done, members = w.identifier(c, b, members); done != nil {
			if len(members) == 0 {
				return done
			}
			args = []ast.Node{done}
		}
	default:
		c.name = "(…)"
		args = []ast.Node{w.rewrite(base, lenient)}
	}
	return w.members(c, base, members, args)
}

// unchain splits an access into what it begins with and the members after it.
func unchain(n ast.Node) (ast.Node, []*ast.MemberNode) {
	var members []*ast.MemberNode
	for {
		switch x := n.(type) {
		case *ast.ChainNode:
			n = x.Node
			continue
		case *ast.MemberNode:
			members = append(members, x)
			n = x.Node
			continue
		}
		slices.Reverse(members)
		return n, members
	}
}

// identifier begins a chain at a name. It returns a node if the name is no
// reference, and the members that are not part of the reference.
func (w *rewriter) identifier(c *chain, id *ast.IdentifierNode, members []*ast.MemberNode) (ast.Node, []*ast.MemberNode) {
	if digits, ok := strings.CutPrefix(id.Value, numberPrefix); ok && isNumber(digits) {
		return &ast.ConstantNode{Value: Number(digits)}, members
	}
	name := unspell(id.Value)
	c.name = name
	if held := w.locals[name]; len(held) > 0 {
		return &ast.IdentifierNode{Value: held[len(held)-1]}, members
	}
	c.fromRef = true
	switch root := Root(name); root {
	case RootInput, RootLoopItem, RootLoopIndex, RootRun:
		c.ref = Ref{Root: root}
	case RootVars:
		c.ref = Ref{Root: RootVars}
		if key, ok := constantKey(members); ok {
			c.ref.Name = NormalName(key)
			c.name += keyText(key)
			c.soft = members[0].Optional
			return nil, members[1:]
		}
	case RootStep, RootLoop, RootSecret, nodeWord:
		key, ok := constantKey(members)
		if !ok {
			return w.fail(id, "%s needs a name after it, such as %s.name", name, name), nil
		}
		c.ref = namedRef(root, NormalName(key), len(members) == 1)
		c.name = PathTo(c.ref.Root, key)
		c.soft = members[0].Optional
		return nil, members[1:]
	default:
		c.ref = Ref{Root: RootVar, Name: NormalName(name)}
	}
	return nil, members
}

func constantKey(members []*ast.MemberNode) (string, bool) {
	if len(members) == 0 {
		return "", false
	}
	s, ok := members[0].Property.(*ast.StringNode)
	if !ok {
		return "", false
	}
	return s.Value, true
}

// members adds the members to a chain, notes its reference, and calls it.
func (w *rewriter) members(c *chain, at ast.Node, members []*ast.MemberNode, args []ast.Node) ast.Node {
	optional := c.lenient || c.soft
	own := len(w.refs)
	if c.fromRef {
		// Before those of the computed keys: in the order of the source.
		w.refs = append(w.refs, Reference{Ref: c.ref, Offset: w.spelt.source(at.Location().From)})
	}
	for i, m := range members {
		k := chainKey{guarded: m.Optional, soft: m.Optional || i+1 < len(members) && members[i+1].Optional}
		optional = optional || m.Optional
		switch p := m.Property.(type) {
		case *ast.StringNode:
			k.key = p.Value
		case *ast.IntegerNode:
			k.key = strconv.Itoa(p.Value)
		default:
			k.dynamic = true
			args = append(args, w.rewrite(m.Property, c.lenient))
		}
		c.keys = append(c.keys, k)
	}
	c.soft = c.soft || len(members) > 0 && members[0].Optional
	if c.fromRef {
		w.refs[own].Path, w.refs[own].Optional = c.source(), optional
	}
	w.chains++
	return w.bare("chain "+strconv.Itoa(w.chains), c.eval, args)
}

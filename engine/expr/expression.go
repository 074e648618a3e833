package expr

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// Bounds of sources and evaluations.
const (
	maxSource     = 64 << 10
	maxOutput     = 8 << 20
	maxMemory     = 1_000_000 // values that an evaluation may make
	maxEvaluation = time.Second
)

// expression is a compiled expression: a pure path, or a program.
type expression struct {
	source  string
	path    *path
	program *vm.Program
	refs    []Reference
}

func syntaxf(offset int, format string, args ...any) *SyntaxError {
	return &SyntaxError{Offset: offset, Message: fmt.Sprintf(format, args...)}
}

func compileExpression(source string, o Options) (*Expression, error) {
	e, err := compile(source, o.Steps)
	if err != nil {
		return nil, err
	}
	for _, r := range e.refs {
		if r.Root == RootSecret && (o.SecretAt == nil || !o.SecretAt("")) {
			return nil, syntaxf(r.Offset, "secrets can't be used here")
		}
	}
	return &Expression{*e}, nil
}

func compile(source string, steps map[string]bool) (*expression, error) {
	if len(source) > maxSource {
		return nil, syntaxf(0, "the expression has %d bytes; at most %d are allowed", len(source), maxSource)
	}
	if strings.TrimSpace(source) == "" {
		return nil, syntaxf(0, "the expression is empty")
	}
	if p, ok := parsePath(source, steps); ok {
		return &expression{source: source, path: &p, refs: []Reference{{Ref: p.ref, Path: p.text}}}, nil
	}
	spelt := spell(source, steps)
	config := conf.New(sampleEnv())
	config.Optimize = false
	tree, err := parser.ParseWithConfig(spelt, config)
	if err != nil {
		return nil, explain(err, source, spelt)
	}
	w := &rewriter{locals: map[string]int{}}
	tree.Node = w.rewrite(tree.Node, false)
	if w.err != nil {
		return nil, w.err
	}
	if _, err := checker.Check(tree, config); err != nil {
		return nil, explain(err, source, spelt)
	}
	program, err := compiler.Compile(tree, config)
	if err != nil {
		return nil, explain(err, source, spelt)
	}
	return &expression{source: source, program: program, refs: w.refs}, nil
}

// explain turns the library's error into one about the author's own text.
func explain(err error, source, spelt string) *SyntaxError {
	var fe *file.Error
	if !errors.As(err, &fe) {
		return syntaxf(0, "%s", err.Error())
	}
	offset := min(fe.From, len(source))
	if source != spelt {
		offset = 0
	}
	return syntaxf(offset, "%s in %q", fe.Message, shorten(source))
}

func shorten(s string) string {
	const limit = 60
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	return string(r[:limit]) + "…"
}

func (e *expression) references() []Reference { return e.refs }

func (e *expression) eval(ctx context.Context, env Env) (any, error) {
	if e.path != nil {
		return e.path.eval(env)
	}
	r := &evaluation{ctx: ctx, env: env, refs: e.refs, deadline: time.Now().Add(maxEvaluation)}
	machine := vm.VM{MemoryBudget: maxMemory}
	out, err := runProgram(&machine, e.program, r.functions())
	if r.failed != nil {
		return nil, r.failed
	}
	if err != nil {
		return nil, fmt.Errorf("evaluate %q: %s", shorten(e.source), plainMessage(err))
	}
	return normalise(out)
}

// runProgram keeps the library's panics inside of the package.
func runProgram(m *vm.VM, p *vm.Program, env map[string]any) (out any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return m.Run(p, env)
}

// plainMessage is the library's message without its excerpt of rewritten source.
func plainMessage(err error) string {
	if fe, ok := errors.AsType[*file.Error](err); ok {
		return fe.Message
	}
	return err.Error()
}

func (e *expression) evalBool(ctx context.Context, env Env) (bool, error) {
	v, err := e.eval(ctx, env)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		raw, _ := Encode(v)
		return false, fmt.Errorf("the condition %q gives %s (%s), not true or false", shorten(e.source), kindOf(v), shorten(string(raw)))
	}
	return b, nil
}

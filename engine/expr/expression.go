package expr

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// Bounds of sources and evaluations.
const (
	maxSource     = 64 << 10 // bytes of one expression
	maxOutput     = 8 << 20  // bytes of one result, as JSON
	maxMade       = 64 << 20 // bytes that the functions of one evaluation make
	maxMemory     = 1 << 20  // list items that one evaluation makes
	maxEvaluation = time.Second
)

const noSecrets = "secrets can't be used here"

// expression is a compiled expression: a pure path, or a program.
type expression struct {
	source  string
	path    *path
	program *vm.Program
	refs    []Reference
	idle    sync.Pool // of *evaluation
}

// compilation compiles the expressions of one document. It is not safe for
// concurrent use.
type compilation struct {
	steps  idSet
	config *conf.Config // made when the first expression needs it
}

func newCompilation(steps map[string]bool) *compilation {
	return &compilation{steps: newIDSet(steps)}
}

func syntaxf(offset int, format string, args ...any) *SyntaxError {
	return &SyntaxError{Offset: offset, Message: fmt.Sprintf(format, args...)}
}

func compileExpression(source string, o Options) (*Expression, error) {
	e, err := newCompilation(o.Steps).compile(source, 0)
	if err != nil {
		return nil, err
	}
	for _, r := range e.refs {
		if r.Root == RootSecret && (o.SecretAt == nil || !o.SecretAt("")) {
			return nil, syntaxf(r.Offset, noSecrets)
		}
	}
	return &Expression{e}, nil
}

// compile compiles an expression that stands at an offset of a longer text. The
// error is a *SyntaxError whose offset is in that text.
func (c *compilation) compile(source string, offset int) (*expression, error) {
	if len(source) > maxSource {
		return nil, syntaxf(offset, "the expression has %d bytes; at most %d are allowed", len(source), maxSource)
	}
	text := strings.TrimSpace(source)
	offset += strings.Index(source, text)
	if text == "" {
		return nil, syntaxf(offset, "the expression is empty")
	}
	if p, ok := c.steps.path(text); ok {
		refs := []Reference{{Ref: p.ref, Path: p.text, Offset: offset}}
		return &expression{source: text, path: &p, refs: refs}, nil
	}
	e, err := c.program(text)
	if err != nil {
		err.Offset += offset
		return nil, err
	}
	for i := range e.refs {
		e.refs[i].Offset += offset
	}
	return e, nil
}

func (c *compilation) program(text string) (e *expression, failed *SyntaxError) {
	defer func() {
		if r := recover(); r != nil {
			failed = syntaxf(0, "the expression can't be read: %v", r)
		}
	}()
	if c.config == nil {
		c.config = conf.New(map[string]any{runName: run{}})
		c.config.Optimize = false
	}
	clear(c.config.Functions)
	s := spell(text, c.steps)
	tree, err := parser.ParseWithConfig(s.out.String(), c.config)
	if err != nil {
		return nil, explain(err, s)
	}
	w := &rewriter{spelt: s, config: c.config, locals: map[string][]string{}}
	tree.Node = w.rewrite(tree.Node, false)
	if w.err != nil {
		return nil, w.err
	}
	if _, err := checker.Check(tree, c.config); err != nil {
		return nil, explain(err, s)
	}
	program, err := compiler.Compile(tree, c.config)
	if err != nil {
		return nil, explain(err, s)
	}
	return &expression{source: text, program: program, refs: w.refs}, nil
}

func (e *expression) references() []Reference { return e.refs }

func (e *expression) eval(ctx context.Context, env Env) (any, error) {
	if e.path != nil {
		return e.path.eval(env)
	}
	r, ok := e.idle.Get().(*evaluation)
	if !ok {
		r = newEvaluation()
	}
	r.begin(ctx, env)
	out, err := r.run(e.program)
	made := r.made
	failed := r.failed
	r.end()
	e.idle.Put(r)
	if err == nil && failed == nil {
		out = normalise(out)
		if made > 0 {
			err = small(out)
		}
	}
	if failed != nil {
		err = failed
	}
	return out, e.wrap(err)
}

// wrap names the expression in an error. A *MissingError names its path already.
func (e *expression) wrap(err error) error {
	var missing *MissingError
	if err == nil || errors.As(err, &missing) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("evaluate %q: %w", excerpt(e.source), err)
}

// small holds a result to the size that it has as JSON.
func small(v any) error {
	switch v.(type) {
	case []any, *Object:
		_, err := encodeBounded(v)
		return err
	default:
		return nil
	}
}

func (e *expression) evalBool(ctx context.Context, env Env) (bool, error) {
	v, err := e.eval(ctx, env)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		raw, _ := encodeBounded(v) // what was written so far will do for a message
		return false, fmt.Errorf("the condition %q gives %s (%s), not true or false", excerpt(e.source), kindOf(v), excerpt(string(raw)))
	}
	return b, nil
}

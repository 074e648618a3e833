package expr

import (
	"context"
	"encoding/json"
)

// Root is the first word of a reference.
type Root string

// The roots. RootVar is a bare variable name, RootNode is {{_node_<id>}}.
const (
	RootInput     Root = "workflow_input"
	RootStep      Root = "step"
	RootLoopItem  Root = "loop_item"
	RootLoopIndex Root = "loop_index"
	RootLoop      Root = "loop"
	RootVars      Root = "vars"
	RootVar       Root = ""
	RootNode      Root = "_node_"
	RootRun       Root = "run"
	RootSecret    Root = "secret"
)

// Ref is what an [Env] resolves. Name is the step id, the loop id, the secret's
// or the variable's name; empty for the roots that need none.
type Ref struct {
	Root Root
	Name string
	// Whole is set for RootNode when nothing follows: {{_node_2}} rather than
	// {{_node_2.text}}.
	Whole bool
}

// Env gives the values of references. Resolve returns a *MissingError when there
// is no value; any other error aborts the evaluation. RootLoop resolves to an
// object with "item" and "index".
type Env interface {
	Resolve(ref Ref) (any, error)
}

// Mode says how a string in a config is read.
type Mode string

// The modes.
const (
	// ModeTemplate renders {{ }}; a string that is exactly one keeps its type.
	ModeTemplate Mode = "template"
	// ModeText renders {{ }} and always gives a string.
	ModeText Mode = "text"
	// ModeJSON renders {{ }} inside JSON text: values are escaped where they stand
	// inside of a string literal and encoded elsewhere.
	ModeJSON Mode = "json"
	// ModeLiteral leaves the string as it is.
	ModeLiteral Mode = "literal"
	// ModeExpression compiles the string as an expression; it is not rendered.
	ModeExpression Mode = "expression"
)

// Options inform compilation.
type Options struct {
	// Steps are the node ids, in normal form; see [NormalName]. With them, ids that
	// hold dashes are recognised in expressions too, the longest first.
	Steps map[string]bool
	// ModeAt gives the mode of the string at a field path ("headers[0].value").
	// Nil: every string is a template.
	ModeAt func(path string) Mode
	// SecretAt tells whether {{secret.…}} may be used at a field path. Nil: never.
	SecretAt func(path string) bool
}

// Reference is a path that a template or an expression mentions.
type Reference struct {
	Ref
	// Path is the reference as written.
	Path string
	// Optional is set when the expression handles its absence (?? or ?.).
	Optional bool
	// Fallback is set for what stands to the right of ??: one alternative of several.
	Fallback bool
	// Field is the config field, for references of a Document.
	Field string
	// Offset is the byte offset in the source.
	Offset int
}

// Expression is a compiled expression. Safe for concurrent use.
type Expression struct{ *expression }

// Document is a JSON value whose strings may hold templates. Safe for concurrent use.
type Document struct{ *document }

// CompileExpression compiles source. The error is a *SyntaxError. Compile once per
// version of a workflow and keep the result: nothing is cached here.
func CompileExpression(source string, o Options) (*Expression, error) {
	return compileExpression(source, o)
}

// Eval evaluates the expression.
func (e *Expression) Eval(ctx context.Context, env Env) (any, error) { return e.eval(ctx, env) }

// EvalBool evaluates the expression and reads the result as a condition. A value
// that is not a boolean is an error naming it.
func (e *Expression) EvalBool(ctx context.Context, env Env) (bool, error) {
	return e.evalBool(ctx, env)
}

// References lists what the expression mentions.
func (e *Expression) References() []Reference { return e.references() }

// CompileDocument parses a config. Every problem is returned, each with its field.
// Fields in ModeExpression are compiled and found with Expression.
func CompileDocument(doc json.RawMessage, o Options) (*Document, []*SyntaxError) {
	return compileDocument(doc, o)
}

// Render resolves every template. Key order is kept.
func (d *Document) Render(ctx context.Context, env Env) (json.RawMessage, error) {
	return d.render(ctx, env)
}

// Static reports whether rendering changes nothing.
func (d *Document) Static() bool { return d.fixed }

// Expression returns the compiled expression at a field path, or nil.
func (d *Document) Expression(field string) *Expression { return d.expressionAt(field) }

// Expressions lists the field paths that hold expressions, sorted.
func (d *Document) Expressions() []string { return d.expressionFields() }

// References lists what the document mentions, in field order.
func (d *Document) References() []Reference { return d.references() }

// SyntaxError is a template or an expression that does not compile.
type SyntaxError struct {
	Field   string
	Offset  int // byte offset in the string
	Message string
}

func (e *SyntaxError) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// MissingError is a path that resolves to nothing.
type MissingError struct {
	Path   string
	Reason string // "the step was skipped", "no such key", …
}

func (e *MissingError) Error() string { return "{{" + e.Path + "}} has no value: " + e.Reason }

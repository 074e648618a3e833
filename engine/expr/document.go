package expr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
)

// document is a config in which every string with placeholders is parsed.
type document struct {
	root  any // the package's values, with *template and *expression in them
	raw   json.RawMessage
	fixed bool
	exprs map[string]*Expression
	all   []Reference
}

type documentCompiler struct {
	o    Options
	doc  *document
	errs []*SyntaxError
}

func compileDocument(raw json.RawMessage, o Options) (*Document, []*SyntaxError) {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	v, err := Decode(raw)
	if err != nil {
		return nil, []*SyntaxError{{Message: err.Error()}}
	}
	c := &documentCompiler{o: o, doc: &document{fixed: true, exprs: map[string]*Expression{}}}
	c.doc.root = c.compile(v, "")
	if len(c.errs) > 0 {
		return nil, c.errs
	}
	if c.doc.fixed {
		if c.doc.raw, err = Encode(v); err != nil {
			return nil, []*SyntaxError{{Message: err.Error()}}
		}
	}
	return &Document{*c.doc}, nil
}

func (c *documentCompiler) mode(field string) Mode {
	if c.o.ModeAt == nil {
		return ModeTemplate
	}
	if m := c.o.ModeAt(field); m != "" {
		return m
	}
	return ModeTemplate
}

// compile replaces strings by what they mean.
func (c *documentCompiler) compile(v any, field string) any {
	switch v := v.(type) {
	case string:
		return c.text(v, field)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = c.compile(item, field+"["+strconv.Itoa(i)+"]")
		}
		return out
	case *Object:
		out := NewObject()
		for _, k := range v.keys {
			path := k
			if field != "" {
				path = field + "." + k
			}
			out.Set(k, c.compile(v.values[k], path))
		}
		return out
	default:
		return v
	}
}

func (c *documentCompiler) text(s, field string) any {
	switch mode := c.mode(field); mode {
	case ModeLiteral:
		return s
	case ModeExpression:
		if s == "" {
			return s
		}
		e, err := compile(s, c.o.Steps)
		if err != nil {
			c.fail(err, field)
			return s
		}
		c.note(e.refs, field)
		c.doc.exprs[field] = &Expression{*e}
		return s
	default:
		t, err := parseTemplate(s, mode, c.o.Steps)
		if err != nil {
			c.fail(err, field)
			return s
		}
		if t.static() {
			return s
		}
		c.doc.fixed = false
		for _, p := range t.parts {
			if p.expr != nil {
				c.note(p.expr.refs, field)
			}
		}
		return t
	}
}

func (c *documentCompiler) note(refs []Reference, field string) {
	for _, r := range refs {
		if r.Root == RootSecret && (c.o.SecretAt == nil || !c.o.SecretAt(field)) {
			c.errs = append(c.errs, &SyntaxError{Field: field, Offset: r.Offset, Message: "secrets can't be used here"})
		}
		r.Field = field
		c.doc.all = append(c.doc.all, r)
	}
}

func (c *documentCompiler) fail(err error, field string) {
	var se *SyntaxError
	if !errors.As(err, &se) {
		se = &SyntaxError{Message: err.Error()}
	}
	se.Field = field
	c.errs = append(c.errs, se)
}

func (d *document) static() bool { return d.fixed }

func (d *document) references() []Reference { return d.all }

func (d *document) expressionAt(field string) *Expression { return d.exprs[field] }

// expressionFields lists the fields with expressions, sorted.
func (d *document) expressionFields() []string {
	out := make([]string, 0, len(d.exprs))
	for f := range d.exprs {
		out = append(out, f)
	}
	sort.Strings(out)
	return out
}

func (d *document) render(ctx context.Context, env Env) (json.RawMessage, error) {
	if d.fixed {
		return d.raw, nil
	}
	r := &renderer{ctx: ctx, env: env}
	v, err := r.value(d.root, "")
	if err != nil {
		return nil, err
	}
	raw, err := Encode(v)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxOutput {
		return nil, errTooLarge
	}
	return raw, nil
}

type renderer struct {
	ctx context.Context //nolint:containedctx // lives exactly as long as one rendering
	env Env
}

func (r *renderer) value(v any, field string) (any, error) {
	switch v := v.(type) {
	case *template:
		out, err := v.eval(r.ctx, r.env)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field, err)
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			x, err := r.value(item, field+"["+strconv.Itoa(i)+"]")
			if err != nil {
				return nil, err
			}
			out[i] = x
		}
		return out, nil
	case *Object:
		out := NewObject()
		for _, k := range v.keys {
			path := k
			if field != "" {
				path = field + "." + k
			}
			x, err := r.value(v.values[k], path)
			if err != nil {
				return nil, err
			}
			out.Set(k, x)
		}
		return out, nil
	default:
		return v, nil
	}
}

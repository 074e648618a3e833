package expr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// document is a config, cut into JSON text that never changes and the templates
// between. Rendering appends one after the other; nothing is walked again.
type document struct {
	parts []documentPart
	fixed bool
	exprs map[string]*Expression
	refs  []Reference
}

// documentPart is literal JSON, or the template at a field.
type documentPart struct {
	raw      []byte
	template *template
	field    string
	depth    int
}

type documentCompiler struct {
	o    Options
	c    *compilation
	doc  *document
	text []byte // literal JSON since the last template
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
	c := &documentCompiler{
		o: o, c: newCompilation(o.Steps), doc: &document{exprs: map[string]*Expression{}},
	}
	c.value(v, "", 0)
	if len(c.errs) > 0 {
		return nil, c.errs
	}
	c.flush()
	c.doc.fixed = len(c.doc.parts) == 1 && c.doc.parts[0].template == nil
	return &Document{c.doc}, nil
}

func (c *documentCompiler) flush() {
	if len(c.text) > 0 {
		c.doc.parts = append(c.doc.parts, documentPart{raw: slices.Clip(c.text)})
		c.text = nil
	}
}

// value writes a value, with the templates in it as parts of their own.
func (c *documentCompiler) value(v any, field string, depth int) {
	switch v := v.(type) {
	case string:
		c.string(v, field, depth)
	case []any:
		c.text = append(c.text, '[')
		for i, item := range v {
			if i > 0 {
				c.text = append(c.text, ',')
			}
			c.value(item, field+"["+strconv.Itoa(i)+"]", depth+1)
		}
		c.text = append(c.text, ']')
	case *Object:
		c.text = append(c.text, '{')
		for i, k := range v.keys {
			if i > 0 {
				c.text = append(c.text, ',')
			}
			c.text = append(appendString(c.text, k), ':')
			path := k
			if field != "" {
				path = field + "." + k
			}
			c.value(v.values[i], path, depth+1)
		}
		c.text = append(c.text, '}')
	default:
		raw, err := Encode(v)
		if err != nil {
			c.fail(err, field)
		}
		c.text = append(c.text, raw...)
	}
}

func (c *documentCompiler) mode(field string) Mode {
	if c.o.ModeAt != nil {
		if m := c.o.ModeAt(field); m != "" {
			return m
		}
	}
	return ModeTemplate
}

func (c *documentCompiler) string(s, field string, depth int) {
	switch mode := c.mode(field); mode {
	case ModeLiteral:
	case ModeExpression:
		if s == "" {
			break
		}
		e, err := c.c.compile(s, 0)
		if err != nil {
			c.fail(err, field)
			break
		}
		c.note(e.refs, field)
		c.doc.exprs[field] = &Expression{e}
	default:
		t, err := c.c.template(s, mode)
		if err != nil {
			c.fail(err, field)
			break
		}
		if t.placeholders == 0 {
			break
		}
		for _, p := range t.parts {
			if p.expr != nil {
				c.note(p.expr.refs, field)
			}
		}
		c.flush()
		c.doc.parts = append(c.doc.parts, documentPart{template: t, field: field, depth: depth})
		return
	}
	c.text = appendString(c.text, s)
}

func (c *documentCompiler) note(refs []Reference, field string) {
	for _, r := range refs {
		if r.Root == RootSecret && (c.o.SecretAt == nil || !c.o.SecretAt(field)) {
			c.fail(syntaxf(r.Offset, noSecrets), field)
		}
		r.Field = field
		c.doc.refs = append(c.doc.refs, r)
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

func (d *document) references() []Reference { return d.refs }

func (d *document) expressionAt(field string) *Expression { return d.exprs[field] }

func (d *document) expressionFields() []string {
	out := make([]string, 0, len(d.exprs))
	for f := range d.exprs {
		out = append(out, f)
	}
	slices.Sort(out)
	return out
}

func (d *document) render(ctx context.Context, env Env) (json.RawMessage, error) {
	if d.fixed {
		return slices.Clone(d.parts[0].raw), nil
	}
	size := 64 * len(d.parts)
	for i := range d.parts {
		size += len(d.parts[i].raw)
	}
	e := encoder{b: make([]byte, 0, size), limit: maxOutput}
	for i := range d.parts {
		p := &d.parts[i]
		if p.template == nil {
			e.b = append(e.b, p.raw...)
			continue
		}
		v, err := p.template.eval(ctx, env)
		if err == nil {
			err = e.value(v, p.depth)
		}
		if err == nil && len(e.b) > maxOutput {
			err = errTooLarge
		}
		if err != nil {
			return nil, atField(p.field, err)
		}
	}
	return e.b, nil
}

// atField adds the field to an error; a document that is one string has none.
func atField(field string, err error) error {
	if field == "" {
		return err
	}
	return fmt.Errorf("%s: %w", field, err)
}

package expr

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"
)

// maxPlaceholders bounds the placeholders of one string.
const maxPlaceholders = 100_000

// template is a parsed string: literal text and placeholders in turn.
type template struct {
	parts []part
	mode  Mode
}

type part struct {
	text string
	expr *expression // nil for literal text
	// quoted is set in ModeJSON where the placeholder stands inside of a string.
	quoted bool
}

// parseTemplate reads a string. A placeholder ends at the first "}}" outside of a
// string in it. {{"{{"}} writes two braces.
func parseTemplate(src string, mode Mode, steps map[string]bool) (*template, error) {
	t := &template{mode: mode}
	at := 0
	for {
		open := strings.Index(src[at:], "{{")
		if open < 0 {
			t.literal(src[at:])
			break
		}
		open += at
		t.literal(src[at:open])
		end := closing(src, open+2)
		if end < 0 {
			return nil, syntaxf(open, `"{{" is never closed by "}}"; write {{"{{"}} for two braces`)
		}
		e, err := compile(strings.TrimSpace(src[open+2:end]), steps)
		if err != nil {
			if se, ok := errors.AsType[*SyntaxError](err); ok {
				se.Offset += open + 2
			}
			return nil, err
		}
		for i := range e.refs {
			e.refs[i].Offset = open
		}
		t.parts = append(t.parts, part{expr: e})
		if len(t.parts) > 2*maxPlaceholders {
			return nil, syntaxf(open, "more than %d placeholders", maxPlaceholders)
		}
		at = end + 2
	}
	if mode == ModeJSON {
		t.markQuoted()
	}
	return t, nil
}

func (t *template) literal(s string) {
	if s != "" {
		t.parts = append(t.parts, part{text: s})
	}
}

// closing finds the "}}" that ends a placeholder. Braces inside of the expression
// count, so that {{ {"a": {"b": 1}} }} works.
func closing(src string, at int) int {
	depth := 0
	for at < len(src) {
		switch c := src[at]; c {
		case '"', '\'', '`':
			at += stringLen(src[at:])
			continue
		case '{':
			depth++
		case '}':
			if depth == 0 && strings.HasPrefix(src[at:], "}}") {
				return at
			}
			if depth > 0 {
				depth--
			}
		}
		at++
	}
	return -1
}

// markQuoted finds which placeholders stand inside of JSON strings.
func (t *template) markQuoted() {
	inside := false
	for i := range t.parts {
		p := &t.parts[i]
		if p.expr != nil {
			p.quoted = inside
			continue
		}
		for j := 0; j < len(p.text); j++ {
			switch p.text[j] {
			case '\\':
				if inside {
					j++
				}
			case '"':
				inside = !inside
			}
		}
	}
}

// static reports whether the template has no placeholder.
func (t *template) static() bool {
	for _, p := range t.parts {
		if p.expr != nil {
			return false
		}
	}
	return true
}

// eval renders the template.
func (t *template) eval(ctx context.Context, env Env) (any, error) {
	if t.mode == ModeTemplate && len(t.parts) == 1 && t.parts[0].expr != nil {
		return t.parts[0].expr.eval(ctx, env)
	}
	var b []byte
	for i := range t.parts {
		p := &t.parts[i]
		if p.expr == nil {
			b = append(b, p.text...)
			continue
		}
		v, err := p.expr.eval(ctx, env)
		if err != nil {
			return nil, err
		}
		if b, err = p.render(b, v, t.mode); err != nil {
			return nil, err
		}
		if len(b) > maxOutput {
			return nil, errTooLarge
		}
	}
	return string(b), nil
}

// render writes a value where its placeholder stands: text as it is, anything
// else as JSON; in JSON text escaped for its place.
func (p *part) render(b []byte, v any, mode Mode) ([]byte, error) {
	s, isText := v.(string)
	if mode == ModeJSON && !p.quoted {
		return appendValue(b, v, 0)
	}
	if !isText {
		raw, err := Encode(v)
		if err != nil {
			return nil, err
		}
		s = string(raw)
	}
	if mode == ModeJSON {
		return appendEscaped(b, s), nil
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return append(b, s...), nil
}

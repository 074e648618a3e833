package expr

import (
	"context"
	"strings"
)

// maxPlaceholders bounds the placeholders of one string.
const maxPlaceholders = 100_000

// template is a parsed string: literal text and placeholders in turn.
type template struct {
	parts        []part
	placeholders int
	size         int // of the literal text
	mode         Mode
}

type part struct {
	text string
	expr *expression // nil for literal text
	// quoted is set in ModeJSON where the placeholder stands inside of a string.
	quoted bool
}

// template parses a string. A placeholder ends at the first "}}" that is outside of its strings and braces.
func (c *compilation) template(src string, mode Mode) (*template, error) {
	t := &template{mode: mode}
	for at := 0; ; {
		open := strings.Index(src[at:], "{{")
		if open < 0 {
			t.literal(src[at:])
			break
		}
		open += at
		t.literal(src[at:open])
		end := closing(src, open+2)
		if end < 0 {
			return nil, unclosed(src, open)
		}
		e, err := c.compile(src[open+2:end], open+2)
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, part{expr: e})
		if t.placeholders++; t.placeholders > maxPlaceholders {
			return nil, syntaxf(open, "more than %d placeholders", maxPlaceholders)
		}
		at = end + 2
	}
	if mode == ModeJSON {
		t.markQuoted()
	}
	return t, nil
}

// unclosed says why a placeholder has no end.
func unclosed(src string, open int) *SyntaxError {
	if strings.Contains(src[open:], "}}") {
		return syntaxf(open, `"{{" is never closed: a quote or a brace in it has no end`)
	}
	return syntaxf(open, `"{{" is never closed by "}}"; write {{"{{"}} for two braces`)
}

func (t *template) literal(s string) {
	if s != "" {
		t.size += len(s)
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

// eval renders the template.
func (t *template) eval(ctx context.Context, env Env) (any, error) {
	if t.mode == ModeTemplate && len(t.parts) == 1 && t.parts[0].expr != nil {
		return t.parts[0].expr.eval(ctx, env)
	}
	b := make([]byte, 0, t.size+32*t.placeholders)
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
	if mode == ModeJSON && !p.quoted {
		raw, err := encodeBounded(v)
		return append(b, raw...), err
	}
	s, isText := v.(string)
	if !isText {
		raw, err := encodeBounded(v)
		if err != nil {
			return nil, err
		}
		s = string(raw)
	}
	if mode == ModeJSON {
		return appendEscaped(b, s), nil
	}
	return append(b, s...), nil
}

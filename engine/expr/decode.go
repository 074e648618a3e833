package expr

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of JSON values.
const maxDepth = 10_000

// Decode reads one JSON value (RFC 8259) into the package's values. Integers that
// fit become int64; every other number keeps its literal. A key that stands twice
// in an object keeps its first place and its last value. Invalid UTF-8 and lone
// surrogates become U+FFFD. Text after the value, and nesting deeper than 10,000,
// are errors that name the byte offset.
func Decode(data []byte) (any, error) {
	d := decoder{data: data}
	d.space()
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	d.space()
	if d.at < len(d.data) {
		return nil, d.errorf("unexpected %s after the value", d.here())
	}
	return v, nil
}

type decoder struct {
	data []byte
	at   int
	// Members and items wait here until their number is known, so that objects and
	// lists are made once, at their size.
	keys   []string
	values []any
	// recent holds keys for reuse: those of a list's objects are mostly the same.
	recent [64]string
}

func (d *decoder) errorf(format string, args ...any) error {
	return fmt.Errorf("JSON at byte %d: %s", d.at, fmt.Sprintf(format, args...))
}

func (d *decoder) here() string {
	if d.at >= len(d.data) {
		return "end"
	}
	r, _ := utf8.DecodeRune(d.data[d.at:])
	return strconv.QuoteRune(r)
}

func (d *decoder) space() {
	for d.at < len(d.data) {
		switch d.data[d.at] {
		case ' ', '\t', '\n', '\r':
			d.at++
		default:
			return
		}
	}
}

func (d *decoder) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, d.errorf("nested deeper than %d", maxDepth)
	}
	if d.at >= len(d.data) {
		return nil, d.errorf("unexpected end")
	}
	switch c := d.data[d.at]; {
	case c == '{':
		return d.object(depth)
	case c == '[':
		return d.array(depth)
	case c == '"':
		return d.text()
	case c == '-' || (c >= '0' && c <= '9'):
		return d.number()
	default:
		return d.word()
	}
}

func (d *decoder) word() (any, error) {
	switch rest := d.data[d.at:]; {
	case hasPrefix(rest, "true"):
		d.at += 4
		return true, nil
	case hasPrefix(rest, "false"):
		d.at += 5
		return false, nil
	case hasPrefix(rest, "null"):
		d.at += 4
		return nil, nil
	default:
		return nil, d.errorf("unexpected %s", d.here())
	}
}

func hasPrefix(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }

func (d *decoder) object(depth int) (any, error) {
	d.at++
	d.space()
	if d.at < len(d.data) && d.data[d.at] == '}' {
		d.at++
		return NewObject(), nil
	}
	firstKey, firstValue := len(d.keys), len(d.values)
	for {
		key, err := d.key()
		if err != nil {
			return nil, err
		}
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		d.keys, d.values = append(d.keys, key), append(d.values, v)
		more, err := d.next('}')
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	o := newObject(d.keys[firstKey:], d.values[firstValue:])
	clear(d.values[firstValue:])
	d.keys, d.values = d.keys[:firstKey], d.values[:firstValue]
	return o, nil
}

// key reads a key and passes the colon.
func (d *decoder) key() (string, error) {
	d.space()
	if d.at >= len(d.data) || d.data[d.at] != '"' {
		return "", d.errorf("expected a key, not %s", d.here())
	}
	key, ok := d.recentKey()
	if !ok {
		var err error
		if key, err = d.text(); err != nil {
			return "", err
		}
	}
	d.space()
	if d.at >= len(d.data) || d.data[d.at] != ':' {
		return "", d.errorf("expected a colon, not %s", d.here())
	}
	d.at++
	d.space()
	return key, nil
}

// recentKey reads a short plain key, without making a text that was made already.
func (d *decoder) recentKey() (string, bool) {
	rest := d.data[d.at+1:]
	for i, c := range rest[:min(len(rest), 32)] {
		switch {
		case c == '"' && i == 0:
			return "", false
		case c == '"':
			slot := &d.recent[(int(rest[0])*7+int(rest[i-1])*3+i)%len(d.recent)]
			if *slot != string(rest[:i]) {
				*slot = string(rest[:i])
			}
			d.at += i + 2
			return *slot, true
		case c == '\\' || c < ' ' || c >= utf8.RuneSelf:
			return "", false
		}
	}
	return "", false
}

func (d *decoder) array(depth int) (any, error) {
	d.at++
	d.space()
	if d.at < len(d.data) && d.data[d.at] == ']' {
		d.at++
		return []any{}, nil
	}
	first := len(d.values)
	for {
		d.space()
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		d.values = append(d.values, v)
		more, err := d.next(']')
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	list := slices.Clone(d.values[first:])
	clear(d.values[first:])
	d.values = d.values[:first]
	return slices.Clip(list), nil
}

// next passes a comma, or the end of the object or list.
func (d *decoder) next(end byte) (more bool, err error) {
	d.space()
	if d.at >= len(d.data) {
		return false, d.errorf("unexpected end")
	}
	switch d.data[d.at] {
	case ',':
		d.at++
		return true, nil
	case end:
		d.at++
		return false, nil
	default:
		return false, d.errorf("expected a comma or %q, not %s", end, d.here())
	}
}

func (d *decoder) number() (any, error) {
	start := d.at
	if d.data[d.at] == '-' {
		d.at++
	}
	switch {
	case d.at < len(d.data) && d.data[d.at] == '0':
		d.at++
	case !d.digits():
		return nil, d.errorf("a number needs digits")
	}
	whole := true
	if d.at < len(d.data) && d.data[d.at] == '.' {
		d.at++
		if whole = false; !d.digits() {
			return nil, d.errorf("a number needs digits after the point")
		}
	}
	if d.at < len(d.data) && (d.data[d.at] == 'e' || d.data[d.at] == 'E') {
		d.at++
		if d.at < len(d.data) && (d.data[d.at] == '+' || d.data[d.at] == '-') {
			d.at++
		}
		if whole = false; !d.digits() {
			return nil, d.errorf("a number needs digits in its exponent")
		}
	}
	if literal := d.data[start:d.at]; whole && len(literal) <= maxIntDigits && string(literal) != "-0" {
		if n, err := strconv.ParseInt(string(literal), 10, 64); err == nil {
			return n, nil
		}
	}
	return Number(d.data[start:d.at]), nil
}

// maxIntDigits is the length of the longest int64, with its sign.
const maxIntDigits = 20

func (d *decoder) digits() bool {
	start := d.at
	for d.at < len(d.data) && d.data[d.at] >= '0' && d.data[d.at] <= '9' {
		d.at++
	}
	return d.at > start
}

func (d *decoder) text() (string, error) {
	d.at++
	start := d.at
	for d.at < len(d.data) {
		switch c := d.data[d.at]; {
		case c == '"':
			s := string(d.data[start:d.at])
			d.at++
			return s, nil
		case c == '\\' || c >= utf8.RuneSelf:
			return d.slowText(start)
		case c < ' ':
			return "", d.errorf("a control character in a string")
		}
		d.at++
	}
	return "", d.errorf("a string without an end")
}

func (d *decoder) slowText(start int) (string, error) {
	buf := append(make([]byte, 0, 2*(d.at-start)+32), d.data[start:d.at]...)
	for d.at < len(d.data) {
		switch c := d.data[d.at]; {
		case c == '"':
			d.at++
			return string(buf), nil
		case c < ' ':
			return "", d.errorf("a control character in a string")
		case c == '\\':
			var err error
			if buf, err = d.escape(buf); err != nil {
				return "", err
			}
		case c < utf8.RuneSelf:
			buf = append(buf, c)
			d.at++
		default:
			r, n := utf8.DecodeRune(d.data[d.at:])
			buf = utf8.AppendRune(buf, r)
			d.at += n
		}
	}
	return "", d.errorf("a string without an end")
}

func (d *decoder) escape(buf []byte) ([]byte, error) {
	if d.at+1 >= len(d.data) {
		return nil, d.errorf("a string without an end")
	}
	c := d.data[d.at+1]
	d.at += 2
	switch c {
	case '"', '\\', '/':
		return append(buf, c), nil
	case 'b':
		return append(buf, '\b'), nil
	case 'f':
		return append(buf, '\f'), nil
	case 'n':
		return append(buf, '\n'), nil
	case 'r':
		return append(buf, '\r'), nil
	case 't':
		return append(buf, '\t'), nil
	case 'u':
		r, err := d.unit()
		if err != nil {
			return nil, err
		}
		if utf16.IsSurrogate(r) {
			r = d.pair(r)
		}
		return utf8.AppendRune(buf, r), nil
	default:
		d.at--
		return nil, d.errorf("unknown escape %s", d.here())
	}
}

func (d *decoder) unit() (rune, error) {
	if d.at+4 > len(d.data) {
		return 0, d.errorf(`\u needs four hexadecimal digits`)
	}
	n, err := strconv.ParseUint(string(d.data[d.at:d.at+4]), 16, 16)
	if err != nil {
		return 0, d.errorf(`\u needs four hexadecimal digits`)
	}
	d.at += 4
	return rune(n), nil
}

// pair joins a surrogate with the one that follows, or gives U+FFFD.
func (d *decoder) pair(first rune) rune {
	if d.at+6 <= len(d.data) && d.data[d.at] == '\\' && d.data[d.at+1] == 'u' {
		if n, err := strconv.ParseUint(string(d.data[d.at+2:d.at+6]), 16, 16); err == nil {
			if r := utf16.DecodeRune(first, rune(n)); r != utf8.RuneError {
				d.at += 6
				return r
			}
		}
	}
	return utf8.RuneError
}

package expr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Encode writes a value as compact JSON. It takes the package's own values and
// anything encoding/json takes; objects keep the order of their keys, other maps
// are sorted. Nothing is HTML-escaped, invalid UTF-8 becomes U+FFFD. NaN, the
// infinities and nesting deeper than 10,000 are errors.
func Encode(v any) (json.RawMessage, error) {
	e := encoder{b: make([]byte, 0, 128)}
	if err := e.value(v, 0); err != nil {
		return nil, err
	}
	return e.b, nil
}

// AppendString appends a JSON string: nothing HTML-escaped, invalid UTF-8 as U+FFFD.
func AppendString(b []byte, s string) []byte { return appendString(b, s) }

// MarshalJSON implements [json.Marshaler].
func (o *Object) MarshalJSON() ([]byte, error) { return Encode(o) }

// MarshalJSON implements [json.Marshaler].
func (n Number) MarshalJSON() ([]byte, error) { return Encode(n) }

// encodeBounded is Encode for results, which have at most 8 MiB.
func encodeBounded(v any) ([]byte, error) {
	e := encoder{b: make([]byte, 0, 128), limit: maxOutput}
	err := e.value(v, 0)
	return e.b, err
}

// encoder appends JSON to a buffer. A limit other than 0 bounds the buffer: values
// may share parts, so that what is small in memory can be huge as text.
type encoder struct {
	b     []byte
	limit int
}

func (e *encoder) value(v any, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	if e.limit > 0 && len(e.b) > e.limit {
		return errTooLarge
	}
	switch v := v.(type) {
	case nil:
		e.b = append(e.b, "null"...)
	case bool:
		e.b = strconv.AppendBool(e.b, v)
	case string:
		e.b = appendString(e.b, v)
	case int64:
		e.b = strconv.AppendInt(e.b, v, 10)
	case int:
		e.b = strconv.AppendInt(e.b, int64(v), 10)
	case Number:
		return e.number(v)
	case float64:
		return e.float(v)
	case []any:
		return e.list(v, depth)
	case *Object:
		return e.object(v, depth)
	case json.RawMessage:
		return e.raw(v)
	case map[string]any:
		return e.plainMap(v, depth)
	default:
		return e.other(v)
	}
	return nil
}

func (e *encoder) number(n Number) error {
	if !isNumber(string(n)) {
		return fmt.Errorf("%q is not a JSON number", excerpt(string(n)))
	}
	e.b = append(e.b, n...)
	return nil
}

// isNumber reports whether a text is a JSON number and nothing else.
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := prefix(s, isDigit)
	if whole == 0 || s[0] == '0' && whole > 1 {
		return false
	}
	s = s[whole:]
	if rest, ok := strings.CutPrefix(s, "."); ok {
		n := prefix(rest, isDigit)
		if n == 0 {
			return false
		}
		s = rest[n:]
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && prefix(s, isDigit) == len(s)
}

func (e *encoder) float(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%v is not a JSON number", f)
	}
	e.b = appendFloat(e.b, f)
	return nil
}

// appendFloat writes the shortest decimal that reads back as f, without an
// exponent where that is readable.
func appendFloat(b []byte, f float64) []byte {
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

func (e *encoder) list(list []any, depth int) error {
	e.b = append(e.b, '[')
	for i, item := range list {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		if err := e.value(item, depth+1); err != nil {
			return err
		}
	}
	e.b = append(e.b, ']')
	return nil
}

func (e *encoder) object(o *Object, depth int) error {
	if o == nil {
		e.b = append(e.b, "null"...)
		return nil
	}
	e.b = append(e.b, '{')
	for i, k := range o.keys {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		e.b = append(appendString(e.b, k), ':')
		if err := e.value(o.values[i], depth+1); err != nil {
			return err
		}
	}
	e.b = append(e.b, '}')
	return nil
}

func (e *encoder) plainMap(m map[string]any, depth int) error {
	if m == nil {
		e.b = append(e.b, "null"...)
		return nil
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	o := &Object{keys: keys, values: make([]any, len(keys))}
	for i, k := range keys {
		o.values[i] = m[k]
	}
	return e.object(o, depth)
}

func (e *encoder) raw(raw json.RawMessage) error {
	if len(raw) == 0 {
		e.b = append(e.b, "null"...)
		return nil
	}
	return e.compact(raw)
}

// other leaves a foreign type to encoding/json.
func (e *encoder) other(v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode %T: %w", v, err)
	}
	return e.compact(buf.Bytes())
}

func (e *encoder) compact(raw []byte) error {
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		return fmt.Errorf("raw value: %w", err)
	}
	text := buf.Bytes()
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	e.b = append(e.b, text...)
	return nil
}

var errTooLarge = errors.New("the result is larger than 8 MiB")

const hexDigits = "0123456789abcdef"

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	b = appendEscaped(b, s)
	return append(b, '"')
}

// appendEscaped writes the inside of a JSON string.
func appendEscaped(b []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
		}
		b = appendEscape(append(b, s[start:i]...), c)
		i++
		start = i
	}
	return append(b, s[start:]...)
}

// appendEscape writes one byte that can't stand in a JSON string as it is.
func appendEscape(b []byte, c byte) []byte {
	switch {
	case c >= utf8.RuneSelf:
		return append(b, "\uFFFD"...)
	case c == '"', c == '\\':
		return append(b, '\\', c)
	case c == '\n':
		return append(b, '\\', 'n')
	case c == '\r':
		return append(b, '\\', 'r')
	case c == '\t':
		return append(b, '\\', 't')
	default:
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
}

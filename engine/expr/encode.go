package expr

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// Encode writes a value as compact JSON. It takes the package's own values and
// anything encoding/json takes; objects keep the order of their keys, other maps
// are sorted. Nothing is HTML-escaped, invalid UTF-8 becomes U+FFFD. NaN and the
// infinities are errors.
func Encode(v any) (json.RawMessage, error) {
	b, err := appendValue(make([]byte, 0, 64), v, 0)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// MarshalJSON implements [json.Marshaler].
func (o *Object) MarshalJSON() ([]byte, error) { return appendValue(nil, o, 0) }

// MarshalJSON implements [json.Marshaler].
func (n Number) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// Float is the number as a float64. Numbers out of range are an error.
func (n Number) Float() (float64, error) {
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return 0, fmt.Errorf("the number %s is out of range", string(n))
	}
	return f, nil
}

func appendValue(b []byte, v any, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return appendString(b, v), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case Number:
		return append(b, v...), nil
	case float64:
		return appendFloat(b, v)
	case []any:
		return appendList(b, v, depth)
	case *Object:
		return appendObject(b, v, depth)
	case json.RawMessage:
		return appendRaw(b, v)
	case map[string]any:
		return appendMap(b, v, depth)
	default:
		return appendOther(b, v)
	}
}

func appendFloat(b []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%v is not a JSON number", f)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e15 && !(f == 0 && math.Signbit(f)) {
		return strconv.AppendInt(b, int64(f), 10), nil
	}
	raw, err := json.Marshal(f)
	return append(b, raw...), err
}

func appendList(b []byte, list []any, depth int) ([]byte, error) {
	b = append(b, '[')
	for i, item := range list {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendValue(b, item, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendObject(b []byte, o *Object, depth int) ([]byte, error) {
	if o == nil {
		return append(b, "null"...), nil
	}
	b = append(b, '{')
	for i, k := range o.keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, k), ':')
		var err error
		if b, err = appendValue(b, o.values[k], depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendMap(b []byte, m map[string]any, depth int) ([]byte, error) {
	o := NewObject()
	for _, k := range sortedKeys(m) {
		o.Set(k, m[k])
	}
	return appendObject(b, o, depth)
}

func appendRaw(b []byte, raw json.RawMessage) ([]byte, error) {
	if len(raw) == 0 {
		return append(b, "null"...), nil
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		return nil, fmt.Errorf("raw value: %w", err)
	}
	return append(b, buf.Bytes()...), nil
}

func appendOther(b []byte, v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return append(b, bytes.TrimRight(buf.Bytes(), "\n")...), nil
}

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
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, s[start:i]...), "\uFFFD"...)
				i++
				start = i
				continue
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(b, s[start:]...)
}

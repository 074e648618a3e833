package nodes

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"sluice/engine/expr"
)

// Row is one comparison of a condition. See the package doc for what each
// operator means.
type Row struct {
	Left     json.RawMessage `json:"left"`
	Operator string          `json:"operator"`
	Right    json.RawMessage `json:"right"`
}

// MatchRows tells whether all rows hold, or any of them. Every row is evaluated
// in order until the answer is known; a row that can't be compared is an error.
func MatchRows(rows []Row, anyOf bool) (bool, error) {
	for i, r := range rows {
		ok, err := r.holds()
		if err != nil {
			return false, fmt.Errorf("row %d: %w", i+1, err)
		}
		if ok == anyOf {
			return anyOf, nil
		}
	}
	return !anyOf, nil
}

func (r Row) holds() (bool, error) {
	left, err := decodeValue(r.Left)
	if err != nil {
		return false, fmt.Errorf("left: %w", err)
	}
	right, err := decodeValue(r.Right)
	if err != nil {
		return false, fmt.Errorf("right: %w", err)
	}
	return Compare(left, r.Operator, right)
}

func decodeValue(raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil //nolint:nilnil // nil is JSON's null
	}
	return expr.Decode(raw)
}

// Compare applies one of the eight operators to two decoded values.
func Compare(left any, operator string, right any) (bool, error) {
	switch operator {
	case "equals":
		return equal(left, right), nil
	case "not_equals":
		return !equal(left, right), nil
	case "contains":
		return contains(left, right)
	case "not_contains":
		ok, err := contains(left, right)
		return !ok && err == nil, err
	case "greater_than":
		return ordered(left, right, 1)
	case "less_than":
		return ordered(left, right, -1)
	case "is_empty":
		return isEmpty(left), nil
	case "is_not_empty":
		return !isEmpty(left), nil
	default:
		return false, fmt.Errorf("there is no operator %q", operator)
	}
}

func equal(a, b any) bool {
	if x, y, ok := bothNumbers(a, b); ok {
		return x.Cmp(y) == 0
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case *expr.Object:
		b, ok := b.(*expr.Object)
		return ok && equalObjects(a, b)
	case nil, bool, string:
		switch b.(type) {
		case nil, bool, string:
			return a == b
		}
	}
	// Numbers outside of what bothNumbers weighs are equal as literals only.
	n, ok := a.(expr.Number)
	return ok && n == b
}

func equalObjects(a, b *expr.Object) bool {
	if a.Len() != b.Len() {
		return false
	}
	for _, k := range a.Keys() {
		x, _ := a.Get(k)
		y, ok := b.Get(k)
		if !ok || !equal(x, y) {
			return false
		}
	}
	return true
}

// bothNumbers reads two numbers; text that is exactly a JSON number counts beside
// a real one.
func bothNumbers(a, b any) (*big.Rat, *big.Rat, bool) {
	if !isNumber(a) && !isNumber(b) {
		return nil, nil, false
	}
	x, ok := number(a)
	if !ok {
		return nil, nil, false
	}
	y, ok := number(b)
	return x, y, ok
}

func isNumber(v any) bool {
	switch v.(type) {
	case int64, expr.Number:
		return true
	}
	return false
}

func number(v any) (*big.Rat, bool) {
	switch v := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(v), true
	case expr.Number:
		return parseNumber(string(v))
	case string:
		if strings.TrimSpace(v) != v || !json.Valid([]byte(v)) {
			return nil, false
		}
		return parseNumber(v)
	}
	return nil, false
}

// parseNumber refuses exponents that would fill the memory with zeros.
func parseNumber(s string) (*big.Rat, bool) {
	if len(s) == 0 || (s[0] != '-' && (s[0] < '0' || s[0] > '9')) {
		return nil, false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 && len(strings.TrimLeft(s[i+1:], "+-0")) > 3 {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

func contains(left, right any) (bool, error) {
	switch l := left.(type) {
	case nil:
		return false, nil
	case string:
		text, ok := plainText(right)
		if !ok {
			return false, fmt.Errorf("can't look for %s in text", typeName(right))
		}
		return strings.Contains(l, text), nil
	case []any:
		for _, v := range l {
			if equal(v, right) {
				return true, nil
			}
		}
		return false, nil
	case *expr.Object:
		key, ok := right.(string)
		if !ok {
			return false, fmt.Errorf("can't look for %s among the keys of an object", typeName(right))
		}
		_, found := l.Get(key)
		return found, nil
	default:
		return false, fmt.Errorf("%s can't contain anything", typeName(left))
	}
}

// plainText is text as it is, and a number as it is written.
func plainText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64, expr.Number:
		return fmt.Sprint(v), true
	}
	return "", false
}

func ordered(left, right any, want int) (bool, error) {
	if left == nil || right == nil {
		return false, nil
	}
	if x, y, ok := bothNumbers(left, right); ok {
		return x.Cmp(y) == want, nil
	}
	l, lok := left.(string)
	r, rok := right.(string)
	if !lok || !rok {
		return false, fmt.Errorf("can't order %s and %s", typeName(left), typeName(right))
	}
	return strings.Compare(l, r) == want, nil
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case *expr.Object:
		return v.Len() == 0
	}
	return false
}

// typeName names a value's JSON type for people.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "text"
	case int64, expr.Number:
		return "a number"
	case []any:
		return "a list"
	default:
		return "an object"
	}
}

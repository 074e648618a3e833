package expr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// evaluation is one run of a program.
type evaluation struct {
	ctx      context.Context //nolint:containedctx // lives exactly as long as the evaluation
	env      Env
	refs     []Reference
	deadline time.Time
	ticks    int
	// failed is the first error of ours; the library would flatten it to text.
	failed error
}

type function = func(...any) (any, error)

func sampleEnv() map[string]any { return (&evaluation{}).functions() }

func (r *evaluation) functions() map[string]any {
	guard := func(f function) function {
		return func(args ...any) (any, error) {
			v, err := f(args...)
			if err != nil && r.failed == nil {
				r.failed = err
			}
			return v, err
		}
	}
	return map[string]any{
		fnRef: guard(r.ref), fnGet: guard(r.get), fnTick: guard(r.tick), fnOp: guard(operate), fnCall: guard(r.call),
	}
}

func (r *evaluation) ref(args ...any) (any, error) {
	i, lenient := args[0].(int), args[1].(bool)
	if err := r.check(); err != nil {
		return nil, err
	}
	v, err := r.env.Resolve(r.refs[i].Ref)
	var missing *MissingError
	if lenient && errors.As(err, &missing) {
		return nil, nil
	}
	return v, err
}

func (r *evaluation) get(args ...any) (any, error) {
	base, text, lenient := args[0], args[2].(string), args[3].(bool)
	key, ok := args[1].(string)
	if !ok {
		i, err := wholeNumber(args[1])
		if err != nil {
			return nil, &MissingError{Path: text, Reason: "a key must be text or a whole number"}
		}
		key = strconv.Itoa(i)
	}
	if v, ok := member(base, key); ok {
		return v, nil
	}
	if lenient {
		return nil, nil
	}
	return nil, &MissingError{Path: text, Reason: whyMissing(base, key)}
}

func (r *evaluation) tick(args ...any) (any, error) { return args[0], r.check() }

// check holds the evaluation to its time.
func (r *evaluation) check() error {
	if r.ticks++; r.ticks%64 != 1 {
		return nil
	}
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if time.Now().After(r.deadline) {
		return fmt.Errorf("the expression took longer than %s", maxEvaluation)
	}
	return nil
}

// called are the functions beyond the library's own.
var called = map[string]func(args []any) (any, error){
	"plain":    one(plain),
	"number":   one(func(v any) (any, error) { return number(v) }),
	"len":      one(length),
	"keys":     one(keysOf),
	"values":   one(valuesOf),
	"toJSON":   one(toJSON),
	"json":     one(toJSON),
	"fromJSON": one(fromJSON),
	"string":   one(toText),
	"type":     one(func(v any) (any, error) { return kindOf(v), nil }),
	"int":      one(toInt),
	"float":    one(toFloat),
	"now":      func([]any) (any, error) { return time.Now().UTC().Format(time.RFC3339Nano), nil },
	"default": func(args []any) (any, error) {
		if len(args) != 2 {
			return nil, errors.New("default needs a value and what to use instead")
		}
		if args[0] == nil || args[0] == "" {
			return args[1], nil
		}
		return args[0], nil
	},
}

func isFunction(name string) bool { return called[name] != nil && name != "plain" && name != "number" }

func one(f func(any) (any, error)) func([]any) (any, error) {
	return func(args []any) (any, error) {
		if len(args) != 1 {
			return nil, fmt.Errorf("one value expected, not %d", len(args))
		}
		return f(args[0])
	}
}

func (r *evaluation) call(args ...any) (any, error) {
	name := args[0].(string)
	v, err := called[name](args[1:])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return v, r.check()
}

// plain gives the library's functions values that they know.
func plain(v any) (any, error) {
	switch v := v.(type) {
	case *Object:
		return v.values, nil
	case Number:
		return v.Float()
	case []any:
		return plainList(v)
	default:
		return v, nil
	}
}

func plainList(list []any) (any, error) {
	out := list
	for i, item := range list {
		n, ok := item.(Number)
		if !ok {
			continue
		}
		f, err := n.Float()
		if err != nil {
			return nil, err
		}
		if &out[0] == &list[0] {
			out = slices.Clone(list)
		}
		out[i] = f
	}
	return out, nil
}

func length(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return len([]rune(v)), nil
	case []any:
		return len(v), nil
	case *Object:
		return v.Len(), nil
	case map[string]any:
		return len(v), nil
	default:
		return listLength(v)
	}
}

func listLength(v any) (any, error) {
	n, err := normalise(v)
	if list, ok := n.([]any); ok && err == nil {
		return len(list), nil
	}
	return nil, fmt.Errorf("%s has no length", kindOf(v))
}

func keysOf(v any) (any, error) {
	o, err := asObject(v)
	if err != nil {
		return nil, err
	}
	out := make([]any, o.Len())
	for i, k := range o.keys {
		out[i] = k
	}
	return out, nil
}

func valuesOf(v any) (any, error) {
	o, err := asObject(v)
	if err != nil {
		return nil, err
	}
	out := make([]any, o.Len())
	for i, k := range o.keys {
		out[i] = o.values[k]
	}
	return out, nil
}

func asObject(v any) (*Object, error) {
	n, err := normalise(v)
	if o, ok := n.(*Object); ok && err == nil {
		return o, nil
	}
	return nil, fmt.Errorf("an object expected, not %s", kindOf(v))
}

func toJSON(v any) (any, error) {
	raw, err := Encode(v)
	return string(raw), err
}

func fromJSON(v any) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("text expected, not %s", kindOf(v))
	}
	return Decode([]byte(s))
}

func toText(v any) (any, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	return toJSON(v)
}

func wholeNumber(v any) (int, error) {
	switch v := v.(type) {
	case int:
		return v, nil
	case int64:
		return int(v), nil
	case string:
		return strconv.Atoi(strings.TrimSpace(v))
	case float64:
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return 0, fmt.Errorf("%v is not a whole number", v)
		}
		return int(v), nil
	case Number:
		f, err := v.Float()
		if err != nil {
			return 0, err
		}
		return wholeNumber(f)
	default:
		return 0, fmt.Errorf("a number expected, not %s", kindOf(v))
	}
}

func toInt(v any) (any, error) {
	if n, ok := v.(Number); ok {
		f, err := n.Float()
		return int(f), err
	}
	if f, ok := v.(float64); ok {
		return int(f), nil
	}
	return wholeNumber(v)
}

func toFloat(v any) (any, error) {
	if s, ok := v.(string); ok {
		return strconv.ParseFloat(strings.TrimSpace(s), 64)
	}
	n, err := number(v)
	if err != nil {
		return nil, err
	}
	if i, ok := n.(int); ok {
		return float64(i), nil
	}
	return n, nil
}

// number is an int or a float64.
func number(v any) (any, error) {
	switch v := v.(type) {
	case int, float64:
		return v, nil
	case int64:
		return int(v), nil
	case Number:
		return v.Float()
	default:
		return nil, fmt.Errorf("a number expected, not %s", kindOf(v))
	}
}

// operate applies an operator to the package's values.
func operate(args ...any) (any, error) {
	op, a, b := args[0].(string), args[1], args[2]
	switch op {
	case "==":
		return equal(a, b), nil
	case "!=":
		return !equal(a, b), nil
	case "<", "<=", ">", ">=":
		return ordered(op, a, b)
	case "in":
		return contains(b, a)
	case "contains":
		return contains(a, b)
	case "+":
		if x, ok := a.(string); ok {
			if y, ok := b.(string); ok {
				if len(x)+len(y) > maxOutput {
					return nil, errTooLarge
				}
				return x + y, nil
			}
		}
	}
	return arithmetic(op, a, b)
}

var errTooLarge = fmt.Errorf("the text is larger than %d bytes", maxOutput)

func arithmetic(op string, a, b any) (any, error) {
	x, errX := number(a)
	y, errY := number(b)
	if errX != nil || errY != nil {
		return nil, fmt.Errorf("%s can't be used between %s and %s", op, kindOf(a), kindOf(b))
	}
	i, okI := x.(int)
	j, okJ := y.(int)
	if okI && okJ && op != "/" && op != "**" && op != "^" {
		if v, ok, err := integers(op, i, j); ok || err != nil {
			return v, err
		}
	}
	return floats(op, toF(x), toF(y))
}

func toF(v any) float64 {
	if i, ok := v.(int); ok {
		return float64(i)
	}
	f, _ := v.(float64)
	return f
}

// integers computes exactly; ok is false if the result does not fit.
func integers(op string, i, j int) (v any, ok bool, err error) {
	switch op {
	case "+":
		s := i + j
		return s, (s > i) == (j > 0), nil
	case "-":
		s := i - j
		return s, (s < i) == (j > 0), nil
	case "*":
		if i == 0 || j == 0 {
			return 0, true, nil
		}
		p := i * j
		return p, p/j == i && (i != -1 || j != math.MinInt) && (j != -1 || i != math.MinInt), nil
	case "%":
		if j == 0 {
			return nil, false, errors.New("division by zero")
		}
		return i % j, true, nil
	default:
		return nil, false, fmt.Errorf("unknown operator %s", op)
	}
}

func floats(op string, x, y float64) (any, error) {
	var f float64
	switch op {
	case "+":
		f = x + y
	case "-":
		f = x - y
	case "*":
		f = x * y
	case "/":
		if y == 0 {
			return nil, errors.New("division by zero")
		}
		f = x / y
	case "%":
		f = math.Mod(x, y)
	case "**", "^":
		f = math.Pow(x, y)
	default:
		return nil, fmt.Errorf("unknown operator %s", op)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errors.New("the result is no number")
	}
	return f, nil
}

// equal compares JSON values: numbers by value, objects without regard to order.
// Values of different types are never equal.
func equal(a, b any) bool {
	if x, err := number(a); err == nil {
		y, err := number(b)
		if err != nil {
			return false
		}
		i, okI := x.(int)
		j, okJ := y.(int)
		if okI && okJ {
			return i == j
		}
		return toF(x) == toF(y)
	}
	switch x := a.(type) {
	case nil:
		return b == nil
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case string:
		y, ok := b.(string)
		return ok && x == y
	default:
		return deepEqual(a, b)
	}
}

func deepEqual(a, b any) bool {
	x, errX := normalise(a)
	y, errY := normalise(b)
	if errX != nil || errY != nil {
		return false
	}
	switch x := x.(type) {
	case []any:
		y, ok := y.([]any)
		return ok && slices.EqualFunc(x, y, equal)
	case *Object:
		y, ok := y.(*Object)
		if !ok || x.Len() != y.Len() {
			return false
		}
		for _, k := range x.keys {
			v, ok := y.values[k]
			if !ok || !equal(x.values[k], v) {
				return false
			}
		}
		return true
	default:
		p, errP := Encode(x)
		q, errQ := Encode(y)
		return errP == nil && errQ == nil && bytes.Equal(p, q)
	}
}

func ordered(op string, a, b any) (any, error) {
	var c int
	x, okX := a.(string)
	y, okY := b.(string)
	if okX && okY {
		c = strings.Compare(x, y)
	} else {
		m, errM := number(a)
		n, errN := number(b)
		if errM != nil || errN != nil {
			return nil, fmt.Errorf("%s and %s can't be compared with %s", kindOf(a), kindOf(b), op)
		}
		c = compareNumbers(m, n)
	}
	switch op {
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0, nil
	default:
		return c >= 0, nil
	}
}

func compareNumbers(m, n any) int {
	i, okI := m.(int)
	j, okJ := n.(int)
	if okI && okJ {
		return compare(i, j)
	}
	return compare(toF(m), toF(n))
}

func compare[T int | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// contains tells whether a text, a list or an object's keys hold a value.
func contains(whole, part any) (any, error) {
	switch w := whole.(type) {
	case string:
		p, ok := part.(string)
		if !ok {
			return nil, fmt.Errorf("text can't contain %s", kindOf(part))
		}
		return strings.Contains(w, p), nil
	case nil:
		return nil, errors.New("null contains nothing; use ?? to give a default")
	}
	v, err := normalise(whole)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return equal(x, part) }), nil
	case *Object:
		k, ok := part.(string)
		if !ok {
			return false, nil
		}
		_, found := v.values[k]
		return found, nil
	default:
		return nil, fmt.Errorf("%s contains nothing", kindOf(whole))
	}
}

// normalise turns what the library made into the package's values.
func normalise(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, int64, Number, *Object:
		return v, nil
	case int:
		return int64(v), nil
	case float64:
		raw, err := appendFloat(nil, v)
		if err != nil {
			return nil, err
		}
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			return n, nil
		}
		return Number(raw), nil
	case []any:
		return normaliseList(v)
	case map[string]any:
		o := NewObject()
		for _, k := range sortedKeys(v) {
			x, err := normalise(v[k])
			if err != nil {
				return nil, err
			}
			o.Set(k, x)
		}
		return o, nil
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano), nil
	case time.Duration:
		return v.String(), nil
	default:
		raw, err := Encode(v)
		if err != nil {
			return nil, err
		}
		return Decode(raw)
	}
}

func normaliseList(list []any) (any, error) {
	out := make([]any, len(list))
	for i, item := range list {
		v, err := normalise(item)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

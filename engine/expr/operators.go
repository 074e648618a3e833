package expr

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// truth passes on a boolean and refuses anything else; where says what needed it.
func truth(where string) function {
	return func(r *evaluation, args []any) (any, error) {
		if b, ok := args[0].(bool); ok {
			return b, r.tick()
		}
		return nil, fmt.Errorf("true or false is needed %s, not %s", where, kindOf(args[0]))
	}
}

func tick(r *evaluation, args []any) (any, error) { return args[0], r.tick() }

func not(_ *evaluation, args []any) (any, error) {
	if b, ok := args[0].(bool); ok {
		return !b, nil
	}
	return nil, fmt.Errorf("true or false is needed after not, not %s", kindOf(args[0]))
}

func calculate(op string) function {
	return func(r *evaluation, args []any) (any, error) {
		v, err := arithmetic(op, args[0], args[1])
		if err != nil {
			return nil, err
		}
		return v, r.tick()
	}
}

// plus adds numbers and joins texts.
func plus(r *evaluation, args []any) (any, error) {
	x, okX := args[0].(string)
	y, okY := args[1].(string)
	if okX && okY {
		if len(x)+len(y) > maxOutput {
			return nil, errTooLarge
		}
		if err := r.make(len(x) + len(y) + itemSize); err != nil {
			return nil, err
		}
		return x + y, r.tick()
	}
	return calculate("+")(r, args)
}

func negate(r *evaluation, args []any) (any, error) {
	return calculate("-")(r, []any{int64(0), args[0]})
}

func positive(_ *evaluation, args []any) (any, error) {
	if !isNumeric(args[0]) {
		return nil, fmt.Errorf("+ can't stand before %s", kindOf(args[0]))
	}
	return args[0], nil
}

// equal compares JSON values: numbers by value, objects without regard to order.
// Values of different types are never equal. The evaluation bounds the work,
// because values may share parts.
func (r *evaluation) equal(a, b any) (bool, error) {
	if err := r.tick(); err != nil {
		return false, err
	}
	switch x := a.(type) {
	case nil:
		return b == nil, nil
	case bool:
		y, ok := b.(bool)
		return ok && x == y, nil
	case string:
		y, ok := b.(string)
		return ok && x == y, nil
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false, nil
		}
		for i := range x {
			if same, err := r.equal(x[i], y[i]); !same || err != nil {
				return false, err
			}
		}
		return true, nil
	case *Object:
		y, ok := b.(*Object)
		return r.equalObjects(x, y, ok)
	default:
		return isNumeric(a) && isNumeric(b) && compareNumbers(a, b) == 0, nil
	}
}

func (r *evaluation) equalObjects(x, y *Object, ok bool) (bool, error) {
	if !ok || x.Len() != y.Len() {
		return false, nil
	}
	for i, k := range x.keys {
		v, ok := y.Get(k)
		if !ok {
			return false, nil
		}
		if same, err := r.equal(x.values[i], v); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

func equals(r *evaluation, args []any) (any, error) { return r.equal(args[0], args[1]) }

func differs(r *evaluation, args []any) (any, error) {
	same, err := r.equal(args[0], args[1])
	return !same, err
}

// ordered compares numbers with numbers and texts with texts.
func ordered(op string) function {
	return func(r *evaluation, args []any) (any, error) {
		c, err := compare(args[0], args[1])
		if err != nil {
			return nil, fmt.Errorf("%w with %s", err, op)
		}
		switch op {
		case "<":
			return c < 0, r.tick()
		case "<=":
			return c <= 0, r.tick()
		case ">":
			return c > 0, r.tick()
		default:
			return c >= 0, r.tick()
		}
	}
}

func compare(a, b any) (int, error) {
	x, okX := a.(string)
	y, okY := b.(string)
	switch {
	case okX && okY:
		return strings.Compare(x, y), nil
	case isNumeric(a) && isNumeric(b):
		return compareNumbers(a, b), nil
	default:
		return 0, fmt.Errorf("%s and %s can't be compared", kindOf(a), kindOf(b))
	}
}

func contains(r *evaluation, args []any) (any, error) { return r.contains(args[0], args[1]) }

func in(r *evaluation, args []any) (any, error) { return r.contains(args[1], args[0]) }

// contains tells whether a text has a part, a list an item, or an object a key.
func (r *evaluation) contains(whole, part any) (any, error) {
	switch w := whole.(type) {
	case string:
		p, ok := part.(string)
		if !ok {
			return nil, fmt.Errorf("text can't contain %s", kindOf(part))
		}
		return strings.Contains(w, p), r.tick()
	case []any:
		for _, item := range w {
			if same, err := r.equal(item, part); same || err != nil {
				return same, err
			}
		}
		return false, nil
	case *Object:
		k, ok := part.(string)
		if !ok {
			return false, nil
		}
		_, found := w.Get(k)
		return found, r.tick()
	case nil:
		return nil, errors.New("null contains nothing; use ?? to give a default")
	default:
		return nil, fmt.Errorf("%s contains nothing", kindOf(whole))
	}
}

// ofTexts is an operator or a function of two texts.
func ofTexts(name string, do func(a, b string) bool) function {
	return func(r *evaluation, args []any) (any, error) {
		a, okA := args[0].(string)
		b, okB := args[1].(string)
		if !okA || !okB {
			return nil, fmt.Errorf("%s needs two texts, not %s and %s", name, kindOf(args[0]), kindOf(args[1]))
		}
		return do(a, b), r.tick()
	}
}

// maxMatching bounds the steps of one match: instructions times bytes.
const maxMatching = 1 << 27

// matches is a regular expression in the syntax of RE2.
func matches(r *evaluation, args []any) (any, error) {
	text, okText := args[0].(string)
	pattern, okPattern := args[1].(string)
	if !okText || !okPattern {
		return nil, fmt.Errorf("matches needs two texts, not %s and %s", kindOf(args[0]), kindOf(args[1]))
	}
	p, err := r.pattern(pattern)
	if err != nil {
		return nil, err
	}
	if p.steps*(len(text)+1) > maxMatching {
		return nil, errors.New("the text is too long for this pattern")
	}
	if err := r.checkTime(); err != nil {
		return nil, err
	}
	return p.re.MatchString(text), nil
}

// pattern is a compiled regular expression.
type pattern struct {
	re    *regexp.Regexp
	steps int
}

// pattern compiles a regular expression, once in an evaluation.
func (r *evaluation) pattern(source string) (pattern, error) {
	if p, ok := r.patterns[source]; ok {
		return p, nil
	}
	const limit = 4096
	if len(source) > limit {
		return pattern{}, fmt.Errorf("a pattern has at most %d bytes", limit)
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return pattern{}, fmt.Errorf("%q is no pattern: %w", excerpt(source), err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return pattern{}, fmt.Errorf("%q is no pattern: %w", excerpt(source), err)
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return pattern{}, fmt.Errorf("%q is no pattern: %w", excerpt(source), err)
	}
	if r.patterns == nil || len(r.patterns) > 100 {
		r.patterns = map[string]pattern{}
	}
	p := pattern{re: re, steps: len(prog.Inst)}
	r.patterns[source] = p
	return p, nil
}

// span is a..b: a list of whole numbers.
func span(r *evaluation, args []any) (any, error) {
	from, okF := asInt(args[0])
	to, okT := asInt(args[1])
	if !okF || !okT {
		return nil, fmt.Errorf(".. needs two whole numbers, not %s and %s", kindOf(args[0]), kindOf(args[1]))
	}
	if to < from {
		return []any{}, nil
	}
	size := to - from + 1
	if size <= 0 || size > maxMemory {
		return nil, fmt.Errorf("a range has at most %d numbers", maxMemory)
	}
	if err := r.make(int(size) * itemSize * 2); err != nil {
		return nil, err
	}
	out := make([]any, size)
	for i := range out {
		out[i] = from + int64(i)
	}
	return out, nil
}

// list is a list as written: [a, b].
func list(r *evaluation, args []any) (any, error) {
	out := make([]any, len(args))
	for i, v := range args {
		out[i] = normalise(v)
	}
	return r.list(out)
}

// object is an object as written: {a: b}. args are keys and values in turn.
func object(r *evaluation, args []any) (any, error) {
	o := NewObject()
	for i := 0; i+1 < len(args); i += 2 {
		key, ok := args[i].(string)
		if !ok {
			return nil, fmt.Errorf("a key of an object must be text, not %s", kindOf(args[i]))
		}
		o.Set(key, normalise(args[i+1]))
	}
	return o, r.make(itemSize * (2*len(args) + 4))
}

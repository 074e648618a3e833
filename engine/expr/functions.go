package expr

import (
	"fmt"
	"strings"
)

// function is what an operator or a function of expressions does. It must not keep
// args, and must not change values: they are shared.
type function = func(r *evaluation, args []any) (any, error)

// builtinFunction is a function with how many values it takes; max -1 is any number.
type builtinFunction struct {
	min, max int
	do       function
}

func (f builtinFunction) arity() string {
	plural := "s"
	if f.min == 1 && f.max <= 1 {
		plural = ""
	}
	switch {
	case f.max < 0:
		return fmt.Sprintf("at least %d value%s", f.min, plural)
	case f.min == f.max:
		return fmt.Sprintf("%d value%s", f.min, plural)
	default:
		return fmt.Sprintf("%d to %d values", f.min, f.max)
	}
}

// functionNamed finds a function or an operator. The package documentation lists
// them for authors.
func functionNamed(name string) (builtinFunction, bool) {
	for _, table := range []func(string) (builtinFunction, bool){
		operatorNamed, valueFunction, numberFunction, textFunction, listFunction, timeFunction,
	} {
		if f, ok := table(name); ok {
			return f, true
		}
	}
	return builtinFunction{}, false
}

func takes(minimum, maximum int, do function) (builtinFunction, bool) {
	return builtinFunction{minimum, maximum, do}, true
}

func noFunction() (builtinFunction, bool) { return builtinFunction{}, false }

func operatorNamed(name string) (builtinFunction, bool) {
	switch name {
	case "==":
		return takes(2, 2, equals)
	case "!=":
		return takes(2, 2, differs)
	case "<", "<=", ">", ">=":
		return takes(2, 2, ordered(name))
	case "+":
		return takes(2, 2, plus)
	case "-", "*", "/", "%", "**":
		return takes(2, 2, calculate(name))
	case "in":
		return takes(2, 2, in)
	case "contains":
		return takes(2, 2, contains)
	case "matches":
		return takes(2, 2, matches)
	case "startsWith":
		return takes(2, 2, ofTexts(name, strings.HasPrefix))
	case "endsWith":
		return takes(2, 2, ofTexts(name, strings.HasSuffix))
	case "..":
		return takes(2, 2, span)
	case "not":
		return takes(1, 1, not)
	case "-x":
		return takes(1, 1, negate)
	case "+x":
		return takes(1, 1, positive)
	case "[…]":
		return takes(0, -1, list)
	case "{…}":
		return takes(0, -1, object)
	case "sum by":
		return takes(2, 2, sumBy)
	case "sortBy by":
		return takes(2, 3, sortBy)
	case "groupBy by":
		return takes(2, 2, groupBy)
	default:
		return noFunction()
	}
}

// valueFunction finds the functions of values of any type.
func valueFunction(name string) (builtinFunction, bool) {
	switch name {
	case "len":
		return takes(1, 1, length)
	case "type":
		return takes(1, 1, typeOf)
	case "string":
		return takes(1, 1, toText)
	case "json", "toJSON":
		return takes(1, 1, toJSON)
	case "fromJSON":
		return takes(1, 1, fromJSON)
	case "default":
		return takes(2, 2, orDefault)
	case "get":
		return takes(2, 2, get)
	default:
		return noFunction()
	}
}

func length(_ *evaluation, args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		n := int64(0)
		for range v {
			n++
		}
		return n, nil
	case []any:
		return int64(len(v)), nil
	case *Object:
		return int64(v.Len()), nil
	default:
		return nil, fmt.Errorf("%s has no length", kindOf(v))
	}
}

// typeOf is the type's name in JSON Schema.
func typeOf(_ *evaluation, args []any) (any, error) {
	switch args[0].(type) {
	case nil:
		return "null", nil
	case bool:
		return "boolean", nil
	case string:
		return "string", nil
	case []any:
		return "array", nil
	case *Object:
		return "object", nil
	default:
		return "number", nil
	}
}

func toText(r *evaluation, args []any) (any, error) {
	if s, ok := args[0].(string); ok {
		return s, nil
	}
	return toJSON(r, args)
}

func toJSON(r *evaluation, args []any) (any, error) {
	raw, err := encodeBounded(args[0])
	if err != nil {
		return nil, err
	}
	return r.text(string(raw))
}

func fromJSON(r *evaluation, args []any) (any, error) {
	s, err := textArg("fromJSON", args[0])
	if err != nil {
		return nil, err
	}
	if err := r.make(4 * len(s)); err != nil {
		return nil, err
	}
	return Decode([]byte(s))
}

// orDefault is for what is missing, null or the empty text.
func orDefault(_ *evaluation, args []any) (any, error) {
	if args[0] == nil || args[0] == "" {
		return args[1], nil
	}
	return args[0], nil
}

// get reads a member, or gives null.
func get(_ *evaluation, args []any) (any, error) {
	key, err := keyOf(args[1])
	if err != nil {
		return nil, err
	}
	v, _ := member(args[0], key)
	return v, nil
}

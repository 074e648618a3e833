package expr

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// numberFunction finds the functions of numbers.
func numberFunction(name string) (builtinFunction, bool) {
	switch name {
	case "int":
		return takes(1, 1, toInt)
	case "float":
		return takes(1, 1, toFloat)
	case "abs":
		return takes(1, 1, absolute)
	case "floor":
		return takes(1, 1, rounding(math.Floor))
	case "ceil":
		return takes(1, 1, rounding(math.Ceil))
	case "round":
		return takes(1, 2, round)
	case "min":
		return takes(1, -1, extreme(name, -1))
	case "max":
		return takes(1, -1, extreme(name, 1))
	case "sum":
		return takes(1, 1, sum)
	case "mean":
		return takes(1, 1, mean)
	case "median":
		return takes(1, 1, median)
	default:
		return noFunction()
	}
}

// toInt cuts the fraction off a number, or reads a text as a whole number.
func toInt(_ *evaluation, args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		i, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the text %q is no whole number", excerpt(v))
		}
		return i, nil
	default:
		n, err := number(v)
		if err != nil {
			return nil, fmt.Errorf("int: %w", err)
		}
		if i, ok := n.(int64); ok {
			return i, nil
		}
		f := toFloat64(n)
		if f < -(1<<63) || f >= 1<<63 {
			return nil, fmt.Errorf("the number %s is too large for a whole number", appendFloat(nil, f))
		}
		return int64(f), nil
	}
}

// toFloat reads a number or the text of one.
func toFloat(_ *evaluation, args []any) (any, error) {
	s, ok := args[0].(string)
	if !ok {
		if !isNumeric(args[0]) {
			return nil, fmt.Errorf("float: a number expected, not %s", kindOf(args[0]))
		}
		return args[0], nil
	}
	s = strings.TrimSpace(s)
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("the text %q is no number", excerpt(s))
	}
	if isNumber(s) {
		return Decode([]byte(s)) // keeps what a float64 would lose
	}
	return f, nil
}

func absolute(r *evaluation, args []any) (any, error) {
	if !isNumeric(args[0]) {
		return nil, fmt.Errorf("abs: a number expected, not %s", kindOf(args[0]))
	}
	if compareNumbers(args[0], int64(0)) < 0 {
		return negate(r, args)
	}
	return args[0], nil
}

func rounding(how func(float64) float64) function {
	return func(_ *evaluation, args []any) (any, error) {
		n, err := number(args[0])
		if err != nil {
			return nil, err
		}
		if i, ok := n.(int64); ok {
			return i, nil
		}
		return normalise(how(toFloat64(n))), nil
	}
}

// round rounds half away from zero, to a number of decimals.
func round(r *evaluation, args []any) (any, error) {
	if len(args) == 1 {
		return rounding(math.Round)(r, args)
	}
	decimals, err := wholeNumber(args[1])
	if err != nil || decimals < 0 || decimals > 15 {
		return nil, errors.New("round: the number of decimals is 0 to 15")
	}
	scale := math.Pow(10, float64(decimals))
	return rounding(func(f float64) float64 {
		if scaled := f * scale; !math.IsInf(scaled, 0) {
			return math.Round(scaled) / scale
		}
		return f
	})(r, args)
}

// numbers are the values given, or the items of the one list that is.
func numbers(name string, args []any) ([]any, error) {
	if len(args) == 1 {
		if list, ok := args[0].([]any); ok {
			args = list
		}
	}
	for _, v := range args {
		if !isNumeric(v) {
			return nil, fmt.Errorf("%s: a number expected, not %s", name, kindOf(v))
		}
	}
	if len(args) == 0 && name != "sum" {
		return nil, fmt.Errorf("%s of nothing", name)
	}
	return args, nil
}

// extreme is the least or the greatest number.
func extreme(name string, direction int) function {
	return func(_ *evaluation, args []any) (any, error) {
		all, err := numbers(name, args)
		if err != nil {
			return nil, err
		}
		best := all[0]
		for _, v := range all[1:] {
			if compareNumbers(v, best)*direction > 0 {
				best = v
			}
		}
		return best, nil
	}
}

func sum(r *evaluation, args []any) (any, error) {
	if _, ok := args[0].([]any); !ok {
		return nil, fmt.Errorf("sum needs a list, not %s", kindOf(args[0]))
	}
	all, err := numbers("sum", args)
	if err != nil {
		return nil, err
	}
	var total any = int64(0)
	for _, v := range all {
		if total, err = calculate("+")(r, []any{total, v}); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func sumBy(r *evaluation, args []any) (any, error) { return sum(r, args[1:]) }

func mean(r *evaluation, args []any) (any, error) {
	list, ok := args[0].([]any)
	if !ok || len(list) == 0 {
		return nil, errors.New("mean needs a list of numbers")
	}
	total, err := sum(r, args)
	if err != nil {
		return nil, err
	}
	return arithmetic("/", total, int64(len(list)))
}

func median(r *evaluation, args []any) (any, error) {
	all, err := numbers("median", args)
	if err != nil {
		return nil, err
	}
	sorted, err := r.sorted(all, all, false)
	if err != nil {
		return nil, err
	}
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle], nil
	}
	total, err := arithmetic("+", sorted[middle-1], sorted[middle])
	if err != nil {
		return nil, err
	}
	return arithmetic("/", total, int64(2))
}

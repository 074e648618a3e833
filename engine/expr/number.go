package expr

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// number is a number as an int64 or a float64.
func number(v any) (any, error) {
	switch v := v.(type) {
	case int64, float64:
		return v, nil
	case int:
		return int64(v), nil
	case Number:
		return v.Float()
	default:
		return nil, fmt.Errorf("a number expected, not %s", kindOf(v))
	}
}

func isNumeric(v any) bool {
	switch v.(type) {
	case int, int64, float64, Number:
		return true
	default:
		return false
	}
}

func toFloat64(v any) float64 {
	if i, ok := v.(int64); ok {
		return float64(i)
	}
	f, _ := v.(float64)
	return f
}

// arithmetic computes sums, differences and products of whole numbers exactly,
// whatever their size; everything else is computed as float64.
func arithmetic(op string, a, b any) (any, error) {
	if !isNumeric(a) || !isNumeric(b) {
		hint := ""
		if _, ok := a.(string); ok && op == "+" {
			hint = "; string(value) makes a text"
		}
		return nil, fmt.Errorf("%s can't be used between %s and %s%s", op, kindOf(a), kindOf(b), hint)
	}
	i, okI := asInt(a)
	j, okJ := asInt(b)
	if okI && okJ {
		if v, ok, err := integers(op, i, j); ok || err != nil {
			return v, err
		}
	}
	if v, ok := bigIntegers(op, a, b); ok {
		return v, nil
	}
	x, err := number(a)
	if err != nil {
		return nil, err
	}
	y, err := number(b)
	if err != nil {
		return nil, err
	}
	return floats(op, toFloat64(x), toFloat64(y))
}

var errDivision = errors.New("division by zero")

// integers computes exactly; ok is false if the result is no int64.
func integers(op string, i, j int64) (v int64, ok bool, err error) {
	switch op {
	case "+":
		s := i + j
		return s, (s > i) == (j > 0), nil
	case "-":
		s := i - j
		return s, (s < i) == (j > 0), nil
	case "*":
		v, ok = product(i, j)
		return v, ok, nil
	case "/":
		if j == 0 {
			return 0, false, errDivision
		}
		return i / j, i%j == 0 && (i != math.MinInt64 || j != -1), nil
	case "%":
		if j == 0 {
			return 0, false, errDivision
		}
		return i % j, true, nil
	default:
		v, ok = power(i, j)
		return v, ok, nil
	}
}

// maxBigDigits bounds the whole numbers that are computed exactly.
const maxBigDigits = 1000

// bigIntegers computes exactly beyond int64; ok is false for other operators, and
// for what is no whole number.
func bigIntegers(op string, a, b any) (v any, ok bool) {
	x, y := bigOf(a), bigOf(b)
	if x == nil || y == nil {
		return nil, false
	}
	switch op {
	case "+":
		x.Add(x, y)
	case "-":
		x.Sub(x, y)
	case "*":
		x.Mul(x, y)
	case "**":
		// A power has about as many digits as its base has times its exponent.
		if y.Sign() < 0 || !y.IsInt64() || float64(x.BitLen())*float64(y.Int64()) > maxBigDigits*math.Log2(10) {
			return nil, false
		}
		x.Exp(x, y, nil)
	default:
		return nil, false
	}
	if x.IsInt64() {
		return x.Int64(), true
	}
	return Number(x.String()), true
}

func bigOf(v any) *big.Int {
	if n, ok := v.(Number); ok {
		digits := strings.TrimPrefix(string(n), "-")
		if len(digits) > maxBigDigits || prefix(digits, isDigit) < len(digits) || digits == "0" {
			return nil
		}
		x, _ := new(big.Int).SetString(string(n), 10)
		return x
	}
	if i, ok := asInt(v); ok {
		return big.NewInt(i)
	}
	return nil
}

func product(i, j int64) (int64, bool) {
	if i == 0 || j == 0 {
		return 0, true
	}
	p := i * j
	return p, p/j == i && (i != -1 || j != math.MinInt64) && (j != -1 || i != math.MinInt64)
}

func power(i, j int64) (int64, bool) {
	switch {
	case j < 0:
		return 0, false
	case j == 0 || i == 1:
		return 1, true
	case i == 0:
		return 0, true
	case i == -1:
		return 1 - 2*(j%2), true
	}
	v, ok := int64(1), true
	for ; j > 0 && ok; j-- {
		v, ok = product(v, i)
	}
	return v, ok
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
			return nil, errDivision
		}
		f = x / y
	case "%":
		if y == 0 {
			return nil, errDivision
		}
		f = math.Mod(x, y)
	default:
		f = math.Pow(x, y)
	}
	return finite(f)
}

func finite(f float64) (any, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errors.New("the result is out of range")
	}
	return f, nil
}

// compareNumbers compares by value and exactly, whatever forms the numbers have.
func compareNumbers(a, b any) int {
	i, okI := asInt(a)
	j, okJ := asInt(b)
	if okI && okJ {
		return cmp.Compare(i, j)
	}
	x, okX := a.(float64)
	y, okY := b.(float64)
	if okX && okY {
		return cmp.Compare(x, y)
	}
	return compareDecimals(decimalOf(a), decimalOf(b))
}

func asInt(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	default:
		return 0, false
	}
}

// decimal is ±0.digits × 10^exp; digits has no zeros at either end, and is empty
// for zero.
type decimal struct {
	negative bool
	digits   string
	exp      int64
}

func decimalOf(v any) decimal {
	switch v := v.(type) {
	case Number:
		return parseDecimal(string(v))
	case float64:
		return parseDecimal(string(appendFloat(nil, v)))
	default:
		i, _ := asInt(v)
		return parseDecimal(strconv.FormatInt(i, 10))
	}
}

func parseDecimal(literal string) decimal {
	const far = 1 << 40 // exponents beyond are all alike
	var d decimal
	rest, negative := strings.CutPrefix(literal, "-")
	mantissa, exponent := rest, ""
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, exponent = rest[:i], rest[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	trimmed := strings.TrimLeft(digits, "0")
	d.exp = int64(len(whole) - (len(digits) - len(trimmed)))
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		return decimal{}
	}
	d.negative = negative
	if exponent != "" {
		e, err := strconv.ParseInt(exponent, 10, 41)
		if err != nil {
			e = far
			if exponent[0] == '-' {
				e = -far
			}
		}
		d.exp += e
	}
	return d
}

func compareDecimals(a, b decimal) int {
	switch {
	case a.digits == "" && b.digits == "":
		return 0
	case a.digits == "":
		return -sign(b.negative)
	case b.digits == "" || a.negative != b.negative:
		return sign(a.negative)
	}
	c := cmp.Compare(a.exp, b.exp)
	if c == 0 {
		c = strings.Compare(a.digits, b.digits)
	}
	return c * sign(a.negative)
}

// sign is 1, or -1 for what is negative.
func sign(negative bool) int {
	if negative {
		return -1
	}
	return 1
}

// normalise turns a number that the library or arithmetic made into the package's
// own; any other value is one already.
func normalise(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case float64:
		literal := appendFloat(nil, v)
		if len(literal) <= maxIntDigits && string(literal) != "-0" {
			if i, err := strconv.ParseInt(string(literal), 10, 64); err == nil {
				return i
			}
		}
		return Number(literal)
	default:
		return v
	}
}

// wholeNumber is a number without a fraction, or a text that is one.
func wholeNumber(v any) (int, error) {
	if i, ok := asInt(v); ok {
		return int(i), nil
	}
	var f float64
	var err error
	switch v := v.(type) {
	case float64:
		f = v
	case Number:
		f, err = v.Float()
	case string:
		i, err := strconv.Atoi(strings.TrimSpace(v))
		if err != nil {
			return 0, fmt.Errorf("the text %q is no whole number", excerpt(v))
		}
		return i, nil
	default:
		err = fmt.Errorf("a whole number expected, not %s", kindOf(v))
	}
	if err == nil && (f != math.Trunc(f) || math.Abs(f) > 1<<53) {
		err = fmt.Errorf("%s is no whole number", appendFloat(nil, f))
	}
	return int(f), err
}

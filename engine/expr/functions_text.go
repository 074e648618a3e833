package expr

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// textFunction finds the functions of texts.
func textFunction(name string) (builtinFunction, bool) {
	switch name {
	case "upper":
		return takes(1, 1, onText(name, strings.ToUpper))
	case "lower":
		return takes(1, 1, onText(name, strings.ToLower))
	case "trim":
		return takes(1, 2, trim)
	case "trimPrefix":
		return takes(2, 2, cut(name, strings.TrimPrefix))
	case "trimSuffix":
		return takes(2, 2, cut(name, strings.TrimSuffix))
	case "hasPrefix":
		return takes(2, 2, ofTexts(name, strings.HasPrefix))
	case "hasSuffix":
		return takes(2, 2, ofTexts(name, strings.HasSuffix))
	case "split":
		return takes(2, 3, split)
	case "join":
		return takes(1, 2, join)
	case "replace":
		return takes(3, 3, replace)
	case "repeat":
		return takes(2, 2, repeat)
	case "indexOf":
		return takes(2, 2, position(name, strings.Index))
	case "lastIndexOf":
		return takes(2, 2, position(name, strings.LastIndex))
	case "slice":
		return takes(2, 3, slice)
	case "toBase64":
		return takes(1, 1, onText(name, func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }))
	case "fromBase64":
		return takes(1, 1, fromBase64)
	default:
		return noFunction()
	}
}

func textArg(name string, v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("%s needs a text, not %s", name, kindOf(v))
	}
	return s, nil
}

// textArgs are the values of a function that takes only texts.
func textArgs(name string, args []any) ([]string, error) {
	out := make([]string, len(args))
	for i, v := range args {
		s, err := textArg(name, v)
		if err != nil {
			return nil, err
		}
		out[i] = s
	}
	return out, nil
}

func onText(name string, do func(string) string) function {
	return func(r *evaluation, args []any) (any, error) {
		s, err := textArg(name, args[0])
		if err != nil {
			return nil, err
		}
		return r.text(do(s))
	}
}

// trim cuts white space, or the characters given, off both ends.
func trim(_ *evaluation, args []any) (any, error) {
	s, err := textArgs("trim", args)
	if err != nil {
		return nil, err
	}
	if len(s) == 1 {
		return strings.TrimSpace(s[0]), nil
	}
	return strings.Trim(s[0], s[1]), nil
}

func cut(name string, do func(s, part string) string) function {
	return func(_ *evaluation, args []any) (any, error) {
		s, err := textArgs(name, args)
		if err != nil {
			return nil, err
		}
		return do(s[0], s[1]), nil
	}
}

func split(r *evaluation, args []any) (any, error) {
	s, err := textArgs("split", args[:2])
	if err != nil {
		return nil, err
	}
	limit := -1
	if len(args) == 3 {
		if limit, err = wholeNumber(args[2]); err != nil {
			return nil, err
		}
	}
	if err := r.make(itemSize * (len(s[0]) + 1)); err != nil {
		return nil, err
	}
	parts := strings.SplitN(s[0], s[1], limit)
	out := make([]any, len(parts))
	for i, p := range parts {
		out[i] = p
	}
	return out, nil
}

// join joins texts; other values as they stand in templates.
func join(r *evaluation, args []any) (any, error) {
	list, err := listArg("join", args[0])
	if err != nil {
		return nil, err
	}
	separator := ""
	if len(args) == 2 {
		if separator, err = textArg("join", args[1]); err != nil {
			return nil, err
		}
	}
	var b strings.Builder
	for i, item := range list {
		text, err := toText(r, []any{item})
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(text.(string)) //nolint:forcetypeassert // toText gives text
		if b.Len() > maxOutput {
			return nil, errTooLarge
		}
	}
	return r.text(b.String())
}

func replace(r *evaluation, args []any) (any, error) {
	s, err := textArgs("replace", args)
	if err != nil {
		return nil, err
	}
	if grown := len(s[2]) - len(s[1]); grown > 0 && len(s[0])+strings.Count(s[0], s[1])*grown > maxOutput {
		return nil, errTooLarge
	}
	return r.text(strings.ReplaceAll(s[0], s[1], s[2]))
}

func repeat(r *evaluation, args []any) (any, error) {
	s, err := textArg("repeat", args[0])
	if err != nil {
		return nil, err
	}
	n, err := wholeNumber(args[1])
	switch {
	case err != nil:
		return nil, err
	case n < 0:
		return nil, errors.New("repeat: the number of times is negative")
	case len(s) > 0 && n > maxOutput/len(s):
		return nil, errTooLarge
	case len(s) == 0:
		return "", nil
	}
	return r.text(strings.Repeat(s, n))
}

// position finds a part of a text, in characters; -1 if there is none.
func position(name string, find func(s, part string) int) function {
	return func(r *evaluation, args []any) (any, error) {
		s, err := textArgs(name, args)
		if err != nil {
			return nil, err
		}
		at := find(s[0], s[1])
		if at < 0 {
			return int64(-1), nil
		}
		return length(r, []any{s[0][:at]})
	}
}

// slice is a part of a text, in characters, or of a list. A bound below 0 counts
// from the end; one beyond the end is the end; null is the beginning or the end.
func slice(r *evaluation, args []any) (any, error) {
	list, isList := args[0].([]any)
	text, isText := args[0].(string)
	var chars []rune
	size := len(list)
	switch {
	case isText:
		if err := r.make(4 * len(text)); err != nil {
			return nil, err
		}
		chars = []rune(text)
		size = len(chars)
	case !isList:
		return nil, fmt.Errorf("slice needs a text or a list, not %s", kindOf(args[0]))
	}
	from, err := sliceBound(args[1], 0, size)
	if err != nil {
		return nil, err
	}
	to := size
	if len(args) == 3 {
		if to, err = sliceBound(args[2], size, size); err != nil {
			return nil, err
		}
	}
	to = max(from, to)
	if isText {
		return string(chars[from:to]), nil
	}
	return list[from:to:to], nil
}

func sliceBound(v any, none, size int) (int, error) {
	if v == nil {
		return none, nil
	}
	i, err := wholeNumber(v)
	if err != nil {
		return 0, err
	}
	if i < 0 {
		i += size
	}
	return min(max(i, 0), size), nil
}

func fromBase64(r *evaluation, args []any) (any, error) {
	s, err := textArg("fromBase64", args[0])
	if err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("the text %q is no base64", excerpt(s))
	}
	return r.text(strings.ToValidUTF8(string(raw), "\uFFFD"))
}

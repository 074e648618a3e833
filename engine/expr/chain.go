package expr

import (
	"errors"
	"strconv"
	"strings"
)

// chain is a value and the members read from it: step.a.items[0]?.price.
type chain struct {
	ref  Ref
	name string // what the members are read from, as written
	keys []chainKey
	// fromRef is set if the value comes from a reference rather than the stack.
	fromRef bool
	// soft is set if the value itself may be missing.
	soft bool
	// lenient is set on the left of ??: what is missing gives *absent.
	lenient bool
}

type chainKey struct {
	key     string
	dynamic bool // the key is computed
	soft    bool // the key may be missing
	guarded bool // it was written with "?."
}

// absent is what a missing value is on the left of ??. Operators and functions
// pass it on, so that a ?? catches what is missing anywhere on its left.
type absent struct{ err error }

// eval resolves the chain. args are the base, unless it is a reference, and the
// computed keys.
func (c *chain) eval(r *evaluation, args []any) (any, error) {
	if err := r.tick(); err != nil {
		return nil, err
	}
	v, args, err := c.base(r, args)
	if err != nil || v == nil && len(c.keys) > 0 && c.keys[0].guarded {
		return c.missing(err, c.soft)
	}
	if a, ok := v.(*absent); ok {
		return c.missing(a.err, c.soft)
	}
	computed := args
	for i := range c.keys {
		k := &c.keys[i]
		if k.guarded && v == nil {
			return nil, nil
		}
		key := k.key
		if k.dynamic {
			if a, ok := args[0].(*absent); ok {
				return c.missing(a.err, false)
			}
			if key, err = keyOf(args[0]); err != nil {
				return nil, err
			}
			args = args[1:]
		}
		next, ok := member(v, key)
		if !ok && !k.soft {
			return c.missing(&MissingError{Path: c.text(computed), Reason: whyMissing(v, key)}, false)
		}
		v = next
	}
	return v, nil
}

func (c *chain) base(r *evaluation, args []any) (any, []any, error) {
	if !c.fromRef {
		return args[0], args[1:], nil
	}
	v, err := r.env.Resolve(c.ref)
	return v, args, err
}

// missing is what the chain gives when a value is not there.
func (c *chain) missing(err error, soft bool) (any, error) {
	var missing *MissingError
	switch {
	case err == nil:
		return nil, nil
	case !errors.As(err, &missing):
		return nil, err
	case soft:
		return nil, nil
	case c.lenient:
		return &absent{err}, nil
	default:
		return nil, err
	}
}

// keyOf is a computed key as text.
func keyOf(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	i, err := wholeNumber(v)
	if err != nil {
		return "", errors.New("a key must be text or a whole number, not " + kindOf(v))
	}
	return strconv.Itoa(i), nil
}

// text is the chain as a path, with the computed keys filled in.
func (c *chain) text(computed []any) string {
	var b strings.Builder
	b.WriteString(c.name)
	for _, k := range c.keys {
		key := k.key
		if k.dynamic && len(computed) > 0 {
			key, _ = keyOf(computed[0]) // for a message
			computed = computed[1:]
		}
		if k.guarded {
			b.WriteByte('?')
		}
		b.WriteString(keyText(key))
	}
	return b.String()
}

// source is the chain as written, for the list of references.
func (c *chain) source() string {
	var b strings.Builder
	b.WriteString(c.name)
	for _, k := range c.keys {
		switch {
		case k.guarded && k.dynamic:
			b.WriteString("?.[…]")
		case k.dynamic:
			b.WriteString("[…]")
		default:
			if k.guarded {
				b.WriteByte('?')
			}
			b.WriteString(keyText(k.key))
		}
	}
	return b.String()
}

// keyText writes a key behind a path: with a dot where that works.
func keyText(key string) string {
	if key != "" && prefix(key, isSegment) == len(key) {
		return "." + key
	}
	return "[" + string(appendString(nil, key)) + "]"
}

// member reads a key of an object or an index of a list; negative indexes count
// from the end. Text has no members.
func member(v any, key string) (any, bool) {
	switch v := v.(type) {
	case *Object:
		if v == nil {
			return nil, false
		}
		return v.Get(key)
	case []any:
		i, err := strconv.Atoi(key)
		if err != nil {
			return nil, false
		}
		if i < 0 {
			i += len(v)
		}
		if i < 0 || i >= len(v) {
			return nil, false
		}
		return v[i], true
	default:
		return nil, false
	}
}

func whyMissing(v any, key string) string {
	switch v := v.(type) {
	case *Object:
		return "there is no key " + strconv.Quote(excerpt(key))
	case []any:
		return "a list of " + strconv.Itoa(len(v)) + " has no item " + excerpt(key)
	default:
		return kindOf(v) + " has no key " + strconv.Quote(excerpt(key))
	}
}

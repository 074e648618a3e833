package expr

import (
	"fmt"
	"strconv"
)

// Number is a JSON number that is not an int64, kept as its literal.
type Number string

// Float is the number as a float64. Numbers out of range are an error.
func (n Number) Float() (float64, error) {
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return 0, fmt.Errorf("the number %s is out of range", excerpt(string(n)))
	}
	return f, nil
}

// indexFrom is the number of keys from which an object keeps an index. Below it a
// scan is faster and needs no memory.
const indexFrom = 12

// Object is a JSON object with its keys in order. Reading it from several
// goroutines is safe, setting keys meanwhile is not.
type Object struct {
	keys   []string
	values []any
	index  map[string]int // nil in small objects
}

// NewObject returns an empty object.
func NewObject() *Object { return &Object{} }

// newObject makes an object of keys and values, of which it keeps copies. Of a key
// that stands twice, the first place and the last value count.
func newObject(keys []string, values []any) *Object {
	if len(keys) == 0 {
		return NewObject()
	}
	o := &Object{keys: make([]string, 0, len(keys)), values: make([]any, 0, len(keys))}
	if len(keys) >= indexFrom {
		o.index = make(map[string]int, len(keys))
	}
	for i, k := range keys {
		o.Set(k, values[i])
	}
	return o
}

// Len returns the number of keys.
func (o *Object) Len() int { return len(o.keys) }

// Keys returns the keys in order. The slice is the object's own.
func (o *Object) Keys() []string { return o.keys }

// Get returns the value of a key.
func (o *Object) Get(key string) (any, bool) {
	if i := o.find(key); i >= 0 {
		return o.values[i], true
	}
	return nil, false
}

// Set adds a key at the end, or replaces its value in place.
func (o *Object) Set(key string, v any) {
	if i := o.find(key); i >= 0 {
		o.values[i] = v
		return
	}
	o.keys = append(o.keys, key)
	o.values = append(o.values, v)
	switch {
	case o.index != nil:
		o.index[key] = len(o.keys) - 1
	case len(o.keys) >= indexFrom:
		o.index = make(map[string]int, 2*len(o.keys))
		for i, k := range o.keys {
			o.index[k] = i
		}
	}
}

// find is the position of a key, or -1.
func (o *Object) find(key string) int {
	if o.index != nil {
		if i, ok := o.index[key]; ok {
			return i
		}
		return -1
	}
	for i, k := range o.keys {
		if k == key {
			return i
		}
	}
	return -1
}

// kindOf names a value's type for people.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "text"
	case int, int64, float64, Number:
		return "a number"
	case []any:
		return "a list"
	default:
		return "an object"
	}
}

// excerpt shortens a text for a message.
func excerpt(s string) string {
	const limit = 60
	n := 0
	for i := range s {
		if n == limit {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

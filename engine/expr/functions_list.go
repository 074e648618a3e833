package expr

import (
	"errors"
	"fmt"
	"slices"
)

// listFunction finds the functions of lists and objects.
func listFunction(name string) (builtinFunction, bool) {
	switch name {
	case "first":
		return takes(1, 1, end(name))
	case "last":
		return takes(1, 1, end(name))
	case "take":
		return takes(2, 2, take)
	case "reverse":
		return takes(1, 1, reverse)
	case "sort":
		return takes(1, 2, sortList)
	case "uniq":
		return takes(1, 1, uniq)
	case "concat":
		return takes(1, -1, concat)
	case "flatten":
		return takes(1, 1, flatten)
	case "keys":
		return takes(1, 1, keys)
	case "values":
		return takes(1, 1, values)
	case "toPairs":
		return takes(1, 1, toPairs)
	case "fromPairs":
		return takes(1, 1, fromPairs)
	case "merge":
		return takes(1, -1, merge)
	default:
		return noFunction()
	}
}

func listArg(name string, v any) ([]any, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%s needs a list, not %s", name, kindOf(v))
	}
	return list, nil
}

func objectArg(name string, v any) (*Object, error) {
	o, ok := v.(*Object)
	if !ok || o == nil {
		return nil, fmt.Errorf("%s needs an object, not %s", name, kindOf(v))
	}
	return o, nil
}

// listOf checks that a loop gets a list.
func listOf(name string) function {
	return func(_ *evaluation, args []any) (any, error) {
		list, err := listArg(name, args[0])
		if err != nil {
			return nil, err
		}
		return list, nil
	}
}

// mapped takes over a list that the library made.
func mapped(r *evaluation, args []any) (any, error) {
	list, err := listArg("map", args[0])
	if err != nil {
		return nil, err
	}
	for i, v := range list {
		list[i] = normalise(v)
	}
	return r.list(list)
}

// end is the first or the last item, or null if there is none.
func end(name string) function {
	return func(_ *evaluation, args []any) (any, error) {
		list, err := listArg(name, args[0])
		switch {
		case err != nil:
			return nil, err
		case len(list) == 0:
			return nil, nil
		case name == "first":
			return list[0], nil
		default:
			return list[len(list)-1], nil
		}
	}
}

func take(r *evaluation, args []any) (any, error) {
	if _, err := listArg("take", args[0]); err != nil {
		return nil, err
	}
	if n, err := wholeNumber(args[1]); err != nil || n < 0 {
		return nil, errors.New("take: how many must be a whole number, 0 or more")
	}
	return slice(r, []any{args[0], nil, args[1]})
}

func reverse(r *evaluation, args []any) (any, error) {
	list, err := listArg("reverse", args[0])
	if err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	slices.Reverse(list)
	return r.list(list)
}

func sortList(r *evaluation, args []any) (any, error) {
	list, err := listArg("sort", args[0])
	if err != nil {
		return nil, err
	}
	descending, err := order("sort", args[1:])
	if err != nil {
		return nil, err
	}
	return r.sorted(list, list, descending)
}

// sortBy sorts a list by the keys of its items.
func sortBy(r *evaluation, args []any) (any, error) {
	list, err := listArg("sortBy", args[0])
	if err != nil {
		return nil, err
	}
	by, err := listArg("sortBy", args[1])
	if err != nil {
		return nil, err
	}
	descending, err := order("sortBy", args[2:])
	if err != nil {
		return nil, err
	}
	return r.sorted(list, by, descending)
}

func order(name string, args []any) (descending bool, err error) {
	switch {
	case len(args) == 0, args[0] == "asc":
		return false, nil
	case args[0] == "desc":
		return true, nil
	default:
		return false, fmt.Errorf(`%s: the order is "asc" or "desc"`, name)
	}
}

// sorted sorts items by their keys and keeps the order of equal ones.
func (r *evaluation) sorted(items, by []any, descending bool) ([]any, error) {
	if _, err := r.list(items); err != nil {
		return nil, err
	}
	at := make([]int, len(items))
	for i := range at {
		at[i] = i
	}
	var failed error
	slices.SortStableFunc(at, func(i, j int) int {
		if failed != nil {
			return 0
		}
		c, err := compare(by[i], by[j])
		if err == nil {
			err = r.tick()
		}
		failed = err
		if descending {
			return -c
		}
		return c
	})
	if failed != nil {
		return nil, failed
	}
	out := make([]any, len(items))
	for i, j := range at {
		out[i] = items[j]
	}
	return out, nil
}

// groupBy makes an object of lists; its keys are in the order of appearance.
func groupBy(r *evaluation, args []any) (any, error) {
	list, err := listArg("groupBy", args[0])
	if err != nil {
		return nil, err
	}
	by, err := listArg("groupBy", args[1])
	if err != nil {
		return nil, err
	}
	out := NewObject()
	for i, item := range list {
		key, err := toText(r, by[i:i+1])
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		group, _ := out.Get(name)
		members, _ := group.([]any) // nil at first
		out.Set(name, append(members, item))
		if err := r.make(4 * itemSize); err != nil {
			return nil, err
		}
	}
	return out, r.tick()
}

func uniq(r *evaluation, args []any) (any, error) {
	list, err := listArg("uniq", args[0])
	if err != nil {
		return nil, err
	}
	out := []any{}
	var others []any       // what can't be found by an index
	seen := map[any]bool{} // texts and integers
	for _, item := range list {
		switch item.(type) {
		case string, int64:
			if seen[item] {
				continue
			}
			seen[item] = true
		}
		if _, isText := item.(string); !isText {
			known, err := r.contains(others, item)
			if err != nil {
				return nil, err
			}
			if known == true {
				continue
			}
		}
		out = append(out, item)
		if _, ok := seen[item]; !ok {
			others = append(others, item)
		}
	}
	return r.list(out)
}

func concat(r *evaluation, args []any) (any, error) {
	var out []any
	for _, arg := range args {
		list, err := listArg("concat", arg)
		if err != nil {
			return nil, err
		}
		if _, err := r.list(list); err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return append([]any{}, out...), nil
}

// flatten puts the items of lists in a list in their place, at every depth.
func flatten(r *evaluation, args []any) (any, error) {
	list, err := listArg("flatten", args[0])
	if err != nil {
		return nil, err
	}
	return r.flatten([]any{}, list, 0)
}

func (r *evaluation) flatten(out, list []any, depth int) ([]any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	if _, err := r.list(list); err != nil {
		return nil, err
	}
	for _, item := range list {
		inner, ok := item.([]any)
		if !ok {
			out = append(out, item)
			continue
		}
		var err error
		if out, err = r.flatten(out, inner, depth+1); err != nil {
			return nil, err
		}
	}
	return out, r.tick()
}

func keys(r *evaluation, args []any) (any, error) {
	o, err := objectArg("keys", args[0])
	if err != nil {
		return nil, err
	}
	out := make([]any, o.Len())
	for i, k := range o.keys {
		out[i] = k
	}
	return r.list(out)
}

func values(r *evaluation, args []any) (any, error) {
	o, err := objectArg("values", args[0])
	if err != nil {
		return nil, err
	}
	return r.list(slices.Clone(o.values))
}

// toPairs is a list of [key, value].
func toPairs(r *evaluation, args []any) (any, error) {
	o, err := objectArg("toPairs", args[0])
	if err != nil {
		return nil, err
	}
	out := make([]any, o.Len())
	for i, k := range o.keys {
		out[i] = []any{k, o.values[i]}
	}
	if err := r.make(3 * itemSize * len(out)); err != nil {
		return nil, err
	}
	return r.list(out)
}

// fromPairs is an object of a list of [key, value].
func fromPairs(r *evaluation, args []any) (any, error) {
	list, err := listArg("fromPairs", args[0])
	if err != nil {
		return nil, err
	}
	out := NewObject()
	for _, item := range list {
		pair, ok := item.([]any)
		if !ok || len(pair) != 2 {
			return nil, errors.New("fromPairs needs a list of [key, value]")
		}
		key, err := textArg("a key of fromPairs", pair[0])
		if err != nil {
			return nil, err
		}
		out.Set(key, pair[1])
	}
	return out, r.make(4 * itemSize * len(list))
}

// merge joins objects; of a key that several have, the last counts.
func merge(r *evaluation, args []any) (any, error) {
	out := NewObject()
	for _, arg := range args {
		o, err := objectArg("merge", arg)
		if err != nil {
			return nil, err
		}
		if err := r.make(4 * itemSize * o.Len()); err != nil {
			return nil, err
		}
		for i, k := range o.keys {
			out.Set(k, o.values[i])
		}
	}
	return out, nil
}

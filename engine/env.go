package engine

import (
	"slices"
	"strconv"
	"time"

	"sluice/engine/expr"
)

var zeroTime time.Time

// env resolves references as seen from a step: its own scope first, then
// outwards. It must be used by the goroutine that owns the state only; see freeze.
type env struct {
	s  *state
	at *step
	// after includes the step itself, for the conditions of its out-edges.
	after bool
	// inLoop is set for a loop's while condition: loop_index and the variables that
	// its finished iterations assigned are visible.
	inLoop bool
}

func (s *state) env(st *step, after bool) env { return env{s: s, at: st, after: after} }

func (s *state) loopEnv(st *step) env { return env{s: s, at: st, inLoop: true} }

// Resolve implements [expr.Env].
func (e env) Resolve(ref expr.Ref) (any, error) {
	switch ref.Root {
	case expr.RootInput:
		return decodeRaw(rawOr(e.s.run.Input, "{}"))
	case expr.RootStep, expr.RootNode:
		return e.stepOutput(ref)
	case expr.RootLoopItem:
		if sc := e.loopScope(""); sc != nil {
			return sc.item, nil
		}
		return nil, missing("loop_item", "it exists only inside of a loop")
	case expr.RootLoopIndex:
		if e.inLoop {
			return int64(e.at.box.next), nil
		}
		if sc := e.loopScope(""); sc != nil {
			return int64(sc.index), nil
		}
		return nil, missing("loop_index", "it exists only inside of a loop")
	case expr.RootLoop:
		return e.loopValue(ref.Name)
	case expr.RootVars:
		if ref.Name == "" {
			return e.allVariables(), nil
		}
		return e.variable(ref.Name, "vars."+ref.Name)
	case expr.RootVar:
		return e.variable(ref.Name, ref.Name)
	case expr.RootRun:
		return e.runValue(), nil
	default:
		return nil, missing(string(ref.Root)+"."+ref.Name, "secrets are not set up")
	}
}

func missing(path, reason string) error { return &expr.MissingError{Path: path, Reason: reason} }

func decodeRaw(raw []byte) (any, error) { return expr.Decode(raw) }

func (e env) runValue() any {
	o := expr.NewObject()
	o.Set("id", e.s.run.ID)
	o.Set("started_at", e.s.run.StartedAt.UTC().Format(time.RFC3339Nano))
	o.Set("account", e.s.run.AccountID)
	return o
}

// loopScope is the innermost iteration around the step, or that of the loop named.
func (e env) loopScope(id string) *scope {
	for sc := e.at.scope; sc != nil; {
		if sc.index >= 0 && (id == "" || sc.owner.node.Node.ID == id) {
			return sc
		}
		if sc.owner == nil {
			return nil
		}
		sc = sc.owner.scope
	}
	return nil
}

func (e env) loopValue(id string) (any, error) {
	sc := e.loopScope(id)
	if sc == nil {
		return nil, missing("loop."+id, "this step is not inside of that loop")
	}
	o := expr.NewObject()
	o.Set("item", sc.item)
	o.Set("index", int64(sc.index))
	return o, nil
}

// stepOutput finds a step by id and gives its output.
func (e env) stepOutput(ref expr.Ref) (any, error) {
	path := "step." + ref.Name
	if ref.Root == expr.RootNode {
		path = "_node_" + ref.Name
	}
	n, ok := e.s.prog.ByID[ref.Name]
	if !ok {
		return nil, missing(path, "there is no such step")
	}
	st := e.find(n)
	if st == nil {
		return nil, missing(path, "that step is inside of a container and can't be read from here")
	}
	if st.rec == nil {
		return nil, missing(path, "the step has not run yet")
	}
	switch st.rec.Status {
	case StepSkipped:
		return nil, missing(path, "the step was skipped")
	case StepCancelled:
		return nil, missing(path, "the step was cancelled")
	case StepSucceeded, StepFailed:
		if len(st.rec.Output) == 0 {
			return nil, missing(path, "the step failed")
		}
	default:
		return nil, missing(path, "the step has not finished")
	}
	v, err := st.output()
	if err != nil {
		return nil, err
	}
	if key := st.node.Spec.ResultKey; ref.Whole && key != "" {
		if o, ok := v.(*expr.Object); ok {
			if r, ok := o.Get(key); ok {
				return r, nil
			}
		}
	}
	return v, nil
}

// find locates a node's step: in the scopes around this one, and inside the
// parallels and branches of those, where a node has one step only.
func (e env) find(n int) *step {
	for sc := e.at.scope; sc != nil; {
		if st := e.descend(sc, n); st != nil {
			return st
		}
		if sc.owner == nil {
			return nil
		}
		sc = sc.owner.scope
	}
	return nil
}

func (e env) descend(sc *scope, n int) *step {
	// The chain of containers from the node up to this scope.
	var chain []int
	for c := n; ; {
		chain = append(chain, c)
		parent := e.s.prog.Nodes[c].Container
		if parent == sc.body.Container {
			break
		}
		if parent < 0 {
			return nil
		}
		c = parent
	}
	for i := len(chain) - 1; ; i-- {
		st := &sc.steps[e.s.prog.pos[chain[i]]]
		if i == 0 {
			return st
		}
		if st.box == nil || st.node.Spec.Container == Loop {
			return nil
		}
		if sc = st.box.kept; sc == nil {
			if sc = st.box.open[0]; sc == nil {
				return nil
			}
		}
	}
}

// variable finds a workflow variable: the nearest assignment upstream, then what
// the container saw when it began, out to the run's initial variables.
func (e env) variable(name, path string) (any, error) {
	for st, after := e.at, e.after; ; {
		if v, ok := e.assigned(st, name, after); ok {
			return v, nil
		}
		owner := st.scope.owner
		if owner == nil {
			break
		}
		if v, ok := seenBefore(owner, name); ok {
			return v, nil
		}
		st, after = owner, false
	}
	for _, raw := range [][]byte{e.s.run.Variables, e.s.prog.Definition.Variables} {
		if v, ok := member(raw, name); ok {
			return v, nil
		}
	}
	return nil, missing(path, "there is no such variable")
}

// assigned looks for an assignment in the step's own body, upstream of it.
func (e env) assigned(st *step, name string, after bool) (any, bool) {
	if after {
		if v, ok := st.variable(name); ok {
			return v, true
		}
	}
	if e.inLoop && st == e.at {
		if v, ok := st.box.seen.Get(name); ok {
			return v, true
		}
	}
	writers := st.node.VarWriters
	for _, writer := range slices.Backward(writers) {
		w := &st.scope.steps[e.s.prog.pos[writer]]
		if v, ok := w.variable(name); ok {
			return v, true
		}
	}
	return nil, false
}

// seenBefore is what earlier iterations of a one-by-one loop assigned.
func seenBefore(owner *step, name string) (any, bool) {
	if owner.box == nil || owner.box.seen == nil {
		return nil, false
	}
	return owner.box.seen.Get(name)
}

// variable is the step's own assignment of a name.
func (st *step) variable(name string) (any, bool) {
	if st.rec == nil || st.rec.Status != StepSucceeded || len(st.rec.Variables) == 0 {
		return nil, false
	}
	return member(st.rec.Variables, name)
}

func member(raw []byte, name string) (any, bool) {
	if len(raw) == 0 {
		return nil, false
	}
	v, err := expr.Decode(raw)
	if err != nil {
		return nil, false
	}
	o, ok := v.(*expr.Object)
	if !ok {
		return nil, false
	}
	return o.Get(name)
}

// allVariables is every variable visible from here, outermost first.
func (e env) allVariables() *expr.Object {
	var path []*step
	for st := e.at; st != nil; st = st.scope.owner {
		path = append(path, st)
	}
	all := expr.NewObject()
	for _, raw := range [][]byte{e.s.prog.Definition.Variables, e.s.run.Variables} {
		mergeRaw(all, raw)
	}
	for _, st := range slices.Backward(path) {
		if owner := st.scope.owner; owner != nil && owner.box != nil && owner.box.seen != nil {
			merge(all, owner.box.seen)
		}
		for _, w := range st.node.VarWriters {
			mergeRecord(all, st.scope.steps[e.s.prog.pos[w]].rec)
		}
	}
	if e.inLoop {
		merge(all, e.at.box.seen)
	}
	if e.after {
		mergeRecord(all, e.at.rec)
	}
	return all
}

// written is what a finished scope assigned: its writers in topological order, a
// later one over an earlier.
func (s *state) written(sc *scope) *expr.Object {
	out := expr.NewObject()
	if !sc.body.HasVarWriters {
		return out
	}
	for _, n := range sc.body.Topo {
		mergeRecord(out, sc.steps[s.prog.pos[n]].rec)
	}
	return out
}

func mergeRecord(into *expr.Object, rec *Record) {
	if rec != nil && rec.Status == StepSucceeded {
		mergeRaw(into, rec.Variables)
	}
}

func mergeRaw(into *expr.Object, raw []byte) {
	if len(raw) == 0 {
		return
	}
	if v, err := expr.Decode(raw); err == nil {
		if o, ok := v.(*expr.Object); ok {
			merge(into, o)
		}
	}
}

func merge(into, from *expr.Object) {
	for _, k := range from.Keys() {
		v, _ := from.Get(k)
		into.Set(k, v)
	}
}

// frozen is an env whose references were resolved beforehand, for kinds that run
// on another goroutine.
type frozen map[expr.Ref]resolved

type resolved struct {
	value any
	err   error
}

// Resolve implements [expr.Env].
func (f frozen) Resolve(ref expr.Ref) (any, error) {
	if r, ok := f[ref]; ok {
		return r.value, r.err
	}
	return nil, missing(string(ref.Root)+" "+strconv.Quote(ref.Name), "it is not mentioned by the step")
}

// freeze resolves what the expressions of a step mention.
func (s *state) freeze(st *step) expr.Env {
	f := frozen{}
	e := s.env(st, false)
	for _, x := range st.node.Exprs {
		for _, r := range x.References() {
			v, err := e.Resolve(r.Ref)
			f[r.Ref] = resolved{v, err}
		}
	}
	return f
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

// excerpt shortens raw JSON for a message.
func excerpt(raw []byte) string {
	const limit = 80
	s := string(raw)
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

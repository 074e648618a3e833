package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sluice/engine"
)

// Decide is what people say to the flow's approvals, for [Drive].
func (f *Flow) Decide(p engine.Park) string { return f.decision(p.Address) }

// Effect is what the flow's probes do: fail as they are told to, or sum up what they
// were given.
func (f *Flow) Effect(_ context.Context, in engine.Input) (engine.Output, error) {
	t, err := taskOf(in.Config)
	if err != nil {
		return engine.Output{}, engine.Fatal("bad", err)
	}
	switch {
	case t.Fatal:
		return engine.Output{}, engine.Fatalf("bad", "fails for good")
	case in.Attempt <= t.Fail:
		return engine.Output{}, engine.Retryable("flaky", fmt.Errorf("fails at attempt %d", in.Attempt))
	}
	return engine.Output{Value: map[string]any{"mark": t.mark()}}, nil
}

func taskOf(config json.RawMessage) (*task, error) {
	var c struct {
		Value *task `json:"value"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return nil, err
	}
	if c.Value == nil {
		return nil, fmt.Errorf("no value in %s", config)
	}
	return c.Value, nil
}

// Certain reports that the oracle knows the fate of every step.
func (f *Flow) Certain() bool {
	fates, _ := f.foretell()
	for _, x := range fates {
		if x.uncertain {
			return false
		}
	}
	return true
}

// Unready lists the sources of a step that are not over in a snapshot: a step must
// not run before they are.
func (f *Flow) Unready(snap engine.Snapshot, at string) []string {
	prefix, id := "", at
	if i := strings.LastIndexByte(at, '/'); i >= 0 {
		prefix, id = at[:i], at[i+1:]
	}
	var out []string
	b, i := f.root.find(id)
	for _, s := range b.sources(i) {
		source := address(prefix, b.nodes[s].id)
		if !slices.ContainsFunc(snap.Records, func(r engine.Record) bool { return r.Address == source && r.Status.Terminal() }) {
			out = append(out, source)
		}
	}
	return out
}

func (b *drawnBody) find(id string) (*drawnBody, int) {
	for i, n := range b.nodes {
		if n.id == id {
			return b, i
		}
		bodies := []*drawnBody{n.body}
		for _, br := range n.branches {
			bodies = append(bodies, br.body)
		}
		for _, inner := range bodies {
			if inner == nil {
				continue
			}
			if found, at := inner.find(id); found != nil {
				return found, at
			}
		}
	}
	return nil, 0
}

// Check holds an ended run against the oracle and lists what is different.
func (f *Flow) Check(snap engine.Snapshot) []string {
	fates, b := f.foretell()
	var wrong []string
	wrong = append(wrong, f.checkStatus(snap.Run, b)...)
	if len(snap.Parks) > 0 {
		wrong = append(wrong, fmt.Sprintf("%d waits are open", len(snap.Parks)))
	}
	met := map[string]bool{}
	for i := range snap.Records {
		r := &snap.Records[i]
		if r.Superseded {
			continue
		}
		x := fates[r.Address]
		if x == nil {
			wrong = append(wrong, fmt.Sprintf("%s should not have a record; it %s", r.Address, r.Status))
			continue
		}
		if met[r.Address] {
			wrong = append(wrong, fmt.Sprintf("%s has two records", r.Address))
		}
		met[r.Address] = true
		wrong = append(wrong, x.check(r)...)
	}
	for a, x := range fates {
		if !met[a] && !x.uncertain {
			wrong = append(wrong, fmt.Sprintf("%s should be %s; it has no record", a, x.status))
		}
	}
	slices.Sort(wrong)
	return wrong
}

func (f *Flow) checkStatus(run engine.Run, b blame) []string {
	allowed := map[engine.RunStatus]bool{engine.RunSucceeded: !b.any(), engine.RunFailed: b.failed, engine.RunRejected: b.rejected}
	if allowed[run.Status] {
		return nil
	}
	return []string{fmt.Sprintf("the run %s with %v; the oracle says failed: %t, rejected: %t", run.Status, run.Error, b.failed, b.rejected)}
}

func (x *fate) check(r *engine.Record) (wrong []string) {
	say := func(format string, args ...any) {
		wrong = append(wrong, r.Address+" "+fmt.Sprintf(format, args...))
	}
	if r.Status != x.status {
		if !x.uncertain || r.Status != engine.StepCancelled && r.Status != engine.StepSkipped {
			say("is %s, not %s (%v)", r.Status, x.status, r.Error)
		}
		return wrong
	}
	if r.Taken == nil {
		say("has not decided its edges")
	}
	if x.attempts > 0 && r.Attempt != x.attempts {
		say("took %d attempts, not %d", r.Attempt, x.attempts)
	}
	if x.input == nil {
		return wrong
	}
	t, err := taskOf(r.Input)
	if err != nil {
		say("has a strange input: %v", err)
		return wrong
	}
	if got, want := encode(t), encode(x.input); got != want {
		say("was given %s, not %s", got, want)
	}
	if r.Status == engine.StepSucceeded {
		var out struct{ Mark string }
		if err := json.Unmarshal(r.Output, &out); err != nil || `"`+out.Mark+`"` != x.mark {
			say("gave %s, not %s", r.Output, x.mark)
		}
	}
	return wrong
}

package enginetest

import (
	"context"
	"encoding/json"
	"sync"

	"sluice/engine"
)

// Probe is an effect kind for tests, of type "probe": it notes every execution by
// idempotency key and does what Do says. Its config takes anything.
type Probe struct {
	// Do gives the result; nil echoes {"value": config.value}.
	Do func(ctx context.Context, in engine.Input) (engine.Output, error)
	// Quiet keeps no list of the calls, for tests with very many.
	Quiet bool

	mu    sync.Mutex
	calls []Call
}

// Call is one execution of a probe.
type Call struct {
	Key     string
	Address string
	Attempt int
	Config  json.RawMessage
}

// Spec implements [engine.Kind].
func (*Probe) Spec() engine.Spec {
	return engine.Spec{
		Type: "probe", Title: "Probe", Group: "Test", Icon: "flask-conical", Summary: "Counts executions.", Class: engine.Effect,
		Config: json.RawMessage(`{"type":"object","properties":{"value":{}}}`),
	}
}

// Execute implements [engine.Kind].
func (p *Probe) Execute(ctx context.Context, in engine.Input) (engine.Output, error) {
	p.note(Call{Key: in.IdempotencyKey, Address: in.Address, Attempt: in.Attempt, Config: in.Config})
	if p.Do != nil {
		return p.Do(ctx, in)
	}
	return Echo(in)
}

func (p *Probe) note(c Call) {
	if p.Quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, c)
}

// Echo is the probe's default result.
func Echo(in engine.Input) (engine.Output, error) {
	var c struct {
		Value json.RawMessage `json:"value"`
	}
	if err := in.Decode(&c); err != nil {
		return engine.Output{}, err
	}
	if len(c.Value) == 0 {
		c.Value = json.RawMessage("null")
	}
	return engine.Output{Value: map[string]any{"value": c.Value}}, nil
}

// Calls lists the executions so far.
func (p *Probe) Calls() []Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Call(nil), p.calls...)
}

// Addresses lists the addresses executed so far, in order.
func (p *Probe) Addresses() []string {
	var out []string
	for _, c := range p.Calls() {
		out = append(out, c.Address)
	}
	return out
}

package nodes

import (
	"context"
	"encoding/json"

	"sluice/engine"
)

// trigger is where a run begins. Its output is the run's input.
type trigger struct{}

var _ engine.Kind = trigger{}

// Spec implements [engine.Kind].
func (trigger) Spec() engine.Spec {
	return engine.Spec{
		Type: "trigger", Title: "Trigger", Group: "Flow", Icon: "play", Class: engine.Pure,
		Summary: "Starts the workflow with the run's input.",
		// Open: imported workflows carry settings of their own here.
		Config: json.RawMessage(`{"type":"object","properties":{}}`),
	}
}

// Execute implements [engine.Kind].
func (trigger) Execute(_ context.Context, in engine.Input) (engine.Output, error) {
	if len(in.RunInput) == 0 {
		return engine.Output{Value: json.RawMessage(`{}`)}, nil
	}
	return engine.Output{Value: in.RunInput}, nil
}

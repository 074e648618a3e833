package nodes

import (
	"context"
	"encoding/json"

	"sluice/engine"
)

// end closes a path. Without a config its output is what came in, which the
// engine fills in.
type end struct{}

var _ engine.Kind = end{}

// Spec implements [engine.Kind].
func (end) Spec() engine.Spec {
	return engine.Spec{
		Type: "end", Title: "End", Group: "Flow", Icon: "flag", Class: engine.Pure, NoOutput: true,
		Summary: "Ends the workflow and gives the run its output.",
		Config: json.RawMessage(`{
			"type": "object", "additionalProperties": false,
			"properties": {
				"output": {"title": "Output", "description": "What the run returns. Left out: the output of the steps before.", "x-ui": {"widget": "json", "rows": 6, "placeholder": "{\"article\": \"{{step.write.text}}\"}"}}
			}
		}`),
	}
}

// Execute implements [engine.Kind]. Value is nil where no output is configured.
func (end) Execute(_ context.Context, in engine.Input) (engine.Output, error) {
	var c struct {
		Output json.RawMessage `json:"output"`
	}
	if err := in.Decode(&c); err != nil {
		return engine.Output{}, err
	}
	if c.Output == nil {
		return engine.Output{}, nil
	}
	return engine.Output{Value: c.Output}, nil
}

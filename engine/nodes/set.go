package nodes

import (
	"context"
	"encoding/json"

	"sluice/engine"
)

// set computes values and assigns workflow variables.
type set struct{}

var _ engine.Kind = set{}

// Spec implements [engine.Kind].
func (set) Spec() engine.Spec {
	return engine.Spec{
		Type: "set", Title: "Set values", Group: "Data", Icon: "pencil-line", Class: engine.Pure,
		Summary: "Builds values from templates and assigns variables.",
		Config: json.RawMessage(`{
			"type": "object", "additionalProperties": false,
			"properties": {
				"values": {"type": "object", "title": "Values", "description": "The step's output. A field that is exactly one {{…}} keeps its type.", "additionalProperties": true, "x-ui": {"widget": "keyvalue"}},
				"variables": {"type": "object", "title": "Variables", "description": "Workflow variables that later steps read as {{vars.name}}.", "additionalProperties": true, "x-ui": {"widget": "keyvalue"}}
			}
		}`),
		Aliases: map[string]string{"assignments": "values"},
	}
}

// Execute implements [engine.Kind].
func (set) Execute(_ context.Context, in engine.Input) (engine.Output, error) {
	var c struct {
		Values    json.RawMessage            `json:"values"`
		Variables map[string]json.RawMessage `json:"variables"`
	}
	if err := in.Decode(&c); err != nil {
		return engine.Output{}, err
	}
	if len(c.Values) == 0 || string(c.Values) == "null" {
		c.Values = json.RawMessage(`{}`)
	}
	out := engine.Output{Value: c.Values}
	if len(c.Variables) > 0 {
		out.Variables = make(map[string]any, len(c.Variables))
		for name, v := range c.Variables {
			out.Variables[name] = v
		}
	}
	return out, nil
}

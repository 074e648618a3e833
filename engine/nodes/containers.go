package nodes

import (
	"context"
	"encoding/json"

	"sluice/engine"
)

// loop runs its body for each item. The engine runs it.
type loop struct{}

// parallel runs its branches side by side. The engine runs it.
type parallel struct{}

// branch is one path of a parallel. The engine runs it.
type branch struct{}

var (
	_ engine.Kind            = loop{}
	_ engine.ConfigValidator = loop{}
	_ engine.Kind            = parallel{}
	_ engine.Kind            = branch{}
)

// Spec implements [engine.Kind].
func (loop) Spec() engine.Spec {
	return engine.Spec{
		Type: "loop", Title: "Loop", Group: "Flow", Icon: "repeat", Class: engine.Container, Container: engine.Loop,
		Summary: "Runs the steps inside of it for each item of a list.",
		Config: json.RawMessage(`{
			"type": "object", "additionalProperties": false,
			"properties": {
				"collection": {"type": ["array", "string"], "title": "Collection", "description": "The list to go through. Each item is {{loop_item}} inside.", "x-ui": {"widget": "text", "placeholder": "{{workflow_input.items}}"}},
				"while": {"type": "string", "title": "While", "description": "Instead of a list: go on as long as this is true.", "x-mode": "expression", "x-ui": {"widget": "expression", "placeholder": "loop_index < 5", "advanced": true}},
				"times": {"type": "integer", "title": "Times", "description": "Instead of a list: how often to run.", "minimum": 0, "x-ui": {"advanced": true}},
				"concurrency": {"type": "integer", "title": "At the same time", "description": "How many items to work on at once.", "minimum": 1, "maximum": 1000, "default": 1},
				"max_iterations": {"type": "integer", "title": "At most", "description": "The loop fails rather than run more often than this.", "minimum": 1, "maximum": 100000, "x-ui": {"advanced": true}},
				"on_item_error": {"type": "string", "title": "When an item fails", "enum": ["stop", "continue"], "default": "stop", "x-mode": "literal", "x-labels": {"stop": "Stop the loop", "continue": "Go on with the others"}}
			}
		}`),
		Output: json.RawMessage(`{"type":"object","properties":{"results":{"type":"array"},"count":{"type":"integer"},"failed":{"type":"integer"}}}`),
		Aliases: map[string]string{
			"items": "collection", "maxIterations": "max_iterations", "onItemError": "on_item_error", "maxConcurrency": "concurrency",
		},
	}
}

// ValidateConfig implements [engine.ConfigValidator].
func (loop) ValidateConfig(config json.RawMessage) []engine.Issue {
	var c map[string]json.RawMessage
	if json.Unmarshal(config, &c) != nil {
		return nil // the schema says what is wrong
	}
	given := 0
	for _, field := range []string{"collection", "while", "times"} {
		if v, ok := c[field]; ok && string(v) != "null" && string(v) != `""` {
			given++
		}
	}
	const fix = "Give exactly one of collection, while and times."
	switch given {
	case 0:
		return []engine.Issue{{Code: "missing_collection", Field: "collection", Message: "the loop has nothing to go through", Fix: fix}}
	case 1:
		return nil
	default:
		return []engine.Issue{{Code: "several_collections", Field: "collection", Message: "the loop has more than one of collection, while and times", Fix: fix}}
	}
}

// Execute implements [engine.Kind].
func (loop) Execute(context.Context, engine.Input) (engine.Output, error) { return notExecuted() }

// Spec implements [engine.Kind].
func (parallel) Spec() engine.Spec {
	return engine.Spec{
		Type: "parallel", Title: "Parallel", Group: "Flow", Icon: "columns-3", Class: engine.Container, Container: engine.Parallel,
		Summary: "Runs its branches at the same time and waits for all of them.",
		Config: json.RawMessage(`{
			"type": "object", "additionalProperties": false,
			"properties": {
				"require": {"type": "string", "title": "Must succeed", "description": "All branches are always waited for.", "enum": ["none", "any", "all"], "default": "none", "x-mode": "literal", "x-labels": {"none": "None: later steps look at the results", "any": "At least one", "all": "All of them"}}
			}
		}`),
		Output: json.RawMessage(`{"type":"object","properties":{"branches":{"type":"object"}}}`),
	}
}

// Execute implements [engine.Kind].
func (parallel) Execute(context.Context, engine.Input) (engine.Output, error) { return notExecuted() }

// Spec implements [engine.Kind].
func (branch) Spec() engine.Spec {
	return engine.Spec{
		Type: "branch", Title: "Branch", Group: "Flow", Icon: "rectangle-vertical", Class: engine.Container, Container: engine.Branch,
		Summary: "One path of a parallel.",
		Config:  json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{}}`),
	}
}

// Execute implements [engine.Kind].
func (branch) Execute(context.Context, engine.Input) (engine.Output, error) { return notExecuted() }

func notExecuted() (engine.Output, error) {
	return engine.Output{}, engine.Fatalf(engine.CodeConfig, "containers are run by the engine")
}

package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sluice/engine"
	"sluice/engine/expr"
)

// wait sleeps for a while or until an instant, outside of the process.
type wait struct{}

var (
	_ engine.Kind            = wait{}
	_ engine.ConfigValidator = wait{}
)

// Spec implements [engine.Kind].
func (wait) Spec() engine.Spec {
	return engine.Spec{
		Type: "wait", Title: "Wait", Group: "Flow", Icon: "timer", Class: engine.Parking,
		Summary: "Goes on after a while, or at a given time.",
		Config: json.RawMessage(`{
			"type": "object", "additionalProperties": false,
			"properties": {
				"duration": {"type": ["string", "number"], "title": "For", "description": "For example 90s, 1h30m, 2d, P1DT2H, or a number of seconds.", "x-ui": {"widget": "duration", "placeholder": "1h30m"}},
				"until": {"type": "string", "title": "Until", "description": "Instead: an instant such as 2027-01-31T09:00:00Z. A past one does not wait.", "x-ui": {"widget": "text", "placeholder": "{{workflow_input.publish_at}}"}}
			}
		}`),
		Output: json.RawMessage(`{"type":"object","properties":{"started_at":{"type":"string"},"ended_at":{"type":"string"}}}`),
	}
}

type waitConfig struct {
	Duration json.RawMessage `json:"duration"`
	Until    string          `json:"until"`
}

// ValidateConfig implements [engine.ConfigValidator].
func (wait) ValidateConfig(config json.RawMessage) []engine.Issue {
	var c waitConfig
	if json.Unmarshal(config, &c) != nil {
		return nil // the schema says what is wrong
	}
	text := scalarText(c.Duration)
	if (text == "") == (c.Until == "") {
		return []engine.Issue{{Code: "missing_duration", Field: "duration", Message: "the step must wait either for a duration or until a time", Fix: "Give one of duration and until."}}
	}
	if text != "" && !templated(text) {
		if _, err := ParseDuration(text); err != nil {
			return []engine.Issue{{Code: "bad_duration", Field: "duration", Message: err.Error()}}
		}
	}
	if c.Until != "" && !templated(c.Until) {
		if _, err := parseInstant(c.Until); err != nil {
			return []engine.Issue{{Code: "bad_time", Field: "until", Message: err.Error()}}
		}
	}
	return nil
}

// Execute implements [engine.Kind].
func (wait) Execute(_ context.Context, in engine.Input) (engine.Output, error) {
	var c waitConfig
	if err := in.Decode(&c); err != nil {
		return engine.Output{}, err
	}
	started := in.Now().UTC()
	var due time.Time
	if c.Until != "" {
		at, err := parseInstant(c.Until)
		if err != nil {
			return engine.Output{}, engine.Fatal(engine.CodeConfig, err)
		}
		due = at
	} else {
		d, err := durationValue(c.Duration)
		if err != nil {
			return engine.Output{}, engine.Fatal(engine.CodeConfig, err)
		}
		due = started.Add(d)
	}
	if due.Before(started) {
		due = started
	}
	if due.Sub(started) > maxWait {
		return engine.Output{}, engine.Fatalf(engine.CodeConfig, "%s is more than ten years away", due.Format(time.RFC3339))
	}
	output, err := expr.Encode(waited(started, due))
	if err != nil {
		return engine.Output{}, fmt.Errorf("encode the wait's output: %w", err)
	}
	if !due.After(started) {
		return engine.Output{Value: output}, nil
	}
	return engine.Output{Park: &engine.Park{
		Kind: engine.ParkTimer, WakeAt: due, OnWake: &engine.Resolution{Output: output},
	}}, nil
}

func waited(started, ended time.Time) *expr.Object {
	o := expr.NewObject()
	o.Set("started_at", started.Format(time.RFC3339Nano))
	o.Set("ended_at", ended.Format(time.RFC3339Nano))
	return o
}

// parseInstant reads RFC 3339, with or without seconds; without a zone it is UTC.
func parseInstant(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as 2027-01-31T09:00:00Z", s)
}

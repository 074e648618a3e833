package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"sluice/engine/expr"
)

// LogEntry is a line of a run's execution log.
type LogEntry struct {
	NodeID   string          `json:"node_id"`
	NodeType string          `json:"node_type"`
	Address  string          `json:"address"`
	Status   StepStatus      `json:"status"`
	Result   json.RawMessage `json:"result,omitempty"`
	Error    *StepError      `json:"error,omitempty"`
	// DurationMS is the time from the first attempt's start to the step's end, waits
	// included, in milliseconds; 0 for steps that have not ended.
	DurationMS float64 `json:"duration_ms"`
	Attempts   int     `json:"attempts"`
	Warning    string  `json:"warning,omitempty"`
}

// ExecutionLog is a run's current steps in the order in which they were reached.
func ExecutionLog(snap Snapshot) []LogEntry {
	log := make([]LogEntry, 0, len(snap.Records))
	for i := range snap.Records {
		r := &snap.Records[i]
		if r.Superseded {
			continue
		}
		e := LogEntry{
			NodeID: r.NodeID, NodeType: r.Type, Address: r.Address, Status: r.Status, Result: r.Output, Error: r.Error,
			Attempts: r.Attempt, Warning: r.Warning,
		}
		if !r.EndedAt.IsZero() {
			e.DurationMS = float64(r.EndedAt.Sub(r.StartedAt).Microseconds()) / 1000
		}
		log = append(log, e)
	}
	return log
}

// Variables are the workflow variables of a run as its finished steps have left
// them, a JSON object.
func (e *Engine) Variables(ctx context.Context, snap Snapshot) (json.RawMessage, error) {
	prog, err := e.program(ctx, snap.Run.DefinitionHash)
	if err != nil {
		return nil, fmt.Errorf("variables of run %s: %w", snap.Run.ID, err)
	}
	h := newHistory(prog, snap.Records)
	all := expr.NewObject()
	mergeRaw(all, prog.Definition.Variables)
	mergeRaw(all, snap.Run.Variables)
	for _, n := range prog.Root.Topo {
		mergeRecord(all, h.byAddress[prog.Nodes[n].Node.ID])
	}
	return expr.Encode(all)
}

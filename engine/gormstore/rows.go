package gormstore

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"sluice/engine"
	"sluice/models"
)

const runColumns = "id, account_id, workflow_id, version_id, definition_hash, status, input, variables, output, error, usage, idempotency_key, started_by, parent_run_id, parent_address, depth, epoch, wakeups, span_seq, wake_at, created_at, started_at, ended_at"

// scanner is a row.
type scanner interface{ Scan(dest ...any) error }

func scanRun(row scanner) (engine.Run, error) {
	var (
		r                                              engine.Run
		status, input, variables, output, e, usage, by string
		key                                            sql.NullString
		wake, created, started, ended                  models.Time
	)
	err := row.Scan(&r.ID, &r.AccountID, &r.WorkflowID, &r.VersionID, &r.DefinitionHash, &status, &input, &variables, &output, &e, &usage,
		&key, &by, &r.ParentRunID, &r.ParentAddress, &r.Depth, &r.Epoch, &r.Wakeups, &r.SpanSeq, &wake, &created, &started, &ended)
	if err != nil {
		return r, err
	}
	r.Status, r.IdempotencyKey = engine.RunStatus(status), key.String
	r.Input, r.Variables, r.Output = raw(input), raw(variables), raw(output)
	r.WakeAt, r.CreatedAt, r.StartedAt, r.EndedAt = wake.Time, created.Time, started.Time, ended.Time
	if err := fromJSON(e, &r.Error); err != nil {
		return r, err
	}
	if err := fromJSON(usage, &r.Usage); err != nil {
		return r, err
	}
	return r, fromJSON(by, &r.StartedBy)
}

func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

func fromJSON(s string, v any) error {
	if s == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(s), v); err != nil {
		return fmt.Errorf("read stored JSON: %w", err)
	}
	return nil
}

// toJSON writes a value of a known shape; nil and empty ones are empty text.
func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil || string(b) == "null" || string(b) == "{}" {
		return ""
	}
	return models.Clean(string(b))
}

// rawJSON is JSON as every database keeps it.
func rawJSON(b json.RawMessage) string { return models.Clean(string(b)) }

const recordColumns = "run_id, address, round, node_id, type, status, attempt, seq, input, output, error, handle, taken, variables, decision, next_attempt_at, park_id, usage, warning, superseded, recoveries, started_at, ended_at"

const recordWidth = 23

func appendRecord(args []any, runID string, r *engine.Record) []any {
	return append(args,
		runID, models.Clean(r.Address), r.Round, models.Clean(r.NodeID), models.Clean(r.Type), string(r.Status), r.Attempt, r.Seq, rawJSON(r.Input), rawJSON(r.Output),
		stepError(r.Error), models.Clean(r.Handle), taken(r.Taken), rawJSON(r.Variables), rawJSON(r.Decision), micros(r.NextAttemptAt), r.ParkID,
		usage(r.Usage), models.Clean(r.Warning), r.Superseded, r.Recoveries, micros(r.StartedAt), micros(r.EndedAt),
	)
}

// micros is a time as the driver takes it, without the detour of a [driver.Valuer].
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

func stepError(e *engine.StepError) string {
	if e == nil {
		return ""
	}
	return toJSON(e)
}

func usage(u engine.Usage) string {
	if u == (engine.Usage{}) {
		return ""
	}
	return toJSON(u)
}

// taken tells undecided (empty text) from none ("[]").
func taken(edges []int) string {
	if edges == nil {
		return ""
	}
	b := []byte{'['}
	for i, e := range edges {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(e), 10)
	}
	return string(append(b, ']'))
}

func scanRecord(row scanner) (engine.Record, error) {
	var (
		r                                                                 engine.Record
		runID, status, input, output, e, edges, variables, decision, used string
		next, started, ended                                              models.Time
	)
	err := row.Scan(&runID, &r.Address, &r.Round, &r.NodeID, &r.Type, &status, &r.Attempt, &r.Seq, &input, &output, &e, &r.Handle, &edges,
		&variables, &decision, &next, &r.ParkID, &used, &r.Warning, &r.Superseded, &r.Recoveries, &started, &ended)
	if err != nil {
		return r, err
	}
	r.Status = engine.StepStatus(status)
	r.Input, r.Output, r.Variables, r.Decision = raw(input), raw(output), raw(variables), raw(decision)
	r.NextAttemptAt, r.StartedAt, r.EndedAt = next.Time, started.Time, ended.Time
	if err := fromJSON(e, &r.Error); err != nil {
		return r, err
	}
	if err := fromJSON(edges, &r.Taken); err != nil {
		return r, err
	}
	return r, fromJSON(used, &r.Usage)
}

package gormstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sluice/engine"
	"sluice/models"
)

// querier is a transaction or a pool.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

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

// toJSON writes a value of a known shape; nil pointers are empty text.
func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil || string(b) == "null" || string(b) == "{}" {
		return ""
	}
	return string(b)
}

const recordColumns = "run_id, address, round, node_id, type, status, attempt, seq, input, output, error, handle, taken, variables, decision, next_attempt_at, park_id, usage, warning, superseded, recoveries, started_at, ended_at"

const recordWidth = 23

func recordArgs(runID string, r *engine.Record) []any {
	return []any{
		runID, r.Address, r.Round, r.NodeID, r.Type, string(r.Status), r.Attempt, r.Seq, string(r.Input), string(r.Output),
		stepError(r.Error), r.Handle, taken(r.Taken), string(r.Variables), string(r.Decision), models.At(r.NextAttemptAt), r.ParkID,
		usage(r.Usage), text(r.Warning), r.Superseded, r.Recoveries, models.At(r.StartedAt), models.At(r.EndedAt),
	}
}

// text drops what PostgreSQL refuses in text: NUL and invalid UTF-8. JSON never
// holds them, since it escapes the one and the encoder replaces the other.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
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
		b = appendInt(b, e)
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

// recordsPerStatement keeps statements below SQLite's limit of variables.
const recordsPerStatement = 400

var recordUpdates = func() string {
	var sets []string
	for c := range strings.SplitSeq(recordColumns, ", ") {
		switch c {
		case "run_id", "address", "round":
		default:
			sets = append(sets, c+" = excluded."+c)
		}
	}
	return strings.Join(sets, ", ")
}()

// putRecords upserts records of a run.
func (s *Store) putRecords(ctx context.Context, tx *sql.Tx, runID string, records []engine.Record) error {
	for len(records) > 0 {
		n := min(len(records), recordsPerStatement)
		args := make([]any, 0, n*recordWidth)
		for i := range records[:n] {
			args = append(args, recordArgs(runID, &records[i])...)
		}
		values := strings.TrimSuffix(strings.Repeat("("+strings.TrimSuffix(strings.Repeat("?,", recordWidth), ",")+"),", n), ",")
		query := "INSERT INTO step_records (" + recordColumns + ") VALUES " + values + " ON CONFLICT (run_id, address, round) DO UPDATE SET " + recordUpdates
		if _, err := s.exec(ctx, tx, query, args...); err != nil {
			return fmt.Errorf("write steps of %s: %w", runID, err)
		}
		records = records[n:]
	}
	return nil
}

// snapshot reads a run with its records and open parks.
func (s *Store) snapshot(ctx context.Context, q querier, run engine.Run) (engine.Snapshot, error) {
	snap := engine.Snapshot{Run: run}
	rows, err := q.QueryContext(ctx, s.bind("SELECT "+recordColumns+" FROM step_records WHERE run_id = ? ORDER BY seq, round"), run.ID)
	if err != nil {
		return snap, fmt.Errorf("read steps of %s: %w", run.ID, err)
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanRecord(rows)
		if err != nil {
			return snap, fmt.Errorf("read steps of %s: %w", run.ID, err)
		}
		snap.Records = append(snap.Records, r)
	}
	if err := rows.Err(); err != nil {
		return snap, fmt.Errorf("read steps of %s: %w", run.ID, err)
	}
	if err := rows.Close(); err != nil {
		return snap, err
	}
	snap.Parks, err = s.openParks(ctx, q, run.ID)
	return snap, err
}

func (s *Store) openParks(ctx context.Context, q querier, runID string) ([]engine.Park, error) {
	rows, err := q.QueryContext(ctx, s.bind("SELECT body FROM parks WHERE run_id = ? AND status = 'open' ORDER BY id"), runID)
	if err != nil {
		return nil, fmt.Errorf("read waits of %s: %w", runID, err)
	}
	defer rows.Close()
	var out []engine.Park
	for rows.Next() {
		var body string
		if err := rows.Scan(&body); err != nil {
			return nil, fmt.Errorf("read waits of %s: %w", runID, err)
		}
		var p engine.Park
		if err := fromJSON(body, &p); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, rows.Err()
}

// find reads a run, in a transaction or outside. accountID "" is any.
func (s *Store) find(ctx context.Context, q querier, accountID, runID string, lock bool) (engine.Run, error) {
	query := "SELECT " + runColumns + " FROM runs WHERE id = ?"
	args := []any{runID}
	if accountID != "" {
		query += " AND account_id = ?"
		args = append(args, accountID)
	}
	if lock && s.db.Dialect == models.Postgres {
		query += " FOR UPDATE"
	}
	run, err := scanRun(q.QueryRowContext(ctx, s.bind(query), args...))
	if err == sql.ErrNoRows { //nolint:errorlint // the driver's contract
		return run, fmt.Errorf("run %s: %w", runID, engine.ErrNotFound)
	}
	if err != nil {
		return run, fmt.Errorf("read run %s: %w", runID, err)
	}
	return run, nil
}

func micros(d time.Duration) int64 { return d.Microseconds() }

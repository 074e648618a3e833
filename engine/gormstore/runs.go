package gormstore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sluice/engine"
	"sluice/models"
)

// CreateRun implements [engine.Store].
func (s *Store) CreateRun(ctx context.Context, n engine.NewRun) (run engine.Run, created bool, err error) {
	n.Status, n.IdempotencyKey = engine.RunQueued, models.Clean(n.IdempotencyKey)
	n.Input, n.Variables = raw(rawJSON(n.Input)), raw(rawJSON(n.Variables))
	err = s.do(ctx, func(ctx context.Context, b *batch) error {
		run, created = n.Run, true
		inserted, err := b.insertRun(ctx, run)
		if err != nil {
			return err
		}
		if !inserted {
			run, created = engine.Run{}, false
			run, err = b.earlier(ctx, n.Run)
			return err
		}
		b.putRecords(run.ID, n.Records)
		b.enqueue(run.ID, n.CreatedAt.Add(s.delay))
		b.due(run.ID)
		return nil
	})
	if err != nil {
		return engine.Run{}, false, err
	}
	return run, created, nil
}

const insertRun = "INSERT INTO runs (" + runColumns + ", lease_owner) VALUES (?,?,?,?,?,?,?,?,'','','',?,?,?,?,?,0,0,0,NULL,?,NULL,NULL,'') " +
	"ON CONFLICT (account_id, workflow_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING"

// insertRun stores a run unless its idempotency key is taken, also by a transaction
// at the same time.
func (b *batch) insertRun(ctx context.Context, r engine.Run) (inserted bool, err error) {
	var key any
	if r.IdempotencyKey != "" {
		key = r.IdempotencyKey
	}
	n, err := b.exec(ctx, insertRun, r.ID, r.AccountID, r.WorkflowID, r.VersionID, r.DefinitionHash, string(r.Status), string(r.Input), string(r.Variables),
		key, toJSON(r.StartedBy), r.ParentRunID, models.Clean(r.ParentAddress), r.Depth, micros(r.CreatedAt))
	if err != nil {
		return false, fmt.Errorf("insert run %s: %w", r.ID, err)
	}
	return n > 0, nil
}

// earlier is the run that was started with the idempotency key before.
func (b *batch) earlier(ctx context.Context, n engine.Run) (engine.Run, error) {
	run, err := scanRun(b.row(ctx, "SELECT "+runColumns+" FROM runs WHERE account_id = ? AND workflow_id = ? AND idempotency_key = ?", n.AccountID, n.WorkflowID, n.IdempotencyKey))
	if err != nil {
		return run, fmt.Errorf("look up idempotency key: %w", err)
	}
	if !bytes.Equal(run.Input, n.Input) {
		return run, refusal{&engine.ConflictError{Message: "Idempotency-Key was used before with another input"}}
	}
	return run, nil
}

// Claim implements [engine.Store].
func (s *Store) Claim(ctx context.Context, runID, owner string, lease time.Duration) (snap engine.Snapshot, err error) {
	now := s.sql.now()
	claim := "UPDATE runs SET status = 'running', epoch = epoch + 1, lease_owner = ?, lease_until = " + now + " + ?, wake_at = NULL, started_at = COALESCE(started_at, " + now +
		") WHERE id = ? AND (status <> 'running' OR lease_until IS NULL OR lease_until <= " + now + ") RETURNING " + runColumns
	err = s.do(ctx, func(ctx context.Context, b *batch) error {
		before, err := b.lock(ctx, "", runID)
		if err != nil {
			return err
		}
		if before.Status.Terminal() {
			return refusal{fmt.Errorf("run %s is %s: %w", runID, before.Status, engine.ErrNotRunnable)}
		}
		run, err := scanRun(b.row(ctx, claim, owner, lease.Microseconds(), runID))
		if errors.Is(err, sql.ErrNoRows) {
			return refusal{fmt.Errorf("run %s is worked elsewhere: %w", runID, engine.ErrNotRunnable)}
		}
		if err != nil {
			return fmt.Errorf("claim run %s: %w", runID, err)
		}
		snap, err = b.snapshot(ctx, run)
		snap.TakenOver = before.Status == engine.RunRunning
		b.news.changed(runID)
		return err
	})
	if err != nil {
		return engine.Snapshot{}, err
	}
	return snap, nil
}

// Commit implements [engine.Store].
func (s *Store) Commit(ctx context.Context, t engine.Transition) (seq int64, err error) {
	err = s.doFenced(ctx, t.RunID, func(ctx context.Context, b *batch) error {
		run, err := b.fence(ctx, t)
		if err != nil {
			return err
		}
		b.putRecords(t.RunID, t.Records)
		for i := range t.OpenParks {
			if err := b.openPark(ctx, run, &t.OpenParks[i]); err != nil {
				return err
			}
			b.news.inbox[run.accountID] = true
		}
		for _, c := range t.ClosePark {
			if err := b.closePark(ctx, c, t.At); err != nil {
				return err
			}
			b.news.inbox[run.accountID] = true
		}
		if seq, err = b.advance(ctx, t, run); err != nil {
			return err
		}
		if t.Status != "" {
			b.news.changed(t.RunID)
		}
		if parked(t.Status) && !t.WakeAt.IsZero() {
			if !t.WakeAt.After(t.At) {
				b.news.handedBack(t.RunID)
			}
			b.enqueue(t.RunID, t.WakeAt)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return seq, nil
}

func parked(st engine.RunStatus) bool {
	return st == engine.RunPendingApproval || st == engine.RunWaiting
}

// fenced is what a transition needs to know of its run.
type fenced struct {
	id, accountID, workflowID string
	usage                     engine.Usage
	spanSeq                   int64
}

// fence checks everything that may refuse a transition, before anything is
// written.
func (b *batch) fence(ctx context.Context, t engine.Transition) (fenced, error) {
	row, err := b.fenceRow(ctx, t.RunID)
	run := row.fenced
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return run, refusal{fmt.Errorf("run %s: %w", t.RunID, engine.ErrNotFound)}
	case err != nil:
		return run, fmt.Errorf("check the lease of %s: %w", t.RunID, err)
	case row.epoch != t.Epoch || row.status != string(engine.RunRunning):
		return run, refusal{fmt.Errorf("run %s: %w", t.RunID, engine.ErrLeaseLost)}
	case parked(t.Status) && row.wakeups != t.Wakeups:
		return run, refusal{fmt.Errorf("run %s: %w", t.RunID, engine.ErrWoken)}
	}
	for _, c := range t.ClosePark {
		var park string
		err := b.row(ctx, "SELECT status FROM parks WHERE id = ? AND run_id = ?", c.ID, t.RunID).Scan(&park)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return run, fmt.Errorf("check park %s: %w", c.ID, err)
		}
		if park != "open" {
			return run, refusal{fmt.Errorf("park %s: %w", c.ID, engine.ErrWoken)}
		}
	}
	return run, fromJSON(row.used, &run.usage)
}

// The forms of a transition's write to its run's own row.
const (
	advanceOnly   = "UPDATE runs SET span_seq = span_seq + ?, usage = ? WHERE id = ? RETURNING span_seq"
	advanceParked = "UPDATE runs SET span_seq = span_seq + ?, usage = ?, status = ?, wake_at = ?, lease_owner = '', lease_until = NULL WHERE id = ? RETURNING span_seq"
	advanceEnded  = "UPDATE runs SET span_seq = span_seq + ?, usage = ?, status = ?, wake_at = NULL, lease_owner = '', lease_until = NULL, output = ?, error = ?, ended_at = ? WHERE id = ? RETURNING span_seq"
)

// advance writes the run's own row.
func (b *batch) advance(ctx context.Context, t engine.Transition, run fenced) (seq int64, err error) {
	spans := t.Spans
	if t.SpanLimit == run.spanSeq {
		spans -= t.Unused
	}
	query, args := advanceOnly, []any{spans, usage(run.usage.Add(t.Usage))}
	switch {
	case t.Status == "" && spans == 0 && t.Lease == 0 && t.Usage == (engine.Usage{}):
		return run.spanSeq, nil // nothing of the run's own: its row, with the input in it, is not written again
	case t.Status.Terminal():
		query, args = advanceEnded, append(args, string(t.Status), rawJSON(t.Output), stepError(t.Error), micros(t.At))
	case t.Status != "":
		query, args = advanceParked, append(args, string(t.Status), micros(t.WakeAt))
	case t.Lease > 0:
		query, args = "UPDATE runs SET span_seq = span_seq + ?, usage = ?, lease_until = "+b.sql.now()+" + ? WHERE id = ? RETURNING span_seq", append(args, t.Lease.Microseconds())
	}
	if err := b.row(ctx, query, append(args, t.RunID)...).Scan(&seq); err != nil {
		return 0, fmt.Errorf("write run %s: %w", t.RunID, err)
	}
	return seq, nil
}

// Restart implements [engine.Store].
func (s *Store) Restart(ctx context.Context, accountID, runID string, reset func(engine.Snapshot) (engine.Reset, error)) (run engine.Run, err error) {
	err = s.do(ctx, func(ctx context.Context, b *batch) error {
		before, err := b.lock(ctx, accountID, runID)
		if err != nil {
			return err
		}
		snap, err := b.snapshot(ctx, before)
		if err != nil {
			return err
		}
		r, err := reset(snap)
		if err != nil {
			return refusal{err}
		}
		run, err = b.requeue(ctx, before, r)
		return err
	})
	if err != nil {
		return engine.Run{}, err
	}
	return run, nil
}

func (b *batch) requeue(ctx context.Context, run engine.Run, r engine.Reset) (engine.Run, error) {
	for _, k := range r.Superseded {
		if _, err := b.exec(ctx, "UPDATE step_records SET superseded = ? WHERE run_id = ? AND address = ? AND round = ?", true, run.ID, k.Address, k.Round); err != nil {
			return run, fmt.Errorf("supersede %s of %s: %w", k.Address, run.ID, err)
		}
	}
	b.putRecords(run.ID, r.Records)
	input := run.Input
	if len(r.Input) > 0 {
		input = json.RawMessage(rawJSON(r.Input))
	}
	run, err := scanRun(b.row(ctx, "UPDATE runs SET status = 'queued', epoch = epoch + 1, error = '', output = '', ended_at = NULL, input = ? WHERE id = ? RETURNING "+runColumns, string(input), run.ID))
	if err != nil {
		return run, fmt.Errorf("requeue run: %w", err)
	}
	b.enqueue(run.ID, time.Now().Add(b.delay))
	b.due(run.ID)
	return run, nil
}

// Due implements [engine.Store].
func (s *Store) Due(ctx context.Context, grace time.Duration, limit int) ([]string, error) {
	now := s.sql.now()
	// Three questions, each with an index of its own: runs that wait for people may be
	// many, and are not looked at.
	query := "SELECT id FROM (" +
		"SELECT id, created_at AS at FROM runs WHERE status = 'queued' AND created_at <= " + now + " - ? UNION ALL " +
		"SELECT id, lease_until FROM runs WHERE status = 'running' AND (lease_until IS NULL OR lease_until <= " + now + ") UNION ALL " +
		"SELECT id, wake_at FROM runs WHERE wake_at IS NOT NULL AND wake_at <= " + now + " AND status IN ('waiting', 'pending_approval')" +
		") AS due ORDER BY at LIMIT ?"
	conn, err := s.db.Read(ctx).DB()
	if err != nil {
		return nil, fmt.Errorf("read handle: %w", err)
	}
	rows, err := conn.QueryContext(ctx, s.sql.bind(query), grace.Microseconds(), limit)
	if err != nil {
		return nil, fmt.Errorf("find due runs: %w", err)
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("find due runs: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

package gormstore

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"time"

	"sluice/engine"
	"sluice/models"
)

// CreateRun implements [engine.Store].
func (s *Store) CreateRun(ctx context.Context, n engine.NewRun) (run engine.Run, created bool, err error) {
	err = s.do(ctx, func(ctx context.Context, tx *sql.Tx) error {
		created = false
		if n.IdempotencyKey != "" {
			row := tx.QueryRowContext(ctx, s.bind("SELECT "+runColumns+" FROM runs WHERE account_id = ? AND workflow_id = ? AND idempotency_key = ?"),
				n.AccountID, n.WorkflowID, n.IdempotencyKey)
			switch run, err = scanRun(row); {
			case err == nil && bytes.Equal(run.Input, n.Input):
				return nil
			case err == nil:
				return refusal{&engine.ConflictError{Message: "Idempotency-Key was used before with another input"}}
			case err != sql.ErrNoRows: //nolint:errorlint // the driver's contract
				return fmt.Errorf("look up idempotency key: %w", err)
			}
		}
		run, created = n.Run, true
		run.Status = engine.RunQueued
		if err := s.insertRun(ctx, tx, run); err != nil {
			return err
		}
		if err := s.putRecords(ctx, tx, run.ID, n.Records); err != nil {
			return err
		}
		return s.enqueue(ctx, tx, run.ID, n.CreatedAt.Add(s.delay))
	})
	return run, created, err
}

func (s *Store) insertRun(ctx context.Context, tx *sql.Tx, r engine.Run) error {
	var key any
	if r.IdempotencyKey != "" {
		key = r.IdempotencyKey
	}
	_, err := s.exec(ctx, tx, "INSERT INTO runs ("+runColumns+", lease_owner) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,'')",
		r.ID, r.AccountID, r.WorkflowID, r.VersionID, r.DefinitionHash, string(r.Status), string(r.Input), string(r.Variables), "", "", "",
		key, toJSON(r.StartedBy), r.ParentRunID, r.ParentAddress, r.Depth, 0, 0, 0, nil, models.At(r.CreatedAt), nil, nil)
	if err != nil {
		return fmt.Errorf("insert run %s: %w", r.ID, err)
	}
	return nil
}

// Load implements [engine.Store].
func (s *Store) Load(ctx context.Context, accountID, runID string) (engine.Snapshot, error) {
	conn, err := s.db.Read(ctx).DB()
	if err != nil {
		return engine.Snapshot{}, fmt.Errorf("read handle: %w", err)
	}
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return engine.Snapshot{}, fmt.Errorf("begin read: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	run, err := s.find(ctx, tx, accountID, runID, false)
	if err != nil {
		return engine.Snapshot{}, err
	}
	return s.snapshot(ctx, tx, run)
}

// Claim implements [engine.Store].
func (s *Store) Claim(ctx context.Context, runID, owner string, lease time.Duration) (snap engine.Snapshot, err error) {
	err = s.do(ctx, func(ctx context.Context, tx *sql.Tx) error {
		before, err := s.find(ctx, tx, "", runID, true)
		if err != nil {
			return refusal{err}
		}
		if before.Status.Terminal() {
			return refusal{fmt.Errorf("run %s is %s: %w", runID, before.Status, engine.ErrNotRunnable)}
		}
		n, err := s.exec(ctx, tx, "UPDATE runs SET status = 'running', epoch = epoch + 1, lease_owner = ?, lease_until = "+s.now()+" + ?, wake_at = NULL, started_at = COALESCE(started_at, "+s.now()+
			") WHERE id = ? AND (status <> 'running' OR lease_until IS NULL OR lease_until <= "+s.now()+")", owner, micros(lease), runID)
		if err != nil {
			return fmt.Errorf("claim run %s: %w", runID, err)
		}
		if n == 0 {
			return refusal{fmt.Errorf("run %s is worked elsewhere: %w", runID, engine.ErrNotRunnable)}
		}
		run, err := s.find(ctx, tx, "", runID, false)
		if err != nil {
			return err
		}
		snap, err = s.snapshot(ctx, tx, run)
		snap.TakenOver = before.Status == engine.RunRunning
		return err
	})
	return snap, err
}

// Commit implements [engine.Store].
func (s *Store) Commit(ctx context.Context, t engine.Transition) (seq int64, err error) {
	err = s.do(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.fence(ctx, tx, t); err != nil {
			return err
		}
		if err := s.putRecords(ctx, tx, t.RunID, t.Records); err != nil {
			return err
		}
		for i := range t.OpenParks {
			if err := s.openPark(ctx, tx, t, &t.OpenParks[i]); err != nil {
				return err
			}
		}
		for _, c := range t.ClosePark {
			if err := s.closePark(ctx, tx, c, t.At); err != nil {
				return err
			}
		}
		if seq, err = s.advance(ctx, tx, t); err != nil {
			return err
		}
		if parked(t.Status) && !t.WakeAt.IsZero() {
			return s.enqueue(ctx, tx, t.RunID, t.WakeAt)
		}
		return nil
	})
	return seq, err
}

func parked(st engine.RunStatus) bool {
	return st == engine.RunPendingApproval || st == engine.RunWaiting
}

// fence checks everything that may refuse a transition, before anything is
// written.
func (s *Store) fence(ctx context.Context, tx *sql.Tx, t engine.Transition) error {
	query := "SELECT epoch, status, wakeups FROM runs WHERE id = ?"
	if s.db.Dialect == models.Postgres {
		query += " FOR UPDATE"
	}
	var epoch, wakeups int64
	var status string
	if err := tx.QueryRowContext(ctx, s.bind(query), t.RunID).Scan(&epoch, &status, &wakeups); err != nil {
		if err == sql.ErrNoRows {
			return refusal{fmt.Errorf("run %s: %w", t.RunID, engine.ErrNotFound)}
		}
		return fmt.Errorf("check the lease of %s: %w", t.RunID, err)
	}
	if epoch != t.Epoch || status != string(engine.RunRunning) {
		return refusal{fmt.Errorf("run %s: %w", t.RunID, engine.ErrLeaseLost)}
	}
	for _, c := range t.ClosePark {
		var park string
		if err := tx.QueryRowContext(ctx, s.bind("SELECT status FROM parks WHERE id = ?"), c.ID).Scan(&park); err != nil || park != "open" {
			return refusal{fmt.Errorf("park %s: %w", c.ID, engine.ErrWoken)}
		}
	}
	if parked(t.Status) && wakeups != t.Wakeups {
		return refusal{fmt.Errorf("run %s: %w", t.RunID, engine.ErrWoken)}
	}
	return nil
}

// advance writes the run's own row.
func (s *Store) advance(ctx context.Context, tx *sql.Tx, t engine.Transition) (seq int64, err error) {
	set := "span_seq = span_seq + ?"
	args := []any{t.Spans}
	if t.Usage != (engine.Usage{}) {
		var old string
		if err := tx.QueryRowContext(ctx, s.bind("SELECT usage FROM runs WHERE id = ?"), t.RunID).Scan(&old); err != nil {
			return 0, fmt.Errorf("read usage of %s: %w", t.RunID, err)
		}
		var sum engine.Usage
		if err := fromJSON(old, &sum); err != nil {
			return 0, err
		}
		set += ", usage = ?"
		args = append(args, usage(sum.Add(t.Usage)))
	}
	switch {
	case t.Status != "":
		set += ", status = ?, wake_at = ?, lease_owner = '', lease_until = NULL"
		args = append(args, string(t.Status), models.At(t.WakeAt))
		if t.Status.Terminal() {
			set += ", output = ?, error = ?, ended_at = ?"
			args = append(args, string(t.Output), stepError(t.Error), models.At(t.At))
		}
	case t.Lease > 0:
		set += ", lease_until = " + s.now() + " + ?"
		args = append(args, micros(t.Lease))
	}
	err = tx.QueryRowContext(ctx, s.bind("UPDATE runs SET "+set+" WHERE id = ? RETURNING span_seq"), append(args, t.RunID)...).Scan(&seq)
	if err != nil {
		return 0, fmt.Errorf("write run %s: %w", t.RunID, err)
	}
	return seq, nil
}

// Restart implements [engine.Store].
func (s *Store) Restart(ctx context.Context, accountID, runID string, reset func(engine.Snapshot) (engine.Reset, error)) (run engine.Run, err error) {
	err = s.do(ctx, func(ctx context.Context, tx *sql.Tx) error {
		before, err := s.find(ctx, tx, accountID, runID, true)
		if err != nil {
			return refusal{err}
		}
		snap, err := s.snapshot(ctx, tx, before)
		if err != nil {
			return err
		}
		r, err := reset(snap)
		if err != nil {
			return refusal{err}
		}
		for _, k := range r.Superseded {
			if _, err := s.exec(ctx, tx, "UPDATE step_records SET superseded = ? WHERE run_id = ? AND address = ? AND round = ?", true, runID, k.Address, k.Round); err != nil {
				return fmt.Errorf("supersede %s of %s: %w", k.Address, runID, err)
			}
		}
		if err := s.putRecords(ctx, tx, runID, r.Records); err != nil {
			return err
		}
		input := before.Input
		if len(r.Input) > 0 {
			input = r.Input
		}
		if _, err := s.exec(ctx, tx, "UPDATE runs SET status = 'queued', epoch = epoch + 1, error = '', output = '', ended_at = NULL, input = ? WHERE id = ?", string(input), runID); err != nil {
			return fmt.Errorf("requeue run %s: %w", runID, err)
		}
		if run, err = s.find(ctx, tx, accountID, runID, false); err != nil {
			return err
		}
		return s.enqueue(ctx, tx, runID, time.Now().Add(s.delay))
	})
	return run, err
}

// Due implements [engine.Store].
func (s *Store) Due(ctx context.Context, grace time.Duration, limit int) ([]string, error) {
	query := "SELECT id FROM runs WHERE status IN ('queued', 'running', 'waiting', 'pending_approval') AND (" +
		"(status = 'queued' AND created_at <= " + s.now() + " - ?) OR " +
		"(status = 'running' AND (lease_until IS NULL OR lease_until <= " + s.now() + ")) OR " +
		"(status IN ('waiting', 'pending_approval') AND wake_at IS NOT NULL AND wake_at <= " + s.now() + ")) ORDER BY created_at LIMIT ?"
	conn, err := s.db.Read(ctx).DB()
	if err != nil {
		return nil, fmt.Errorf("read handle: %w", err)
	}
	rows, err := conn.QueryContext(ctx, s.bind(query), micros(grace), limit)
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

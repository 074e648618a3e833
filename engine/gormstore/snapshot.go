package gormstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"sluice/engine"
	"sluice/models"
)

// readOnly is a transaction outside of the groups.
type readOnly struct {
	*Store
	tx *sql.Tx
}

func (r readOnly) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return r.tx.QueryContext(ctx, r.sql.bind(query), args...)
}

func (r readOnly) row(ctx context.Context, query string, args ...any) *sql.Row {
	return r.tx.QueryRowContext(ctx, r.sql.bind(query), args...)
}

// Load implements [engine.Store].
func (s *Store) Load(ctx context.Context, accountID, runID string) (engine.Snapshot, error) {
	conn, err := s.db.Read(ctx).DB()
	if err != nil {
		return engine.Snapshot{}, fmt.Errorf("read handle: %w", err)
	}
	o := &sql.TxOptions{ReadOnly: true}
	if s.db.Dialect == models.Postgres {
		// So that run, records and parks are of one moment. On SQLite they are anyway.
		o.Isolation = sql.LevelRepeatableRead
	}
	tx, err := conn.BeginTx(ctx, o)
	if err != nil {
		return engine.Snapshot{}, fmt.Errorf("begin read: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	q := readOnly{s, tx}
	run, err := find(ctx, q, accountID, runID)
	if err != nil {
		return engine.Snapshot{}, err
	}
	return snapshot(ctx, q, run)
}

// snapshot is the run as the group sees it, what it has held back included.
func (b *batch) snapshot(ctx context.Context, run engine.Run) (engine.Snapshot, error) {
	if err := b.settle(ctx, run.ID); err != nil {
		return engine.Snapshot{}, err
	}
	return snapshot(ctx, b, run)
}

// snapshot reads a run with its records and open parks.
func snapshot(ctx context.Context, q reader, run engine.Run) (engine.Snapshot, error) {
	snap := engine.Snapshot{Run: run}
	rows, err := q.query(ctx, "SELECT "+recordColumns+" FROM step_records WHERE run_id = ? ORDER BY seq, round", run.ID)
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
	snap.Parks, err = openParks(ctx, q, run.ID)
	return snap, err
}

func openParks(ctx context.Context, q reader, runID string) ([]engine.Park, error) {
	rows, err := q.query(ctx, "SELECT body FROM parks WHERE run_id = ? AND status = 'open' ORDER BY id", runID)
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

// findRun is the query for a run of an account; "" is any.
func findRun(accountID, runID string) (query string, args []any) {
	query = "SELECT " + runColumns + " FROM runs WHERE id = ?"
	if accountID == "" {
		return query, []any{models.Clean(runID)}
	}
	return query + " AND account_id = ?", []any{models.Clean(runID), accountID}
}

// find reads a run.
func find(ctx context.Context, q reader, accountID, runID string) (engine.Run, error) {
	query, args := findRun(accountID, runID)
	return found(q.row(ctx, query, args...), runID)
}

// lock reads a run and keeps it from changing until the group is committed. If there
// is none the error is a refusal.
func (b *batch) lock(ctx context.Context, accountID, runID string) (engine.Run, error) {
	query, args := findRun(accountID, runID)
	run, err := found(b.row(ctx, b.sql.forUpdate(query), args...), runID)
	if errors.Is(err, engine.ErrNotFound) {
		err = refusal{err}
	}
	return run, err
}

func found(row *sql.Row, runID string) (engine.Run, error) {
	run, err := scanRun(row)
	if errors.Is(err, sql.ErrNoRows) {
		return run, fmt.Errorf("run %s: %w", runID, engine.ErrNotFound)
	}
	if err != nil {
		return run, fmt.Errorf("read run %s: %w", runID, err)
	}
	return run, nil
}

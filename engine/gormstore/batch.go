package gormstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"sluice/engine"
	"sluice/models"
)

// batch is the transaction of a group. It holds back step records and jobs, to write
// them together at the end: fewer statements, and only the last of several states
// of a step.
type batch struct {
	*Store
	tx      *sql.Tx
	records []heldRecord
	index   map[heldKey]int
	runs    map[string]bool // that have records here
	fences  map[string]fenceRow
	jobs    map[string]time.Time
	news    news
}

type heldKey struct {
	runID string
	engine.RecordKey
}

type heldRecord struct {
	runID string
	rec   engine.Record
}

func newBatch(s *Store, tx *sql.Tx) *batch {
	return &batch{Store: s, tx: tx, index: map[heldKey]int{}, runs: map[string]bool{}, jobs: map[string]time.Time{}, news: news{map[string]bool{}, map[string]bool{}}}
}

// exec runs a statement and returns how many rows it changed.
func (b *batch) exec(ctx context.Context, query string, args ...any) (int64, error) {
	var res sql.Result
	var err error
	if st := b.sql.in(ctx, b.tx, query); st != nil { //nolint:sqlclosecheck // the transaction's end closes it
		res, err = st.ExecContext(ctx, args...)
	} else {
		res, err = b.tx.ExecContext(ctx, b.sql.bind(query), args...)
	}
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (b *batch) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if st := b.sql.in(ctx, b.tx, query); st != nil { //nolint:sqlclosecheck // the transaction's end closes it
		return st.QueryContext(ctx, args...)
	}
	return b.tx.QueryContext(ctx, b.sql.bind(query), args...)
}

func (b *batch) row(ctx context.Context, query string, args ...any) *sql.Row {
	if st := b.sql.in(ctx, b.tx, query); st != nil { //nolint:sqlclosecheck // the transaction's end closes it
		return st.QueryRowContext(ctx, args...)
	}
	return b.tx.QueryRowContext(ctx, b.sql.bind(query), args...)
}

// putRecords upserts records of a run by the end of the group.
func (b *batch) putRecords(runID string, records []engine.Record) {
	for i := range records {
		b.runs[runID] = true
		key := heldKey{runID, records[i].Key()}
		if at, ok := b.index[key]; ok {
			b.records[at].rec = records[i]
			continue
		}
		b.index[key] = len(b.records)
		b.records = append(b.records, heldRecord{runID, records[i]})
	}
}

// enqueue leaves a job for the end of the group. Of several for a run the earliest
// counts: whoever works the run then asks for what comes later.
func (b *batch) enqueue(runID string, at time.Time) {
	if old, ok := b.jobs[runID]; !ok || at.Before(old) {
		b.jobs[runID] = at
	}
}

// settle writes the records held back for a run, before they are read.
func (b *batch) settle(ctx context.Context, runID string) error {
	if !b.runs[runID] {
		return nil
	}
	return b.flush(ctx)
}

// finish writes everything held back.
func (b *batch) finish(ctx context.Context) error {
	if err := b.flush(ctx); err != nil {
		return err
	}
	if b.Store.jobs != nil && len(b.jobs) > 0 {
		if err := b.Store.jobs.Enqueue(ctx, b.tx, b.jobs); err != nil {
			return fmt.Errorf("enqueue %d runs: %w", len(b.jobs), err)
		}
	}
	return b.ping(ctx)
}

// upserts are statements for so many records each: few forms, so that each is
// prepared once.
var upserts = []struct {
	records int
	query   string
}{{64, upsert(64)}, {16, upsert(16)}, {4, upsert(4)}, {1, upsert(1)}}

func upsert(records int) string {
	row := "(" + strings.TrimSuffix(strings.Repeat("?,", recordWidth), ",") + ")"
	var sets []string
	for c := range strings.SplitSeq(recordColumns, ", ") {
		if c != "run_id" && c != "address" && c != "round" {
			sets = append(sets, c+" = excluded."+c)
		}
	}
	return "INSERT INTO step_records (" + recordColumns + ") VALUES " + strings.TrimSuffix(strings.Repeat(row+",", records), ",") +
		" ON CONFLICT (run_id, address, round) DO UPDATE SET " + strings.Join(sets, ", ")
}

// flush writes the records held back.
func (b *batch) flush(ctx context.Context) error {
	left := b.records
	for _, u := range upserts {
		for len(left) >= u.records {
			args := make([]any, 0, u.records*recordWidth)
			for i := range left[:u.records] {
				args = appendRecord(args, left[i].runID, &left[i].rec)
			}
			if _, err := b.exec(ctx, u.query, args...); err != nil {
				return fmt.Errorf("write steps of %s and others: %w", left[0].runID, err)
			}
			left = left[u.records:]
		}
	}
	b.records = nil
	clear(b.index)
	clear(b.runs)
	return nil
}

func (b *batch) audit(ctx context.Context, accountID string, by engine.Actor, action, subject string, detail map[string]any, at time.Time) error {
	_, err := b.exec(ctx, "INSERT INTO audit_events (id, account_id, actor, action, subject, detail, created_at) VALUES (?,?,?,?,?,?,?)",
		models.NewID(), accountID, toJSON(by), action, subject, toJSON(detail), models.At(at))
	if err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	return nil
}

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/models"
)

// measureLimits is what the database gives a bare driver: the bounds of any engine.
func measureLimits(ctx context.Context, b *bench) error {
	w, err := newGroupWriter(ctx, b.db)
	if err != nil {
		return err
	}
	commits, err := timed(1_000, func() error { return w.write(ctx, []floorRow{{run: "r", step: 1, body: benchInput}}) })
	if err != nil {
		return err
	}
	b.add("limit", "one row a commit", float64(len(commits))/total(commits).Seconds(), "commits/s", 0, 0)
	group := make([]floorRow, 1_000)
	for i := range group {
		group[i] = floorRow{run: "r", step: i, body: benchInput}
	}
	groups, err := timed(20, func() error { return w.write(ctx, group) })
	if err != nil {
		return err
	}
	b.add("limit", "1,000 rows a commit", float64(len(group)*len(groups))/total(groups).Seconds(), "rows/s", 0, 0)
	return nil
}

func total(times []time.Duration) (sum time.Duration) {
	for _, t := range times {
		sum += t
	}
	return sum
}

// floorRow is a step as the floor stores it.
type floorRow struct {
	run  string
	step int
	body string
}

// groupWriter commits whatever has queued, in one transaction.
type groupWriter struct {
	db      *models.DB
	pending chan floorWrite
}

type floorWrite struct {
	row  floorRow
	done chan error
}

func newGroupWriter(ctx context.Context, db *models.DB) (*groupWriter, error) {
	for _, q := range []string{"DROP TABLE IF EXISTS bench_floor", "CREATE TABLE bench_floor (run TEXT NOT NULL, step BIGINT NOT NULL, body TEXT NOT NULL)"} {
		if _, err := db.SQL().ExecContext(ctx, q); err != nil {
			return nil, fmt.Errorf("make the table of the floor: %w", err)
		}
	}
	return &groupWriter{db: db, pending: make(chan floorWrite, 1024)}, nil
}

// write inserts rows in one transaction.
func (w *groupWriter) write(ctx context.Context, rows []floorRow) (err error) {
	tx, err := w.db.SQL().BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	for chunk := range slices.Chunk(rows, 100) {
		if err := w.insert(ctx, tx, chunk); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (w *groupWriter) insert(ctx context.Context, tx *sql.Tx, rows []floorRow) error {
	var q strings.Builder
	q.WriteString("INSERT INTO bench_floor (run, step, body) VALUES ")
	args := make([]any, 0, 3*len(rows))
	for i, r := range rows {
		if i > 0 {
			q.WriteByte(',')
		}
		if w.db.Dialect == models.Postgres {
			n := 3 * i
			q.WriteString("($" + strconv.Itoa(n+1) + ",$" + strconv.Itoa(n+2) + ",$" + strconv.Itoa(n+3) + ")")
		} else {
			q.WriteString("(?,?,?)")
		}
		args = append(args, r.run, r.step, r.body)
	}
	_, err := tx.ExecContext(ctx, q.String(), args...)
	return err
}

// serve writes what has queued until the channel is closed.
func (w *groupWriter) serve(ctx context.Context) {
	for first := range w.pending {
		group := []floorWrite{first}
		for more := true; more && len(group) < 1_000; {
			select {
			case next, ok := <-w.pending:
				if more = ok; ok {
					group = append(group, next)
				}
			default:
				more = false
			}
		}
		rows := make([]floorRow, len(group))
		for i := range group {
			rows[i] = group[i].row
		}
		err := w.write(ctx, rows)
		for _, g := range group {
			g.done <- err
		}
	}
}

// floorOf is the time in milliseconds of a work without an engine: in each of so
// many chains, so many times, decode, compute, encode, and wait for the writer.
func floorOf(ctx context.Context, b *bench, chains, steps, rounds int) (float64, error) {
	w, err := newGroupWriter(ctx, b.db)
	if err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.serve(ctx)
	}()
	times, err := timed(rounds, func() error {
		g, _ := errgroup.WithContext(ctx)
		for c := range chains {
			g.Go(func() error { return w.chain("run "+strconv.Itoa(c), steps) })
		}
		return g.Wait()
	})
	close(w.pending)
	<-ended
	if err != nil {
		return 0, err
	}
	return quantile(times, 0.5), nil
}

func (w *groupWriter) chain(run string, steps int) error {
	body := benchInput
	done := make(chan error, 1)
	for i := range steps {
		var v map[string]any
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			return err
		}
		out, err := json.Marshal(map[string]any{"value": v["value"]})
		if err != nil {
			return err
		}
		body = string(out)
		w.pending <- floorWrite{floorRow{run, i, body}, done}
		if err := <-done; err != nil {
			return err
		}
	}
	return nil
}

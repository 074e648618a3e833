package gormstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"sluice/models"
)

// write is a change that waits for its group.
type write struct {
	apply func(ctx context.Context, b *batch) error
	// runID is the run whose lease the write checks first, or empty.
	runID  string
	result chan error
}

// errStopped is what writes get before Start and after Stop.
var errStopped = errors.New("the store is not running")

const (
	// maxGroup bounds the writes of one transaction.
	maxGroup = 256
	// writeTimeout bounds one group, the wait for the database included.
	writeTimeout = 30 * time.Second
	// maxTries bounds how often a write is tried that others stand in the way of.
	maxTries = 5
)

// do hands a write to the next group and waits for it. A write that was handed over
// happens even if ctx ends: a caller's impatience must not leave its outcome unknown.
func (s *Store) do(ctx context.Context, apply func(ctx context.Context, b *batch) error) error {
	return s.doFenced(ctx, "", apply)
}

// doFenced is do for a write that begins with the fence of a run.
func (s *Store) doFenced(ctx context.Context, runID string, apply func(ctx context.Context, b *batch) error) error {
	w := &write{apply: apply, runID: runID, result: make(chan error, 1)}
	if err := s.send(ctx, w); err != nil {
		return err
	}
	return <-w.result
}

func (s *Store) send(ctx context.Context, w *write) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if !s.started || s.stopped {
		return errStopped
	}
	select {
	case s.writes <- w:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run commits group after group until the channel is closed and empty.
func (s *Store) run() {
	defer close(s.done)
	defer s.sql.close()
	for first := range s.writes {
		began := time.Now()
		group := s.gather(first)
		s.commit(group)
		s.groups(len(group), time.Since(began))
		s.sql.prepare()
	}
}

// gather takes what is waiting already.
func (s *Store) gather(first *write) []*write {
	group := []*write{first}
	for len(group) < maxGroup {
		select {
		case w, ok := <-s.writes:
			if !ok {
				return group
			}
			group = append(group, w)
		default:
			return group
		}
	}
	return group
}

// commit writes a group in one transaction, or one by one if one of its writes is
// at fault.
func (s *Store) commit(group []*write) {
	results, err := s.try(group)
	if err == nil {
		for i, w := range group {
			w.result <- results[i]
		}
		return
	}
	if unknown(err) {
		for _, w := range group {
			w.result <- err
		}
		return
	}
	for _, w := range group {
		w.result <- s.alone(w, err)
	}
}

// alone tries a write by itself, after it or its group has failed with an error that
// left nothing behind.
func (s *Store) alone(w *write, err error) error {
	for tries := 1; tries < maxTries; tries++ {
		var results []error
		if results, err = s.try([]*write{w}); err == nil {
			return results[0]
		}
		if unknown(err) || !inTheWay(err) {
			return err
		}
	}
	return err
}

// inTheWay reports an error that comes from transactions at the same time.
func inTheWay(err error) bool {
	const serialization, deadlock = "40001", "40P01"
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == serialization || pg.Code == deadlock)
}

// commitError is a failure of the commit itself: what the group wrote may be there.
type commitError struct{ err error }

func (e commitError) Error() string { return "commit: " + e.err.Error() }
func (e commitError) Unwrap() error { return e.err }

func unknown(err error) bool {
	var c commitError
	return errors.As(err, &c)
}

// refusal marks an error after which nothing of a write is in the transaction.
type refusal struct{ err error }

func (r refusal) Error() string { return r.err.Error() }
func (r refusal) Unwrap() error { return r.err }

// try runs a group in one transaction. A refused write does not fail the group; its
// error is among the results.
func (s *Store) try(group []*write) ([]error, error) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	conn, err := s.db.SQL().Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("reach the database: %w", err)
	}
	defer conn.Close() //nolint:errcheck // it only goes back to its pool
	if s.db.Dialect == models.SQLite {
		// A statement on a local file needs no deadline, and is cheaper without one.
		ctx = context.Background()
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	b := newBatch(s, tx)
	results, err := b.apply(ctx, group)
	if err != nil {
		return nil, err
	}
	if err := tx.Commit(); err != nil {
		return nil, commitError{err}
	}
	return results, nil
}

// apply runs the writes of a group, and then what they have left for its end.
func (b *batch) apply(ctx context.Context, group []*write) ([]error, error) {
	results := make([]error, len(group))
	each := func(fenced bool) error {
		for i, w := range group {
			if (w.runID != "") != fenced {
				continue
			}
			err := safely(func() error { return w.apply(ctx, b) })
			var r refusal
			switch {
			case err == nil:
			case errors.As(err, &r):
				results[i] = r.err
			default:
				return err
			}
		}
		return nil
	}
	// The writes of a group are at the same time: their callers all wait. So those that
	// may change who has a run come first, and the fences of the others are read at once.
	if err := each(false); err != nil {
		return nil, err
	}
	if err := b.readFences(ctx, group); err != nil {
		return nil, err
	}
	if err := each(true); err != nil {
		return nil, err
	}
	return results, b.finish(ctx)
}

// safely keeps a panic of one write from ending the goroutine that all depend on.
func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a write: %v", p)
		}
	}()
	return f()
}

// reader is where queries go: a group's transaction, or one that only reads.
type reader interface {
	query(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	row(ctx context.Context, query string, args ...any) *sql.Row
}

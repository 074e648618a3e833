// Package gormstore keeps runs in a database: it is [engine.Store] on models.
//
// Writes are grouped. One goroutine takes every write that is waiting and commits
// them in one transaction, so that many runs share one wait for the disk. Inside
// of a group each write first checks its fence (the run's epoch, the park's
// status); one that is refused has written nothing and does not disturb the
// others. If the group fails as a whole, its writes are tried one by one.
//
// Records are written with plain SQL: a run's hot path makes no use of reflection.
package gormstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"sluice/engine"
	"sluice/models"
)

// Enqueuer stores, in a transaction, the job that works a run at a time if nobody
// has until then.
type Enqueuer interface {
	Enqueue(ctx context.Context, tx *sql.Tx, runID string, at time.Time) error
}

// Store implements [engine.Store] and [engine.DefinitionSource].
type Store struct {
	db   *models.DB
	jobs Enqueuer
	// delay is how long the durable job gives the process that commits a start or an
	// answer to work the run itself.
	delay time.Duration

	writes chan *write
	mu     sync.Mutex
	closed bool
	done   chan struct{}
	groups func(size int, took time.Duration)
}

var (
	_ engine.Store            = (*Store)(nil)
	_ engine.DefinitionSource = (*Store)(nil)
)

// Options change a store.
type Options struct {
	// Jobs stores the durable second path of dispatch. Nil: none.
	Jobs Enqueuer
	// Delay of those jobs. 0: at once, for processes that do not work runs.
	Delay time.Duration
	// Groups is told of every group commit.
	Groups func(size int, took time.Duration)
}

// New returns a store. Start it before use.
func New(db *models.DB, o Options) *Store {
	if o.Groups == nil {
		o.Groups = func(int, time.Duration) {}
	}
	return &Store{db: db, jobs: o.Jobs, delay: o.Delay, writes: make(chan *write, 1024), done: make(chan struct{}), groups: o.Groups}
}

// write is a change that waits for its group.
type write struct {
	apply  func(ctx context.Context, tx *sql.Tx) error
	result chan error
}

// errClosed is what writes after Stop get.
var errClosed = errors.New("the store is stopped")

// Start starts the goroutine that commits.
func (s *Store) Start(context.Context) error {
	go s.run()
	return nil
}

// Stop commits what is waiting and ends the goroutine. Safe to call twice.
func (s *Store) Stop(context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.writes)
	}
	s.mu.Unlock()
	<-s.done
	return nil
}

// maxGroup bounds the writes of one transaction.
const maxGroup = 256

// writeTimeout bounds one group, the wait for the database included.
const writeTimeout = 30 * time.Second

func (s *Store) run() {
	defer close(s.done)
	for first := range s.writes {
		group := []*write{first}
		for more := true; more && len(group) < maxGroup; {
			select {
			case w, ok := <-s.writes:
				if more = ok; ok {
					group = append(group, w)
				}
			default:
				more = false
			}
		}
		s.commit(group)
	}
}

// commit writes a group in one transaction, or one by one if that fails.
func (s *Store) commit(group []*write) {
	began := time.Now()
	results, err := s.try(group)
	if err != nil && len(group) > 1 {
		for _, w := range group {
			one, err := s.try([]*write{w})
			if err != nil {
				w.result <- err
				continue
			}
			w.result <- one[0]
		}
	} else {
		for i, w := range group {
			if err != nil {
				w.result <- err
				continue
			}
			w.result <- results[i]
		}
	}
	s.groups(len(group), time.Since(began))
}

// refusal marks an error after which nothing of a write is in the transaction.
type refusal struct{ err error }

func (r refusal) Error() string { return r.err.Error() }
func (r refusal) Unwrap() error { return r.err }

// try runs a group in one transaction. A refused write does not fail the group.
func (s *Store) try(group []*write) ([]error, error) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	tx, err := s.db.SQL().BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	results := make([]error, len(group))
	for i, w := range group {
		err := safely(func() error { return w.apply(ctx, tx) })
		var r refusal
		switch {
		case err == nil:
		case errors.As(err, &r):
			results[i] = r.err
		default:
			return nil, err
		}
	}
	if err := tx.Commit(); err != nil {
		return nil, fmt.Errorf("commit: %w", err)
	}
	return results, nil
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

// do hands a write to the next group and waits for it. The write happens even if
// ctx ends: half of a caller's patience must not leave its outcome unknown.
func (s *Store) do(ctx context.Context, apply func(ctx context.Context, tx *sql.Tx) error) error {
	w := &write{apply: apply, result: make(chan error, 1)}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errClosed
	}
	select {
	case s.writes <- w:
		s.mu.Unlock()
	case <-ctx.Done():
		s.mu.Unlock()
		return ctx.Err()
	}
	return <-w.result
}

// exec runs a statement written with "?" in the dialect.
func (s *Store) exec(ctx context.Context, tx *sql.Tx, query string, args ...any) (int64, error) {
	res, err := tx.ExecContext(ctx, s.bind(query), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// bind numbers the placeholders for PostgreSQL.
func (s *Store) bind(query string) string {
	if s.db.Dialect != models.Postgres {
		return query
	}
	out := make([]byte, 0, len(query)+32)
	n := 0
	for i := 0; i < len(query); i++ {
		if query[i] != '?' {
			out = append(out, query[i])
			continue
		}
		n++
		out = append(out, '$')
		out = appendInt(out, n)
	}
	return string(out)
}

func appendInt(b []byte, n int) []byte { return fmt.Appendf(b, "%d", n) }

// now is the database's clock in microseconds, as an SQL expression. Leases are
// compared by it, so that servers with wrong clocks agree.
func (s *Store) now() string {
	if s.db.Dialect == models.Postgres {
		return "(extract(epoch from clock_timestamp())*1000000)::bigint"
	}
	return "CAST(unixepoch('subsec')*1000000 AS INTEGER)"
}

func (s *Store) enqueue(ctx context.Context, tx *sql.Tx, runID string, at time.Time) error {
	if s.jobs == nil {
		return nil
	}
	if err := s.jobs.Enqueue(ctx, tx, runID, at); err != nil {
		return fmt.Errorf("enqueue run %s: %w", runID, err)
	}
	return nil
}

// Definition implements [engine.DefinitionSource].
func (s *Store) Definition(ctx context.Context, hash string) (json.RawMessage, error) {
	body, err := s.db.DefinitionBody(ctx, hash)
	if errors.Is(err, models.ErrNotFound) {
		return nil, fmt.Errorf("definition %s: %w", hash, engine.ErrNotFound)
	}
	return json.RawMessage(body), err
}

// Package gormstore keeps runs in a database: it is [engine.Store] on models.
//
// Writes are grouped. One goroutine takes every write that is waiting and commits
// them in one transaction, so that many runs share one wait for the disk. Inside
// of a group each write first checks its fence (the run's epoch, the park's
// status); one that is refused has written nothing and does not disturb the
// others. Step records and jobs of a group are written together, at its end. If
// the group fails before its commit, its writes are tried one by one; if the
// commit itself fails nobody knows what became of it, and every caller is told so.
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

// Enqueuer stores jobs in a transaction: each works a run at a time, if nobody has
// until then.
type Enqueuer interface {
	Enqueue(ctx context.Context, tx *sql.Tx, runs map[string]time.Time) error
}

// Store implements [engine.Store] and [engine.DefinitionSource].
type Store struct {
	db   *models.DB
	jobs Enqueuer
	// delay is how long the durable job gives the process that commits a start or an
	// answer to work the run itself.
	delay time.Duration
	// webOnly: another process works the runs.
	webOnly bool
	sql     statements

	writes chan *write
	groups func(size int, took time.Duration)

	mu      sync.RWMutex // senders to writes share it; Start and Stop own it
	started bool
	stopped bool
	done    chan struct{}
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
	// WebOnly tells the other servers that this process does not work runs, so that
	// one of them does.
	WebOnly bool
	// Groups is told of every group commit.
	Groups func(size int, took time.Duration)
}

// New returns a store. Start it before use.
func New(db *models.DB, o Options) *Store {
	if o.Groups == nil {
		o.Groups = func(int, time.Duration) {}
	}
	return &Store{
		db: db, jobs: o.Jobs, delay: o.Delay, webOnly: o.WebOnly, groups: o.Groups, sql: newStatements(db),
		writes: make(chan *write, 1024), done: make(chan struct{}),
	}
}

// Start starts the goroutine that commits. Safe to call twice.
func (s *Store) Start(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errStopped
	}
	if !s.started {
		s.started = true
		go s.run()
	}
	return nil
}

// Stop commits what is waiting and ends the goroutine, or returns an error when ctx
// ends first. Safe to call twice, and without Start.
func (s *Store) Stop(ctx context.Context) error {
	s.mu.Lock()
	running := s.started
	if !s.stopped {
		s.stopped = true
		close(s.writes)
	}
	s.mu.Unlock()
	if !running {
		return nil
	}
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop the store: %w", ctx.Err())
	}
}

// Definition implements [engine.DefinitionSource].
func (s *Store) Definition(ctx context.Context, hash string) (json.RawMessage, error) {
	body, err := s.db.DefinitionBody(ctx, hash)
	if errors.Is(err, models.ErrNotFound) {
		return nil, fmt.Errorf("definition %s: %w", hash, engine.ErrNotFound)
	}
	return json.RawMessage(body), err
}

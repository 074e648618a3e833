// Package jobs is the durable second path of dispatch, and the timers, on River.
//
// The process that commits a start or an answer works the run itself, at once. The
// job written in the same transaction comes due a little later and finds nothing to
// do, unless that process has died, was full, or does not work runs. Timers further
// off than a process may live are jobs too. A sweeper looks for what slipped
// through both: runs whose lease has expired above all.
//
// A run may have several jobs, and they are not kept unique: a timer far off must
// not swallow the job that is due soon. One that finds nothing to do costs a read.
package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"

	"sluice/models"
)

// Runner works runs. [engine.Engine] is one.
type Runner interface {
	// RunSegment works a run until it ends or parks; nil if there is nothing to do.
	RunSegment(ctx context.Context, runID string) error
	// Dispatch asks for a segment without waiting for it.
	Dispatch(runID string)
}

// DueSource lists runs that need a segment now.
type DueSource interface {
	Due(ctx context.Context, grace time.Duration, limit int) ([]string, error)
}

// RunArgs are the arguments of a job that works a run.
type RunArgs struct {
	RunID string `json:"run_id"`
}

// Kind implements River's job interface.
func (RunArgs) Kind() string { return "run" }

// Options change a queue.
type Options struct {
	Logger *slog.Logger
	// Workers bounds the jobs worked at once. Default 32.
	Workers int
	// Sweep is how often the sweeper looks, Grace how long a queued run is left to
	// the process that stored it. Defaults 5 s and 10 s.
	Sweep time.Duration
	Grace time.Duration
}

// Queue stores jobs in transactions, and works them once started.
type Queue struct {
	db     *models.DB
	o      Options
	insert *river.Client[*sql.Tx]
	worker *worker

	stopWork func(context.Context) error
	cancel   context.CancelFunc
	sweeping sync.WaitGroup
}

// worker is River's view of the runner, which is set by Start.
type worker struct {
	river.WorkerDefaults[RunArgs]
	db     *models.DB
	runner Runner
}

// Work implements River's worker interface. Most jobs come when their run has been
// worked long since: one that rests now is not claimed only to be parked again.
func (w *worker) Work(ctx context.Context, job *river.Job[RunArgs]) error {
	if w.runner == nil {
		return errors.New("this process does not work runs")
	}
	awaits, err := w.db.RunAwaitsWork(ctx, job.Args.RunID)
	if err != nil || !awaits {
		return err
	}
	if err := w.runner.RunSegment(ctx, job.Args.RunID); err != nil {
		return fmt.Errorf("work run %s: %w", job.Args.RunID, err)
	}
	return nil
}

// Timeout implements River's worker interface: a segment bounds its own steps.
func (*worker) Timeout(*river.Job[RunArgs]) time.Duration { return -1 }

// New returns a queue that inserts. Start makes it work.
func New(db *models.DB, o Options) (*Queue, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Workers == 0 {
		o.Workers = 32
	}
	if o.Sweep == 0 {
		o.Sweep = 5 * time.Second
	}
	if o.Grace == 0 {
		o.Grace = 10 * time.Second
	}
	q := &Queue{db: db, o: o, worker: &worker{db: db}}
	var err error
	if db.Dialect == models.SQLite {
		q.insert, err = river.NewClient(riversqlite.New(db.SQL()), q.config(true))
	} else {
		// Inside of a database/sql transaction only this driver can insert; working with
		// it would poll, so that is left to the native one.
		q.insert, err = river.NewClient(riverdatabasesql.New(db.SQL()), q.config(false))
	}
	if err != nil {
		return nil, fmt.Errorf("set up the queue: %w", err)
	}
	return q, nil
}

func (q *Queue) config(work bool) *river.Config {
	c := &river.Config{Logger: quiet(q.o.Logger)}
	if !work {
		return c
	}
	c.Workers = river.NewWorkers()
	river.AddWorker(c.Workers, q.worker)
	c.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: q.o.Workers}}
	c.FetchCooldown, c.FetchPollInterval = 20*time.Millisecond, time.Second
	c.JobTimeout = -1
	c.CompletedJobRetentionPeriod = time.Minute
	return c
}

// quiet keeps River's own chatter to warnings.
func quiet(l *slog.Logger) *slog.Logger { return slog.New(warnings{l.Handler()}) }

type warnings struct{ slog.Handler }

// Enabled implements [slog.Handler].
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler].
func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }

// Enqueue stores, in a transaction, the jobs that work runs, each at its time.
func (q *Queue) Enqueue(ctx context.Context, tx *sql.Tx, runs map[string]time.Time) error {
	params := make([]river.InsertManyParams, 0, len(runs))
	for id, at := range runs {
		params = append(params, river.InsertManyParams{Args: RunArgs{RunID: id}, InsertOpts: &river.InsertOpts{ScheduledAt: at}})
	}
	if _, err := q.insert.InsertManyFastTx(ctx, tx, params); err != nil {
		return fmt.Errorf("insert jobs: %w", err)
	}
	return nil
}

// Start works jobs with the runner, and recovers at once what is due.
func (q *Queue) Start(ctx context.Context, runner Runner, due DueSource) error {
	q.worker.runner = runner
	var err error
	if q.db.Dialect == models.SQLite {
		err = startClient(q, q.insert, ctx)
	} else {
		var client *river.Client[pgx.Tx]
		if client, err = newClient(riverpgxv5.New(q.db.Pool()), q.config(true)); err == nil {
			err = startClient(q, client, ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("start the queue: %w", err)
	}
	sweep, cancel := context.WithCancel(context.WithoutCancel(ctx))
	q.cancel = cancel
	q.sweeping.Go(func() { q.sweep(sweep, runner, due) })
	return nil
}

func newClient[T any](d riverdriver.Driver[T], c *river.Config) (*river.Client[T], error) {
	return river.NewClient(d, c)
}

func startClient[T any](q *Queue, c *river.Client[T], ctx context.Context) error { //nolint:revive // a method can't have type parameters
	if err := c.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	q.stopWork = c.StopAndCancel
	return nil
}

// Stop ends working and sweeping. Safe to call twice, and without Start.
func (q *Queue) Stop(ctx context.Context) error {
	if q.cancel != nil {
		q.cancel()
		q.sweeping.Wait()
	}
	if q.stopWork == nil {
		return nil
	}
	if err := q.stopWork(ctx); err != nil {
		return fmt.Errorf("stop the queue: %w", err)
	}
	return nil
}

// sweepLimit bounds the runs taken up by one sweep.
const sweepLimit = 1_000

// sweep dispatches what is due, at once and then again and again.
func (q *Queue) sweep(ctx context.Context, runner Runner, due DueSource) {
	tick := time.NewTicker(q.o.Sweep)
	defer tick.Stop()
	for grace := time.Duration(0); ; grace = q.o.Grace {
		ids, err := due.Due(ctx, grace, sweepLimit)
		if err != nil && ctx.Err() == nil {
			q.o.Logger.Warn("sweep failed", "err", err)
		}
		for _, id := range ids {
			runner.Dispatch(id)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Config is what an engine needs. Store, Definitions and Registry are required.
type Config struct {
	Store       Store
	Definitions DefinitionSource
	Registry    *Registry
	Tracer      Tracer
	Logger      *slog.Logger
	// Owner names this process in leases. Default: a fresh id.
	Owner string
	// Now and Jitter are the clock and the randomness. Jitter returns a number in [0, n).
	Now    func() time.Time
	Jitter func(n int64) int64
	NewID  func() string
	// Lease is how long a run stays with a segment that is not heard of. It is
	// renewed at a third. Default 30 s.
	Lease time.Duration
	// MaxSegments bounds the runs worked at once, MaxEffects the attempts in flight
	// per run. Defaults 256 and 32.
	MaxSegments int
	MaxEffects  int
	// Grace is how long Stop lets attempts in flight go on. Default 10 s.
	Grace  time.Duration
	Limits Limits
}

// Engine runs workflows. Make one with New, Start it, and Stop it.
type Engine struct {
	cfg Config

	mu      sync.Mutex
	started bool
	active  map[string]*activeRun
	waiting []string // dispatched, no free place yet
	queued  map[string]bool
	timers  map[string]*time.Timer
	waiters map[string][]chan Run

	plans programCache

	segments sync.WaitGroup
	attempts sync.WaitGroup
	stopping chan struct{} // closed: segments wind up
	stopNow  chan struct{} // closed: nothing is waited for any more
	stopOnce sync.Once
	stuck    atomic.Int64
}

// activeRun is a run that has a segment in this process.
type activeRun struct {
	nudge chan struct{}
	again bool
	// last is the run as it was announced last since its claim.
	last *Run
}

// New returns an engine. It runs nothing before Start.
func New(cfg Config) (*Engine, error) {
	if cfg.Store == nil || cfg.Definitions == nil || cfg.Registry == nil {
		return nil, errors.New("new engine: Store, Definitions and Registry are required")
	}
	if cfg.Tracer == nil {
		cfg.Tracer = noTracer{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.NewID == nil {
		cfg.NewID = NewID
	}
	if cfg.Owner == "" {
		cfg.Owner = cfg.NewID()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Jitter == nil {
		cfg.Jitter = func(n int64) int64 { return rand.Int64N(max(1, n)) } //nolint:gosec // spreads retries, guards nothing
	}
	cfg.Lease = orDefault(cfg.Lease, 30*time.Second)
	cfg.Grace = orDefault(cfg.Grace, 10*time.Second)
	cfg.MaxSegments = orDefault(cfg.MaxSegments, 256)
	cfg.MaxEffects = orDefault(cfg.MaxEffects, 32)
	cfg.Limits = cfg.Limits.withDefaults()
	return &Engine{
		cfg: cfg, active: map[string]*activeRun{}, queued: map[string]bool{}, timers: map[string]*time.Timer{},
		waiters: map[string][]chan Run{}, stopping: make(chan struct{}), stopNow: make(chan struct{}),
	}, nil
}

func orDefault[T int | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// noTracer drops everything.
type noTracer struct{}

func (noTracer) Record(string, []Span)   {}
func (noTracer) Delta(_, _, _, _ string) {}
func (noTracer) RunEnded(string, Run)    {}

// Registry returns the engine's kinds.
func (e *Engine) Registry() *Registry { return e.cfg.Registry }

// StuckAttempts counts attempts whose kind has not returned although its time was
// up long ago. They hold a goroutine each and nothing else.
func (e *Engine) StuckAttempts() int64 { return e.stuck.Load() }

// ActiveRuns counts the runs that have a segment in this process.
func (e *Engine) ActiveRuns() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.active)
}

// now is the clock in UTC and in microseconds, the precision that the databases
// keep: a time never changes by being stored.
func (e *Engine) now() time.Time { return e.cfg.Now().UTC().Truncate(time.Microsecond) }

// Start lets the engine run what is dispatched to it.
func (e *Engine) Start(context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.started = true
	e.fill()
	return nil
}

// Stop lets attempts in flight end within the grace time, hands every run back and
// returns when the engine's goroutines are gone or ctx ends. A step that was cut off
// runs again later; it has not used up an attempt. Safe to call twice.
func (e *Engine) Stop(ctx context.Context) error {
	e.stopOnce.Do(func() {
		close(e.stopping)
		e.mu.Lock()
		for id, t := range e.timers {
			t.Stop()
			delete(e.timers, id)
		}
		e.waiting = nil
		e.mu.Unlock()
	})
	done := make(chan struct{})
	go func() {
		e.segments.Wait()
		e.attempts.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop engine: %w", ctx.Err())
	}
}

// Dispatch asks for a segment of the run, soon and in this process. A run that has
// one already takes notice of what changed.
func (e *Engine) Dispatch(runID string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a := e.active[runID]; a != nil {
		a.again = true
		select {
		case a.nudge <- struct{}{}:
		default:
		}
		return
	}
	if t := e.timers[runID]; t != nil {
		t.Stop()
		delete(e.timers, runID)
	}
	if e.isStopping() || e.queued[runID] {
		return
	}
	e.queued[runID] = true
	e.waiting = append(e.waiting, runID)
	e.fill()
}

// fill starts waiting runs while there is room. The caller holds mu.
func (e *Engine) fill() {
	for e.started && !e.isStopping() && len(e.waiting) > 0 && len(e.active) < e.cfg.MaxSegments {
		id := e.waiting[0]
		e.waiting = e.waiting[1:]
		delete(e.queued, id)
		if e.active[id] != nil {
			continue
		}
		a := &activeRun{nudge: make(chan struct{}, 1)}
		e.active[id] = a
		e.segments.Go(func() {
			if err := e.segment(context.Background(), id, a); err != nil {
				e.cfg.Logger.Error("segment ended", "run_id", id, "err", err)
			}
		})
	}
}

func (e *Engine) isStopping() bool {
	select {
	case <-e.stopping:
		return true
	default:
		return false
	}
}

// RunSegment works the run on the caller's goroutine until it ends or parks. It
// returns nil if there is nothing to do: the run is over, parked, or worked
// elsewhere.
func (e *Engine) RunSegment(ctx context.Context, runID string) error {
	e.mu.Lock()
	if !e.started || e.isStopping() {
		e.mu.Unlock()
		return errStopping
	}
	if e.active[runID] != nil {
		e.mu.Unlock()
		return nil
	}
	a := &activeRun{nudge: make(chan struct{}, 1)}
	e.active[runID] = a
	e.segments.Add(1)
	e.mu.Unlock()
	defer e.segments.Done()
	return e.segment(ctx, runID, a)
}

// segment claims a run and works it, again as long as it was dispatched meanwhile.
func (e *Engine) segment(ctx context.Context, runID string, a *activeRun) error {
	var err error
	for {
		e.heard(a) // what was dispatched before the claim is in its snapshot
		err = e.claimAndRun(ctx, runID, a)
		gone := errors.Is(err, ErrNotRunnable) || errors.Is(err, ErrLeaseLost)
		e.mu.Lock()
		if !a.again || e.isStopping() || (err != nil && !gone) {
			delete(e.active, runID)
			e.fill()
			e.mu.Unlock()
			break
		}
		e.mu.Unlock()
	}
	if errors.Is(err, ErrNotRunnable) || errors.Is(err, ErrLeaseLost) || errors.Is(err, errStopping) {
		return nil
	}
	return err
}

// heard forgets the dispatches so far: whoever calls it reads the run afterwards.
func (e *Engine) heard(a *activeRun) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a.again, a.last = false, nil
	select {
	case <-a.nudge:
	default:
	}
}

func (e *Engine) claimAndRun(ctx context.Context, runID string, a *activeRun) error {
	snap, err := e.cfg.Store.Claim(ctx, runID, e.cfg.Owner, e.cfg.Lease)
	if err != nil {
		return fmt.Errorf("claim run %s: %w", runID, err)
	}
	log := e.cfg.Logger.With("run_id", runID)
	prog, err := e.program(ctx, snap.Run.DefinitionHash)
	if errors.Is(err, errUnread) {
		return errors.Join(err, e.postpone(ctx, snap))
	}
	if err != nil {
		return e.giveUp(ctx, snap, err)
	}
	workers, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	g := &segment{
		e: e, run: snap.Run, log: log, results: make(chan result), active: a, workers: workers, wakeups: snap.Run.Wakeups,
		spanNext: snap.Run.SpanSeq + 1, spanLimit: snap.Run.SpanSeq, renewed: e.now(), careful: snap.TakenOver,
	}
	g.s = newState(prog, snap, g, e.cfg.Limits)
	g.s.runSpan()
	run, cancel := e.untilStop(ctx)
	defer cancel()
	err = g.loop(run)
	if errors.Is(err, errStopping) {
		return g.handBack(ctx, stop)
	}
	if errors.Is(err, errInvariant) {
		return e.giveUp(ctx, snap, err)
	}
	return err
}

// untilStop is ctx, ended early by Stop.
func (e *Engine) untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	run, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-e.stopping:
			cancel()
		case <-run.Done():
		}
	}()
	return run, cancel
}

// unreadWait is when a run is tried again whose definition could not be read.
const unreadWait = time.Second

// postpone gives a run back as it was claimed, for a little later.
func (e *Engine) postpone(ctx context.Context, snap Snapshot) error {
	t := Transition{
		RunID: snap.Run.ID, AccountID: snap.Run.AccountID, Epoch: snap.Run.Epoch, Wakeups: snap.Run.Wakeups,
		Status: RunWaiting, At: e.now(), WakeAt: e.now().Add(unreadWait),
	}
	for _, p := range snap.Parks {
		if p.Kind == ParkApproval || p.Kind == ParkInterrupt {
			t.Status = RunPendingApproval
		}
	}
	if _, err := e.cfg.Store.Commit(context.WithoutCancel(ctx), t); err != nil {
		return fmt.Errorf("postpone run %s: %w", t.RunID, err) // its lease will run out
	}
	e.parked(t.RunID, t.WakeAt)
	return nil
}

// giveUp fails a run that can't be worked at all: its definition does not compile
// with this binary's kinds.
func (e *Engine) giveUp(ctx context.Context, snap Snapshot, cause error) error {
	t := Transition{
		RunID: snap.Run.ID, AccountID: snap.Run.AccountID, Epoch: snap.Run.Epoch, Status: RunFailed,
		Error: &StepError{Code: CodeFailed, Message: cause.Error()}, Spans: 1, At: e.now(),
	}
	for _, p := range snap.Parks {
		t.ClosePark = append(t.ClosePark, ParkClose{ID: p.ID, Status: "cancelled", Reason: "the run failed"})
	}
	for _, r := range snap.Records {
		if !r.Status.Terminal() && !r.Superseded {
			r.Status, r.EndedAt, r.Taken = StepCancelled, t.At, []int{}
			t.Records = append(t.Records, r)
		}
	}
	seq, err := e.cfg.Store.Commit(context.WithoutCancel(ctx), t)
	if err != nil {
		return fmt.Errorf("fail run %s: %w", snap.Run.ID, err)
	}
	run := snap.Run
	run.Status, run.Error, run.EndedAt = t.Status, t.Error, t.At
	sp := RunSpan(run, "")
	sp.Seq = seq
	e.cfg.Tracer.Record(run.AccountID, []Span{sp})
	e.cfg.Tracer.RunEnded(run.AccountID, run)
	e.announce(run)
	return nil
}

// parked arranges for the run's next timer. Times further off are left to the job
// that the store scheduled.
func (e *Engine) parked(runID string, wakeAt time.Time) {
	const near = time.Hour
	if wakeAt.IsZero() {
		return
	}
	d := wakeAt.Sub(e.now())
	if d > near {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.isStopping() {
		return
	}
	if t := e.timers[runID]; t != nil {
		t.Stop()
	}
	e.timers[runID] = time.AfterFunc(max(0, d), func() {
		e.mu.Lock()
		delete(e.timers, runID)
		e.mu.Unlock()
		e.Dispatch(runID)
	})
}

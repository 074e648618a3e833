package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// segment is one worker's stretch of a run: from its claim until it finishes,
// parks or loses the lease. Its goroutine alone touches the state; workers report
// over results.
type segment struct {
	e       *Engine
	s       *state
	run     Run
	log     *slog.Logger
	results chan result
	active  *activeRun
	flying  int
	// ready are attempts that start once the commit before them is through.
	ready []launch
	// workers is cancelled to stop attempts in flight.
	workers context.Context //nolint:containedctx // lives exactly as long as the segment
	wakeups int64
	// spanNext to spanLimit are the span numbers reserved and not yet given out.
	spanNext, spanLimit int64
	renewed             time.Time // when a commit renewed the lease last
	soft                []*step   // attempts whose beginning is not stored yet
	careful             bool      // the segment before died: store every beginning
}

// result is an attempt's end, tagged with the attempt it belongs to.
type result struct {
	st      *step
	token   int
	out     Output
	verdict *verdict
	notes   spanAttributes
	began   time.Time
}

// batchSize is how many changed records are committed at the latest, so that a
// loop of many pure iterations neither holds them all in memory nor makes one
// enormous transaction.
const batchSize = 1_000

// softFor is how long an attempt may be under way before that is stored and shown.
const softFor = 100 * time.Millisecond

// errStopping ends a segment because the engine stops.
var errStopping = errors.New("engine is stopping")

// loop drives the run until it ends, parks, or the segment is told to stop.
func (g *segment) loop(ctx context.Context) error {
	renew := time.NewTicker(g.e.cfg.Lease / 3)
	defer renew.Stop()
	tell := time.NewTicker(softFor)
	defer tell.Stop()
	for {
		if err := g.advance(ctx); err != nil {
			return err
		}
		if g.flying == 0 && len(g.s.effects) == 0 {
			ended, err := g.settleDown(ctx)
			if ended || err != nil {
				return err
			}
			continue
		}
		if err := g.wait(ctx, renew.C, tell.C); err != nil {
			return err
		}
	}
}

// advance does everything that needs no waiting, commits it, and starts the
// effects that there is room for. Nothing outside happens before the commit.
func (g *segment) advance(ctx context.Context) error {
	for {
		for g.s.drain(batchSize) {
			if err := g.commit(ctx, Transition{}); err != nil {
				return err
			}
		}
		g.takeEffects()
		if len(g.s.queue) > 0 {
			continue
		}
		if !g.quiet() && g.s.changed() {
			if err := g.commit(ctx, Transition{}); err != nil {
				return err
			}
			if len(g.s.queue) > 0 {
				continue
			}
		}
		for _, l := range g.ready {
			g.launch(l)
		}
		g.ready = nil
		return nil
	}
}

// quiet reports that nothing is at work or about to be, so that the next commit
// parks the run.
func (g *segment) quiet() bool {
	if g.flying > 0 || len(g.s.effects) > 0 {
		return false
	}
	if g.s.done {
		return true
	}
	at, ok := g.s.timers.next()
	return !ok || at.After(g.e.now())
}

type launch struct {
	st      *step
	attempt attempt
}

// takeEffects makes ready as many waiting effects as there are free places.
func (g *segment) takeEffects() {
	for len(g.s.effects) > 0 && g.flying < g.e.cfg.MaxEffects {
		st := g.s.effects[0]
		g.s.effects = g.s.effects[1:]
		if st.scope.doomed() {
			g.s.close(st, StepCancelled)
			continue
		}
		config, err := g.s.render(st)
		if err != nil {
			g.s.begunAttempt(st, nil)
			g.s.fail(st, asStepError(err))
			continue
		}
		g.begin(st, config)
		a := g.s.newAttempt(st, config, g.s.freeze(st))
		g.s.spanOf(st)
		g.s.attemptSpan(st, Span{Attempt: st.rec.Attempt, Status: string(StepRunning), Start: g.e.now()})
		st.flying = true
		g.flying++
		g.ready = append(g.ready, launch{st, a})
	}
}

// begin counts an attempt. That it has begun needs to be stored before it begins
// only where somebody would ask for it after a crash: otherwise the step is run
// again, with the same number and the same key, as if it had not begun. Most are over
// before softFor, and then their record is written once.
func (g *segment) begin(st *step, config json.RawMessage) {
	if g.careful || st.node.Interrupt == InterruptFail || st.node.Interrupt == InterruptAsk {
		g.s.begunAttempt(st, config)
		return
	}
	g.s.count(st, config)
	g.soft = append(g.soft, st)
}

// harden has the attempts stored that have been under way for a while.
func (g *segment) harden() (any bool) {
	for _, st := range g.soft {
		if st.flying && st.rec.Status == StepRunning {
			g.s.touch(st.rec)
			any = true
		}
	}
	g.soft = nil
	return any
}

// launch runs an attempt on its own goroutine. When the attempt's time is up its
// result is a timeout, whether or not the kind obeys its context; whatever it
// returns later is dropped.
func (g *segment) launch(l launch) {
	token, began := l.st.token, g.e.now()
	spanID := stepSpanID(l.st.address, l.st.rec.Round) + fmt.Sprintf("@%d", l.st.rec.Attempt)
	l.attempt.input.Logger = g.log.With("node_id", l.attempt.input.NodeID, "address", l.attempt.input.Address)
	l.attempt.input.Emit = func(text string) { g.e.cfg.Tracer.Delta(g.run.AccountID, g.run.ID, spanID, text) }
	g.e.attempts.Go(func() {
		ctx, cancel := context.WithTimeout(g.workers, l.attempt.timeout)
		defer cancel()
		done := make(chan result, 1)
		go func() {
			out, err := l.attempt.run(ctx)
			r := result{st: l.st, token: token, out: out, began: began}
			if err != nil {
				v := judge(ctx, err, l.attempt.timeout)
				r.verdict = &v
			}
			done <- r
		}()
		var r result
		select {
		case r = <-done:
		case <-ctx.Done():
			r = g.overdue(ctx, done, l, token, began)
		}
		r.notes = l.attempt.notes.take()
		select {
		case g.results <- r:
		case <-g.workers.Done():
		}
	})
}

// grace is what a kind gets to return after its context has ended.
const grace = 250 * time.Millisecond

// overdue waits a moment for a kind whose context has ended, then gives it up.
func (g *segment) overdue(ctx context.Context, done <-chan result, l launch, token int, began time.Time) result {
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case r := <-done:
		return r
	case <-t.C:
		g.e.stuck.Add(1)
		go func() { <-done; g.e.stuck.Add(-1) }()
		v := judge(ctx, context.DeadlineExceeded, l.attempt.timeout)
		return result{st: l.st, token: token, verdict: &v, began: began}
	}
}

// wait blocks until something happens: a result, a timer, an answer from outside,
// the time to renew the lease, or the engine's end.
func (g *segment) wait(ctx context.Context, renew, tell <-chan time.Time) error {
	var timer <-chan time.Time
	if at, ok := g.s.timers.next(); ok {
		t := time.NewTimer(at.Sub(g.e.now()))
		defer t.Stop()
		timer = t.C
	}
	select {
	case r := <-g.results:
		g.take(r)
		for more := true; more; {
			select {
			case r := <-g.results:
				g.take(r)
			default:
				more = false
			}
		}
		return nil
	case <-timer:
		return g.fireTimers(ctx)
	case <-g.active.nudge:
		g.e.heard(g.active)
		return g.absorb(ctx)
	case <-tell:
		if !g.harden() {
			return nil
		}
		return g.commit(ctx, Transition{})
	case <-renew:
		if err := g.commit(ctx, Transition{}); err != nil || len(g.s.parkSteps) == 0 {
			return err
		}
		return g.absorb(ctx)
	case <-ctx.Done():
		return errStopping
	}
}

// take applies an attempt's result to the state.
func (g *segment) take(r result) {
	st := r.st
	g.flying--
	if st.token != r.token || !st.flying {
		return // given up meanwhile
	}
	st.flying = false
	attempt := Span{Attempt: st.rec.Attempt, Start: r.began, End: g.e.now(), Usage: r.out.Usage, Attributes: r.notes, Status: string(StepSucceeded)}
	st.rec.Usage = st.rec.Usage.Add(r.out.Usage)
	g.s.usage = g.s.usage.Add(r.out.Usage)
	switch {
	case r.verdict != nil:
		attempt.Status, attempt.Error = string(StepFailed), r.verdict.err
		g.s.attemptSpan(st, attempt)
		g.s.attemptFailed(st, *r.verdict)
	case r.out.Park != nil:
		attempt.Status = string(StepParked)
		g.s.attemptSpan(st, attempt)
		g.s.park(st, r.out.Park)
	default:
		g.s.attemptSpan(st, attempt)
		g.s.succeed(st, r.out)
	}
}

// fireTimers goes on with what is due: retries, and parks whose time has come.
func (g *segment) fireTimers(ctx context.Context) error {
	for {
		st, ok := g.s.timers.due(g.e.now())
		if !ok {
			return nil
		}
		if st.rec.Status == StepRetrying {
			g.s.retry(st)
			continue
		}
		p := g.s.parks[st.rec.ParkID]
		if p == nil || p.OnWake == nil {
			continue
		}
		if err := g.wake(ctx, st, p); err != nil {
			return err
		}
	}
}

// wake ends a park whose time has come. The timer and a person go through the
// same compare-and-set: whoever is first decides, so the state follows only after
// the commit.
func (g *segment) wake(ctx context.Context, st *step, p *Park) error {
	if g.s.changed() {
		if err := g.commit(ctx, Transition{}); err != nil {
			return err
		}
	}
	status := "timed_out"
	if p.Kind == ParkTimer {
		status = "done"
	}
	rec := *st.rec
	ApplyResolution(&rec, *p.OnWake, g.e.now())
	err := g.commit(ctx, Transition{
		Records:   []Record{rec},
		ClosePark: []ParkClose{{ID: p.ID, Status: status, Reason: "its time had come"}},
	})
	if errors.Is(err, ErrWoken) {
		return g.absorb(ctx)
	}
	if err != nil {
		return err
	}
	g.s.unpark(st, &rec)
	g.s.spanOf(st)
	return nil
}

// retry starts the next attempt of a step whose wait is over.
func (s *state) retry(st *step) {
	switch {
	case st.scope.doomed():
		s.close(st, StepCancelled)
	case st.node.Spec.Class == Effect:
		s.effects = append(s.effects, st)
	default:
		s.host.inline(st)
	}
}

// settleDown ends the segment when nothing is at work: the run is over, or it
// parks. It returns false when something came up instead.
func (g *segment) settleDown(ctx context.Context) (ended bool, err error) {
	if g.s.done {
		return true, g.end(ctx)
	}
	if at, ok := g.s.timers.next(); ok && !at.After(g.e.now()) {
		return false, g.fireTimers(ctx)
	}
	t := Transition{Status: RunWaiting}
	if g.s.parkedPeople > 0 {
		t.Status = RunPendingApproval
	}
	if at, ok := g.s.timers.next(); ok {
		t.WakeAt = at
	} else if g.s.parkedPeople+g.s.parkedOther == 0 {
		return true, fmt.Errorf("run %s: %w: no step can run and none waits", g.run.ID, errInvariant)
	}
	err = g.commit(ctx, t)
	if errors.Is(err, ErrWoken) {
		return false, g.absorb(ctx)
	}
	if err == nil {
		g.e.parked(g.run.ID, t.WakeAt)
	}
	return true, err
}

var errInvariant = errors.New("scheduler invariant broken")

// end commits the run's end.
func (g *segment) end(ctx context.Context) error {
	t := Transition{Status: RunSucceeded}
	if f := g.s.root.failure; f != nil {
		t.Status, t.Error = RunFailed, f
		if f.Code == CodeRejected {
			t.Status = RunRejected
		}
	} else {
		t.Output = g.s.runOutput()
	}
	return g.commit(ctx, t)
}

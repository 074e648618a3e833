package engine

import (
	"context"
	"errors"
	"time"
)

// handBack gives the run back on Stop: attempts in flight get the grace time, what
// is not through then runs again.
func (g *segment) handBack(ctx context.Context, stop context.CancelFunc) error {
	if err := g.drainFlights(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	g.s.drain(0)
	stop()
	now := g.e.now()
	for _, l := range g.ready {
		g.s.cutOff(l.st, now)
	}
	g.s.cutOffFlying(g.s.root, now)
	if g.s.done {
		return g.end(context.WithoutCancel(ctx))
	}
	t := Transition{Status: RunWaiting, WakeAt: now}
	if at, ok := g.s.timers.next(); ok && len(g.s.effects) == 0 && g.flying == 0 {
		t.WakeAt = at
	}
	if g.s.parkedPeople > 0 {
		t.Status = RunPendingApproval
	}
	err := g.commit(context.WithoutCancel(ctx), t)
	if errors.Is(err, ErrWoken) {
		if err = g.absorb(context.WithoutCancel(ctx)); err == nil {
			t.WakeAt = now
			err = g.commit(context.WithoutCancel(ctx), t)
		}
	}
	return err
}

// drainFlights waits for the attempts in flight as long as the grace time is. What
// comes in is committed at once, and the lease is kept meanwhile: no other server
// must take the run over while its effects are under way here.
func (g *segment) drainFlights(ctx context.Context) error {
	deadline := time.NewTimer(g.e.cfg.Grace)
	defer deadline.Stop()
	renew := time.NewTicker(g.e.cfg.Lease / 3)
	defer renew.Stop()
	for g.flying > 0 {
		select {
		case r := <-g.results:
			g.take(r)
		case <-renew.C:
		case <-deadline.C:
			return nil
		}
		if err := g.commit(ctx, Transition{}); err != nil {
			return err
		}
	}
	return nil
}

// cutOff makes a running step due again with the attempt it had.
func (s *state) cutOff(st *step, now time.Time) {
	if st.rec == nil || st.rec.Status != StepRunning {
		return
	}
	st.rec.Status, st.rec.NextAttemptAt = StepRetrying, now
	st.rec.Attempt--
	st.flying = false
	st.token++
	s.touch(st.rec)
	s.spanOf(st)
}

func (s *state) cutOffFlying(sc *scope, now time.Time) {
	for i := range sc.steps {
		st := &sc.steps[i]
		if st.flying && st.node.Interrupt != InterruptFail && st.node.Interrupt != InterruptAsk {
			s.cutOff(st, now) // of the others the next segment finds that they were interrupted
		}
		if st.box != nil {
			for _, inner := range st.box.scopes() {
				s.cutOffFlying(inner, now)
			}
		}
	}
}

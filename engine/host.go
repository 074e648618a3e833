package engine

import (
	"context"
	"maps"
	"time"
)

// The segment is its state's host.

func (g *segment) now() time.Time { return g.e.now() }

func (g *segment) newID() string { return g.e.cfg.NewID() }

func (g *segment) backoff(p RetryPolicy, attempt int) time.Duration {
	return backoff(p, attempt, g.e.cfg.Jitter)
}

// inline runs an attempt of a pure or parking step on the owner's goroutine.
func (g *segment) inline(st *step) {
	config, err := g.s.render(st)
	g.s.begunAttempt(st, config)
	if err != nil {
		g.s.fail(st, asStepError(err))
		return
	}
	a := g.s.newAttempt(st, config, g.s.env(st, false))
	a.input.Logger = g.log
	ctx, cancel := context.WithTimeout(g.workers, st.node.Timeout)
	defer cancel()
	out, err := a.run(ctx)
	st.rec.Usage = st.rec.Usage.Add(out.Usage)
	g.s.usage = g.s.usage.Add(out.Usage)
	switch {
	case err != nil:
		g.s.attemptFailed(st, judge(ctx, err, st.node.Timeout))
	case out.Park != nil:
		g.s.park(st, out.Park)
	default:
		g.s.succeed(st, out)
	}
	g.s.annotate(st, a.notes.take())
}

// annotate adds what a kind traced to the step's queued span.
func (s *state) annotate(st *step, notes spanAttributes) {
	i, ok := s.spanSet[stepSpanID(st.rec.Address, st.rec.Round)]
	if !ok {
		return
	}
	maps.Copy(s.spans[i].span.Attributes, notes)
}

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// commit stores what has changed, with t's own changes on top, and publishes the
// spans that describe it. ErrWoken comes back only for changes that t asks for.
func (g *segment) commit(ctx context.Context, t Transition) error {
	s := g.s
	parking, closing := t.Status == RunWaiting || t.Status == RunPendingApproval, len(t.ClosePark) > 0
	for {
		full := g.transition(t)
		spans := g.spansFor(full)
		g.reserve(&full, len(spans))
		seq, err := g.store(ctx, full)
		switch {
		case err == nil:
			g.number(full, spans, seq)
			g.committed(full, spans)
			return nil
		case errors.Is(err, ErrWoken) && !parking && !closing:
			// A park that was to be cancelled has been answered: keep the answer.
			if err := g.keepAnswers(ctx); err != nil {
				return err
			}
		case errors.Is(err, ErrWoken) && len(s.closeParks) > 0:
			if err := g.keepAnswers(ctx); err != nil {
				return err
			}
			return ErrWoken
		default:
			return err
		}
	}
}

// transition is t with everything that waits for a commit.
func (g *segment) transition(t Transition) Transition {
	s := g.s
	t.RunID, t.AccountID, t.Epoch, t.Wakeups = g.run.ID, g.run.AccountID, g.run.Epoch, g.wakeups
	records := make([]Record, 0, len(s.dirty)+len(t.Records))
	for _, r := range s.dirty {
		records = append(records, *r)
	}
	t.Records = append(records, t.Records...)
	t.OpenParks = s.openParks
	t.ClosePark = append(append([]ParkClose(nil), s.closeParks...), t.ClosePark...)
	t.Usage, t.At = s.usage, g.e.now()
	if t.At.Sub(g.renewed) > g.e.cfg.Lease/4 {
		t.Lease = g.e.cfg.Lease
	}
	return t
}

// spanBlock is how many span numbers are reserved at once, so that few commits have
// to write the run's own row. Readers who come back start further back than that.
const spanBlock = 128

// reserve asks for span numbers where those at hand don't suffice, and gives the rest
// back when the segment ends.
func (g *segment) reserve(t *Transition, n int) {
	left := int(g.spanLimit - g.spanNext + 1)
	ends := t.Status != ""
	switch {
	case n > left && ends:
		t.Spans = n - left
	case n > left:
		t.Spans = max(n, spanBlock)
	case ends:
		t.Unused, t.SpanLimit = left-n, g.spanLimit
	}
}

// number gives the spans of a commit their numbers. seq is the last that the commit
// reserved: if others reserved some meanwhile, what was left of the block before is
// not used, since later spans have to have higher numbers.
func (g *segment) number(t Transition, spans []Span, seq int64) {
	if t.Spans > 0 {
		if seq-int64(t.Spans) != g.spanLimit {
			g.spanNext = seq - int64(max(t.Spans, len(spans))) + 1
		}
		g.spanLimit = seq
	}
	for i := range spans {
		spans[i].RunID, spans[i].Seq = g.run.ID, g.spanNext
		g.spanNext++
	}
	g.run.SpanSeq = g.spanNext - 1
}

// spansFor are the spans that a transition's commit publishes.
func (g *segment) spansFor(t Transition) []Span {
	spans := make([]Span, 0, len(g.s.spans)+1)
	for _, r := range g.s.spans {
		if r.span.Kind == SpanRun && t.Status != "" {
			continue // the one below says more
		}
		spans = append(spans, r.span)
	}
	if t.Status != "" {
		sp := RunSpan(g.run, g.s.prog.Definition.Name)
		sp.Status, sp.Output, sp.Error, sp.Usage = string(t.Status), t.Output, t.Error, g.run.Usage.Add(t.Usage)
		if t.Status.Terminal() {
			sp.End = t.At
		}
		spans = append(spans, sp)
	}
	return spans
}

// store commits, and finds out about commits whose outcome is unknown: it never
// runs anything again blindly. It gives up when the lease must have expired.
func (g *segment) store(ctx context.Context, t Transition) (int64, error) {
	deadline := g.e.now().Add(g.e.cfg.Lease)
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		seq, err := g.e.cfg.Store.Commit(context.WithoutCancel(ctx), t)
		if err == nil || errors.Is(err, ErrLeaseLost) || errors.Is(err, ErrWoken) {
			return seq, err
		}
		g.log.Warn("commit failed", "err", err)
		if g.e.now().Add(wait).After(deadline) {
			return 0, fmt.Errorf("commit run %s: %w", t.RunID, err)
		}
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-g.e.stopNow:
			pause.Stop()
			return 0, fmt.Errorf("commit run %s: %w", t.RunID, err)
		}
		snap, loadErr := g.e.cfg.Store.Load(context.WithoutCancel(ctx), "", t.RunID)
		if loadErr != nil {
			continue
		}
		if snap.Run.Epoch != t.Epoch {
			return 0, ErrLeaseLost
		}
		if applied(snap, t) {
			return snap.Run.SpanSeq, nil
		}
	}
}

// applied reports whether a snapshot already holds a transition. It was made whole or
// not at all, but a record may be what it was before in part, so all are compared, in
// all that a transition may change without anything else.
func applied(snap Snapshot, t Transition) bool {
	if t.Status != "" && snap.Run.Status != t.Status {
		return false
	}
	if len(t.Records) == 0 {
		return t.Status != ""
	}
	stored := make(map[RecordKey]*Record, len(snap.Records))
	for i := range snap.Records {
		stored[snap.Records[i].Key()] = &snap.Records[i]
	}
	for i := range t.Records {
		r := stored[t.Records[i].Key()]
		if r == nil || !madeOf(r, &t.Records[i]) {
			return false
		}
	}
	return true
}

// madeOf reports whether a stored record is what a transition made of it. One that
// waits under the same id was made by it, whatever has been answered since.
func madeOf(stored, made *Record) bool {
	if made.Status == StepParked {
		return stored.ParkID == made.ParkID
	}
	return stored.Status == made.Status && stored.Attempt == made.Attempt && stored.Recoveries == made.Recoveries &&
		stored.ParkID == made.ParkID && stored.Handle == made.Handle && (stored.Taken == nil) == (made.Taken == nil) &&
		slices.Equal(stored.Taken, made.Taken) && stored.NextAttemptAt.Equal(made.NextAttemptAt) && bytes.Equal(stored.Decision, made.Decision)
}

// committed clears what was stored and tells the world.
func (g *segment) committed(t Transition, spans []Span) {
	s := g.s
	if t.Lease > 0 {
		g.renewed = t.At
	}
	g.run.Usage = g.run.Usage.Add(t.Usage)
	s.dirty, s.openParks, s.closeParks, s.usage = nil, nil, nil, Usage{}
	clear(s.dirtySet)
	s.spans = nil
	clear(s.spanSet)
	if t.Status != "" {
		g.run.Status, g.run.Output, g.run.Error = t.Status, t.Output, t.Error
		if t.Status.Terminal() {
			g.run.EndedAt = t.At
		}
	}
	if len(spans) > 0 {
		g.e.cfg.Tracer.Record(g.run.AccountID, spans)
	}
	if t.Status.Terminal() {
		g.e.cfg.Tracer.RunEnded(g.run.AccountID, g.run)
	}
	if t.Status != "" {
		g.e.announce(g.run)
	}
}

// keepAnswers drops cancellations of parks that a person has answered first.
func (g *segment) keepAnswers(ctx context.Context) error {
	snap, err := g.reload(ctx)
	if err != nil {
		return err
	}
	open := map[string]bool{}
	for _, p := range snap.Parks {
		open[p.ID] = true
	}
	s := g.s
	kept := s.closeParks[:0]
	answered := map[string]bool{}
	for _, c := range s.closeParks {
		if open[c.ID] {
			kept = append(kept, c)
		} else {
			answered[c.ID] = true
		}
	}
	s.closeParks = kept
	dirty := s.dirty[:0]
	for _, r := range s.dirty {
		if r.ParkID != "" && answered[r.ParkID] {
			delete(s.dirtySet, r)
			continue
		}
		dirty = append(dirty, r)
	}
	s.dirty = dirty
	return nil
}

// reload reads the run again and checks that it is still this segment's.
func (g *segment) reload(ctx context.Context) (Snapshot, error) {
	snap, err := g.e.cfg.Store.Load(ctx, "", g.run.ID)
	if err != nil {
		return snap, fmt.Errorf("reload run %s: %w", g.run.ID, err)
	}
	if snap.Run.Epoch != g.run.Epoch || snap.Run.Status.Terminal() {
		return snap, ErrLeaseLost
	}
	g.wakeups = snap.Run.Wakeups
	if snap.Run.SpanSeq != g.spanLimit {
		// An answer has taken numbers: what follows it must have higher ones.
		g.spanNext, g.spanLimit = 1, 0
	}
	return snap, nil
}

// absorb takes in answers that were given since the segment loaded.
func (g *segment) absorb(ctx context.Context) error {
	snap, err := g.reload(ctx)
	if err != nil {
		return err
	}
	for i := range snap.Records {
		rec := &snap.Records[i]
		st := g.s.parkSteps[rec.ParkID]
		if rec.ParkID == "" || st == nil || rec.Status == StepParked {
			continue
		}
		g.s.unpark(st, rec)
	}
	return nil
}

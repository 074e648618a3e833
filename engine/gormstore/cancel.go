package gormstore

import (
	"context"
	"fmt"
	"time"

	"sluice/engine"
)

// Cancel implements [engine.Store].
func (s *Store) Cancel(ctx context.Context, c engine.Cancellation) (out engine.Cancelled, err error) {
	err = s.do(ctx, func(ctx context.Context, b *batch) error {
		run, err := b.lock(ctx, c.AccountID, c.RunID)
		switch {
		case err != nil:
			return err
		case run.Status == engine.RunCancelled:
			out = engine.Cancelled{Run: run}
			return nil
		case run.Status.Terminal():
			return refusal{&engine.ConflictError{Message: "the run is over: it " + ended(run.Status)}}
		}
		out, err = b.cancel(ctx, run, c)
		return err
	})
	if err != nil {
		return engine.Cancelled{}, err
	}
	return out, nil
}

// ended is how a run ended, as the rest of a sentence.
func ended(st engine.RunStatus) string {
	if st == engine.RunRejected {
		return "was rejected"
	}
	return string(st)
}

// cancel closes everything that is open in a run.
func (b *batch) cancel(ctx context.Context, run engine.Run, c engine.Cancellation) (engine.Cancelled, error) {
	out := engine.Cancelled{Changed: true}
	snap, err := b.snapshot(ctx, run)
	if err != nil {
		return out, err
	}
	for _, r := range snap.Records {
		if !r.Status.Terminal() && !r.Superseded {
			r.Status, r.EndedAt, r.Taken, r.NextAttemptAt = engine.StepCancelled, c.At, []int{}, time.Time{}
			out.Records = append(out.Records, r)
		}
	}
	b.putRecords(run.ID, out.Records)
	for _, p := range snap.Parks {
		if err := b.closePark(ctx, engine.ParkClose{ID: p.ID, Status: "cancelled", Reason: "the run was cancelled"}, c.At); err != nil {
			return out, err
		}
	}
	b.news.changed(run.ID)
	if len(snap.Parks) > 0 {
		b.news.inbox[run.AccountID] = true
	}
	stop := &engine.StepError{Code: engine.CodeCancelled, Message: engine.CancelMessage(c)}
	out.Run, err = scanRun(b.row(ctx, "UPDATE runs SET status = 'cancelled', epoch = epoch + 1, error = ?, ended_at = ?, wake_at = NULL, lease_owner = '', lease_until = NULL, span_seq = span_seq + ? WHERE id = ? RETURNING "+runColumns,
		stepError(stop), micros(c.At), len(out.Records)+1, run.ID))
	if err != nil {
		return out, fmt.Errorf("cancel run %s: %w", run.ID, err)
	}
	return out, b.audit(ctx, c.AccountID, c.By, "run.cancelled", run.ID, map[string]any{"reason": c.Reason}, c.At)
}

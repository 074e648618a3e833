package gormstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"sluice/engine"
	"sluice/models"
)

// Answer implements [engine.Store].
func (s *Store) Answer(ctx context.Context, a engine.Answer) (out engine.Answered, err error) {
	a.Comment, a.Data = models.Clean(a.Comment), raw(rawJSON(a.Data))
	err = s.do(ctx, func(ctx context.Context, b *batch) error {
		park, status, reason, err := b.park(ctx, a)
		if err != nil {
			return err
		}
		if status != "open" {
			out, err = b.answerAgain(ctx, a, park, status, reason)
			return err
		}
		res, err := a.Resolve(park)
		if err != nil {
			return refusal{err}
		}
		out, err = b.decide(ctx, a, park, res)
		return err
	})
	if err != nil {
		return engine.Answered{}, err
	}
	return out, nil
}

// park reads the wait that an answer names.
func (b *batch) park(ctx context.Context, a engine.Answer) (p engine.Park, status, reason string, err error) {
	var body string
	// The run is locked before its parks, in the order in which a segment's commit
	// takes them.
	query := b.sql.forUpdate("SELECT p.status, p.body, p.reason FROM runs r JOIN parks p ON p.run_id = r.id WHERE p.id = ? AND p.account_id = ?")
	err = b.row(ctx, query, models.Clean(a.ParkID), a.AccountID).Scan(&status, &body, &reason)
	if errors.Is(err, sql.ErrNoRows) {
		return p, "", "", refusal{fmt.Errorf("approval %s: %w", a.ParkID, engine.ErrNotFound)}
	}
	if err != nil {
		return p, "", "", fmt.Errorf("read park %s: %w", a.ParkID, err)
	}
	return p, status, reason, fromJSON(body, &p)
}

// decide writes the decision, the step's record and the wake-up.
func (b *batch) decide(ctx context.Context, a engine.Answer, p engine.Park, res engine.Resolution) (engine.Answered, error) {
	out := engine.Answered{Decision: decisionOf(a), Park: p}
	if err := b.storeDecision(ctx, a, p); err != nil {
		return out, err
	}
	var err error
	if out.Record, err = b.stepOf(ctx, p); err != nil {
		return out, err
	}
	engine.ApplyResolution(&out.Record, res, a.At)
	b.putRecords(p.RunID, []engine.Record{out.Record})
	out.Run, err = scanRun(b.row(ctx, "UPDATE runs SET wakeups = wakeups + 1, span_seq = span_seq + 1, wake_at = CASE WHEN status IN ('pending_approval', 'waiting') THEN NULL ELSE wake_at END, "+
		"status = CASE WHEN status IN ('pending_approval', 'waiting') THEN 'queued' ELSE status END WHERE id = ? RETURNING "+runColumns, p.RunID))
	if err != nil {
		return out, fmt.Errorf("wake run %s: %w", p.RunID, err)
	}
	b.enqueue(p.RunID, a.At.Add(b.delay))
	b.due(p.RunID)
	b.news.inbox[a.AccountID] = true
	return out, nil
}

// storeDecision closes the park with the answer.
func (b *batch) storeDecision(ctx context.Context, a engine.Answer, p engine.Park) error {
	if _, err := b.exec(ctx, "UPDATE parks SET status = 'decided', closed_at = ? WHERE id = ?", micros(a.At), p.ID); err != nil {
		return fmt.Errorf("decide park %s: %w", p.ID, err)
	}
	if _, err := b.exec(ctx, "UPDATE approvals SET status = 'decided', closed_at = ? WHERE id = ?", micros(a.At), p.ID); err != nil {
		return fmt.Errorf("decide approval %s: %w", p.ID, err)
	}
	if _, err := b.exec(ctx, "INSERT INTO decisions (park_id, account_id, actor, outcome, comment, data, created_at) VALUES (?,?,?,?,?,?,?)",
		p.ID, a.AccountID, toJSON(a.By), a.Outcome, a.Comment, string(a.Data), micros(a.At)); err != nil {
		return fmt.Errorf("store decision of %s: %w", p.ID, err)
	}
	return b.audit(ctx, a.AccountID, a.By, "approval.decided", p.ID, map[string]any{"outcome": a.Outcome, "run_id": p.RunID, "address": p.Address}, a.At)
}

func decisionOf(a engine.Answer) engine.Decision {
	return engine.Decision{ParkID: a.ParkID, By: a.By, Outcome: a.Outcome, Comment: a.Comment, Data: a.Data, At: a.At}
}

// stepOf reads the record of the step that waits.
func (b *batch) stepOf(ctx context.Context, p engine.Park) (engine.Record, error) {
	if err := b.settle(ctx, p.RunID); err != nil {
		return engine.Record{}, err
	}
	rec, err := scanRecord(b.row(ctx, "SELECT "+recordColumns+" FROM step_records WHERE run_id = ? AND address = ? AND round = ?", p.RunID, p.Address, p.Round))
	if err != nil {
		return rec, fmt.Errorf("read step %s of %s: %w", p.Address, p.RunID, err)
	}
	return rec, nil
}

// answerAgain answers for a wait that is not open any more: the same answer by the
// same person is repeated, anything else is a conflict.
func (b *batch) answerAgain(ctx context.Context, a engine.Answer, p engine.Park, status, reason string) (engine.Answered, error) {
	if status != "decided" {
		if status == "timed_out" {
			reason = "it timed out"
		}
		return engine.Answered{}, refusal{&engine.ConflictError{Message: "this approval is closed: " + reason}}
	}
	first, err := b.decision(ctx, a.ParkID)
	if err != nil {
		return engine.Answered{}, err
	}
	if !samePerson(first.By, a.By) || first.Outcome != a.Outcome || first.Comment != a.Comment || string(first.Data) != string(a.Data) {
		when := first.At.Format("2006-01-02 15:04 UTC")
		return engine.Answered{}, refusal{&engine.ConflictError{Message: fmt.Sprintf("already answered %q by %s at %s", first.Outcome, first.By.Name, when)}}
	}
	out := engine.Answered{Decision: first, Park: p, Repeated: true}
	if out.Record, err = b.stepOf(ctx, p); err != nil {
		return out, err
	}
	out.Run, err = find(ctx, b, a.AccountID, p.RunID)
	return out, err
}

// decision reads the answer that a park has.
func (b *batch) decision(ctx context.Context, parkID string) (engine.Decision, error) {
	d := engine.Decision{ParkID: parkID}
	var by, data string
	var at models.Time
	err := b.row(ctx, "SELECT actor, outcome, comment, data, created_at FROM decisions WHERE park_id = ?", parkID).Scan(&by, &d.Outcome, &d.Comment, &data, &at)
	if err != nil {
		return d, fmt.Errorf("read decision of %s: %w", parkID, err)
	}
	d.Data, d.At = raw(data), at.Time
	return d, fromJSON(by, &d.By)
}

// samePerson goes by the id: a name may have been changed since.
func samePerson(a, b engine.Actor) bool {
	if a.ID != "" || b.ID != "" {
		return a.Kind == b.Kind && a.ID == b.ID
	}
	return a == b
}

package gormstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sluice/engine"
	"sluice/models"
)

// openPark stores a wait, and the approval that shows it in the inbox.
func (s *Store) openPark(ctx context.Context, tx *sql.Tx, t engine.Transition, p *engine.Park) error {
	body, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write park %s: %w", p.ID, err)
	}
	_, err = s.exec(ctx, tx, "INSERT INTO parks (id, account_id, run_id, address, round, node_id, kind, status, body, reason, opened_at) VALUES (?,?,?,?,?,?,?,'open',?,'',?) ON CONFLICT (id) DO NOTHING",
		p.ID, t.AccountID, t.RunID, p.Address, p.Round, p.NodeID, string(p.Kind), string(body), models.At(p.OpenedAt))
	if err != nil {
		return fmt.Errorf("open park %s: %w", p.ID, err)
	}
	if p.Approval == nil {
		return nil
	}
	a := p.Approval
	_, err = s.exec(ctx, tx, "INSERT INTO approvals (id, account_id, run_id, workflow_id, address, node_id, kind, title, body, department, assignees, content, schema, outcomes, search, status, reason, due_at, opened_at) "+
		"VALUES (?,?,?,(SELECT workflow_id FROM runs WHERE id = ?),?,?,?,?,?,?,?,?,?,?,?,'pending','',?,?) ON CONFLICT (id) DO NOTHING",
		p.ID, t.AccountID, t.RunID, t.RunID, p.Address, p.NodeID, string(p.Kind), text(a.Title), text(a.Body), text(a.Department), toJSON(a.Assignees),
		string(a.Content), string(a.Schema), toJSON(p.Outcomes), models.ApprovalSearch(a.Title, a.Body), models.At(p.WakeAt), models.At(p.OpenedAt))
	if err != nil {
		return fmt.Errorf("open approval %s: %w", p.ID, err)
	}
	return nil
}

// closePark ends a wait without a person. The fence has seen it open.
func (s *Store) closePark(ctx context.Context, tx *sql.Tx, c engine.ParkClose, at time.Time) error {
	if _, err := s.exec(ctx, tx, "UPDATE parks SET status = ?, reason = ?, closed_at = ? WHERE id = ? AND status = 'open'", c.Status, text(c.Reason), models.At(at), c.ID); err != nil {
		return fmt.Errorf("close park %s: %w", c.ID, err)
	}
	reason := c.Reason
	if c.Status == "timed_out" {
		reason = "timed out at " + at.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	if _, err := s.exec(ctx, tx, "UPDATE approvals SET status = 'closed', reason = ?, closed_at = ? WHERE id = ?", text(reason), models.At(at), c.ID); err != nil {
		return fmt.Errorf("close approval %s: %w", c.ID, err)
	}
	return nil
}

// Answer implements [engine.Store].
func (s *Store) Answer(ctx context.Context, a engine.Answer) (out engine.Answered, err error) {
	err = s.do(ctx, func(ctx context.Context, tx *sql.Tx) error {
		out = engine.Answered{}
		park, status, reason, err := s.park(ctx, tx, a)
		if err != nil {
			return err
		}
		if status != "open" {
			return s.answerAgain(ctx, tx, a, park, status, reason, &out)
		}
		res, err := a.Resolve(park)
		if err != nil {
			return refusal{err}
		}
		return s.decide(ctx, tx, a, park, res, &out)
	})
	return out, err
}

// park reads the wait that an answer names.
func (s *Store) park(ctx context.Context, tx *sql.Tx, a engine.Answer) (p engine.Park, status, reason string, err error) {
	var body string
	// The run is locked before its parks, in the order in which a segment's commit
	// takes them.
	query := "SELECT p.status, p.body, p.reason FROM runs r JOIN parks p ON p.run_id = r.id WHERE p.id = ? AND p.account_id = ?"
	if s.db.Dialect == models.Postgres {
		query += " FOR UPDATE"
	}
	err = tx.QueryRowContext(ctx, s.bind(query), a.ParkID, a.AccountID).Scan(&status, &body, &reason)
	if err == sql.ErrNoRows {
		return p, "", "", refusal{fmt.Errorf("approval %s: %w", a.ParkID, engine.ErrNotFound)}
	}
	if err != nil {
		return p, "", "", fmt.Errorf("read park %s: %w", a.ParkID, err)
	}
	return p, status, reason, fromJSON(body, &p)
}

// decide writes the decision, the step's record and the wake-up.
func (s *Store) decide(ctx context.Context, tx *sql.Tx, a engine.Answer, p engine.Park, res engine.Resolution, out *engine.Answered) error {
	if _, err := s.exec(ctx, tx, "UPDATE parks SET status = 'decided', closed_at = ? WHERE id = ?", models.At(a.At), p.ID); err != nil {
		return fmt.Errorf("decide park %s: %w", p.ID, err)
	}
	if _, err := s.exec(ctx, tx, "UPDATE approvals SET status = 'decided', closed_at = ? WHERE id = ?", models.At(a.At), p.ID); err != nil {
		return fmt.Errorf("decide approval %s: %w", p.ID, err)
	}
	if _, err := s.exec(ctx, tx, "INSERT INTO decisions (park_id, account_id, actor, outcome, comment, data, created_at) VALUES (?,?,?,?,?,?,?)",
		p.ID, a.AccountID, toJSON(a.By), a.Outcome, text(a.Comment), string(a.Data), models.At(a.At)); err != nil {
		return fmt.Errorf("store decision of %s: %w", p.ID, err)
	}
	rec, err := s.stepOf(ctx, tx, p)
	if err != nil {
		return err
	}
	engine.ApplyResolution(&rec, res, a.At)
	if err := s.putRecords(ctx, tx, p.RunID, []engine.Record{rec}); err != nil {
		return err
	}
	if _, err := s.exec(ctx, tx, "UPDATE runs SET wakeups = wakeups + 1, span_seq = span_seq + 1, wake_at = CASE WHEN status IN ('pending_approval', 'waiting') THEN NULL ELSE wake_at END, "+
		"status = CASE WHEN status IN ('pending_approval', 'waiting') THEN 'queued' ELSE status END WHERE id = ?", p.RunID); err != nil {
		return fmt.Errorf("wake run %s: %w", p.RunID, err)
	}
	if err := s.audit(ctx, tx, a.AccountID, a.By, "approval.decided", p.ID, map[string]any{"outcome": a.Outcome, "run_id": p.RunID, "address": p.Address}, a.At); err != nil {
		return err
	}
	run, err := s.find(ctx, tx, a.AccountID, p.RunID, false)
	if err != nil {
		return err
	}
	*out = engine.Answered{Decision: decisionOf(a), Park: p, Record: rec, Run: run}
	return s.enqueue(ctx, tx, p.RunID, a.At.Add(s.delay))
}

func decisionOf(a engine.Answer) engine.Decision {
	return engine.Decision{ParkID: a.ParkID, By: a.By, Outcome: a.Outcome, Comment: a.Comment, Data: a.Data, At: a.At}
}

func (s *Store) stepOf(ctx context.Context, tx *sql.Tx, p engine.Park) (engine.Record, error) {
	row := tx.QueryRowContext(ctx, s.bind("SELECT "+recordColumns+" FROM step_records WHERE run_id = ? AND address = ? AND round = ?"), p.RunID, p.Address, p.Round)
	rec, err := scanRecord(row)
	if err != nil {
		return rec, fmt.Errorf("read step %s of %s: %w", p.Address, p.RunID, err)
	}
	return rec, nil
}

// answerAgain answers for a wait that is not open any more: the same answer by the
// same person is repeated, anything else is a conflict.
func (s *Store) answerAgain(ctx context.Context, tx *sql.Tx, a engine.Answer, p engine.Park, status, reason string, out *engine.Answered) error {
	if status != "decided" {
		if status == "timed_out" {
			reason = "it timed out"
		}
		return refusal{&engine.ConflictError{Message: "this approval is closed: " + reason}}
	}
	var d models.Decision
	err := tx.QueryRowContext(ctx, s.bind("SELECT actor, outcome, comment, data, created_at FROM decisions WHERE park_id = ?"), a.ParkID).
		Scan(&d.Actor, &d.Outcome, &d.Comment, &d.Data, &d.CreatedAt)
	if err != nil {
		return fmt.Errorf("read decision of %s: %w", a.ParkID, err)
	}
	var by engine.Actor
	if err := fromJSON(d.Actor, &by); err != nil {
		return err
	}
	if by != a.By || d.Outcome != a.Outcome || d.Comment != text(a.Comment) || d.Data != string(a.Data) {
		return refusal{&engine.ConflictError{Message: fmt.Sprintf("already answered %q by %s at %s", d.Outcome, by.Name, d.CreatedAt.UTC().Format("2006-01-02 15:04 UTC"))}}
	}
	rec, err := s.stepOf(ctx, tx, p)
	if err != nil {
		return err
	}
	run, err := s.find(ctx, tx, a.AccountID, p.RunID, false)
	if err != nil {
		return err
	}
	first := decisionOf(a)
	first.At = d.CreatedAt.Time
	*out = engine.Answered{Decision: first, Park: p, Record: rec, Run: run, Repeated: true}
	return nil
}

// Cancel implements [engine.Store].
func (s *Store) Cancel(ctx context.Context, c engine.Cancellation) (out engine.Cancelled, err error) {
	err = s.do(ctx, func(ctx context.Context, tx *sql.Tx) error {
		out = engine.Cancelled{}
		run, err := s.find(ctx, tx, c.AccountID, c.RunID, true)
		if err != nil {
			return refusal{err}
		}
		switch {
		case run.Status == engine.RunCancelled:
			out.Run = run
			return nil
		case run.Status.Terminal():
			return refusal{&engine.ConflictError{Message: "the run is over: it " + strings.TrimPrefix(string(run.Status), "run ")}}
		}
		snap, err := s.snapshot(ctx, tx, run)
		if err != nil {
			return err
		}
		for _, r := range snap.Records {
			if !r.Status.Terminal() && !r.Superseded {
				r.Status, r.EndedAt, r.Taken, r.NextAttemptAt = engine.StepCancelled, c.At, []int{}, time.Time{}
				out.Records = append(out.Records, r)
			}
		}
		if err := s.putRecords(ctx, tx, run.ID, out.Records); err != nil {
			return err
		}
		for _, p := range snap.Parks {
			if err := s.closePark(ctx, tx, engine.ParkClose{ID: p.ID, Status: "cancelled", Reason: "the run was cancelled"}, c.At); err != nil {
				return err
			}
		}
		stop := &engine.StepError{Code: engine.CodeCancelled, Message: engine.CancelMessage(c)}
		if _, err := s.exec(ctx, tx, "UPDATE runs SET status = 'cancelled', epoch = epoch + 1, error = ?, ended_at = ?, wake_at = NULL, lease_owner = '', lease_until = NULL, span_seq = span_seq + ? WHERE id = ?",
			stepError(stop), models.At(c.At), len(out.Records)+1, run.ID); err != nil {
			return fmt.Errorf("cancel run %s: %w", run.ID, err)
		}
		if err := s.audit(ctx, tx, c.AccountID, c.By, "run.cancelled", run.ID, map[string]any{"reason": c.Reason}, c.At); err != nil {
			return err
		}
		out.Changed = true
		out.Run, err = s.find(ctx, tx, c.AccountID, run.ID, false)
		return err
	})
	return out, err
}

func (s *Store) audit(ctx context.Context, tx *sql.Tx, accountID string, by engine.Actor, action, subject string, detail map[string]any, at time.Time) error {
	_, err := s.exec(ctx, tx, "INSERT INTO audit_events (id, account_id, actor, action, subject, detail, created_at) VALUES (?,?,?,?,?,?,?)",
		models.NewID(), accountID, toJSON(by), action, subject, text(toJSON(detail)), models.At(at))
	if err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	return nil
}

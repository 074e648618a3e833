package gormstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sluice/engine"
	"sluice/models"
)

// openPark stores a wait, and the approval that shows it in the inbox.
func (b *batch) openPark(ctx context.Context, run fenced, p *engine.Park) error {
	body, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write park %s: %w", p.ID, err)
	}
	_, err = b.exec(ctx, "INSERT INTO parks (id, account_id, run_id, address, round, node_id, kind, status, body, reason, opened_at) VALUES (?,?,?,?,?,?,?,'open',?,'',?) ON CONFLICT (id) DO NOTHING",
		p.ID, run.accountID, run.id, p.Address, p.Round, p.NodeID, string(p.Kind), models.Clean(string(body)), micros(p.OpenedAt))
	if err != nil {
		return fmt.Errorf("open park %s: %w", p.ID, err)
	}
	if p.Approval == nil {
		return nil
	}
	a := p.Approval
	_, err = b.exec(ctx, "INSERT INTO approvals (id, account_id, run_id, workflow_id, address, node_id, kind, title, body, department, assignees, content, schema, outcomes, search, status, reason, due_at, opened_at) "+
		"VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,'pending','',?,?) ON CONFLICT (id) DO NOTHING",
		p.ID, run.accountID, run.id, run.workflowID, p.Address, p.NodeID, string(p.Kind), models.Clean(a.Title), models.Clean(a.Body), models.Clean(a.Department), toJSON(a.Assignees),
		rawJSON(a.Content), rawJSON(a.Schema), toJSON(p.Outcomes), models.ApprovalSearch(a.Title, a.Body), micros(p.WakeAt), micros(p.OpenedAt))
	if err != nil {
		return fmt.Errorf("open approval %s: %w", p.ID, err)
	}
	return nil
}

// closePark ends a wait without a person. The fence has seen it open.
func (b *batch) closePark(ctx context.Context, c engine.ParkClose, at time.Time) error {
	if _, err := b.exec(ctx, "UPDATE parks SET status = ?, reason = ?, closed_at = ? WHERE id = ? AND status = 'open'", c.Status, models.Clean(c.Reason), micros(at), c.ID); err != nil {
		return fmt.Errorf("close park %s: %w", c.ID, err)
	}
	reason := c.Reason
	if c.Status == "timed_out" {
		reason = "timed out at " + at.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	if _, err := b.exec(ctx, "UPDATE approvals SET status = 'closed', reason = ?, closed_at = ? WHERE id = ?", models.Clean(reason), micros(at), c.ID); err != nil {
		return fmt.Errorf("close approval %s: %w", c.ID, err)
	}
	return nil
}

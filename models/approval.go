package models

import (
	"context"
)

// Approval is what the inbox shows: a park that a person answers. Its id is the
// park's.
type Approval struct {
	ID         string
	AccountID  string
	RunID      string
	WorkflowID string
	Address    string
	NodeID     string
	Kind       string
	Title      string
	Body       string
	Department string
	Assignees  string
	Content    string
	Schema     string
	Outcomes   string
	Search     string
	Status     string // pending, decided, closed
	Reason     string // why it was closed without a decision
	DueAt      Time
	OpenedAt   Time
	ClosedAt   Time
}

// Decision is a person's answer.
type Decision struct {
	ParkID    string `gorm:"primaryKey"`
	AccountID string
	Actor     string
	Outcome   string
	Comment   string
	Data      string
	CreatedAt Time
}

// ApprovalItem is an approval with its decision, if there is one.
type ApprovalItem struct {
	Approval
	WorkflowName string
	Decision     *Decision `gorm:"-"`
}

// ApprovalQuery filters the inbox. Status "" is any.
type ApprovalQuery struct {
	AccountID string
	Status    string // pending, decided (which includes closed), or ""
	RunID     string
	Search    string
	Cursor    string
	Limit     int
}

// Approvals lists approvals: the latest opened first.
func (d *DB) Approvals(ctx context.Context, q ApprovalQuery) ([]ApprovalItem, string, error) {
	db := d.Read(ctx).Model(&Approval{}).Where("account_id = ?", q.AccountID)
	switch q.Status {
	case "pending":
		db = db.Where("status = 'pending'")
	case "decided":
		db = db.Where("status <> 'pending'")
	}
	if q.RunID != "" {
		db = db.Where("run_id = ?", Clean(q.RunID))
	}
	db = matching(db, q.Search)
	db, limit, err := paged(db, "opened_at", q.Cursor, q.Limit)
	if err != nil {
		return nil, "", err
	}
	var rows []Approval
	if err := db.Find(&rows).Error; err != nil {
		return nil, "", one(err, "list approvals")
	}
	next := ""
	if len(rows) > limit {
		rows = rows[:limit]
		next = cursorOf(rows[limit-1].OpenedAt, rows[limit-1].ID)
	}
	items, err := d.complete(ctx, rows)
	return items, next, err
}

// complete adds workflow names and decisions.
func (d *DB) complete(ctx context.Context, rows []Approval) ([]ApprovalItem, error) {
	items := make([]ApprovalItem, len(rows))
	ids, workflows := make([]string, len(rows)), make([]string, len(rows))
	for i, a := range rows {
		items[i].Approval, ids[i], workflows[i] = a, a.ID, a.WorkflowID
	}
	var decisions []Decision
	if err := d.Read(ctx).Where("park_id IN ?", ids).Find(&decisions).Error; err != nil {
		return nil, one(err, "read decisions")
	}
	var names []Workflow
	if err := d.Read(ctx).Select("id, name").Where("id IN ?", workflows).Find(&names).Error; err != nil {
		return nil, one(err, "read workflow names")
	}
	for i := range items {
		for j := range decisions {
			if decisions[j].ParkID == items[i].ID {
				items[i].Decision = &decisions[j]
			}
		}
		for _, w := range names {
			if w.ID == items[i].WorkflowID {
				items[i].WorkflowName = w.Name
			}
		}
	}
	return items, nil
}

// Approval finds an approval.
func (d *DB) Approval(ctx context.Context, accountID, id string) (ApprovalItem, error) {
	var a Approval
	if err := d.Read(ctx).Where("account_id = ? AND id = ?", accountID, id).Take(&a).Error; err != nil {
		return ApprovalItem{}, one(err, "approval %s", id)
	}
	items, err := d.complete(ctx, []Approval{a})
	if err != nil {
		return ApprovalItem{}, err
	}
	return items[0], nil
}

// PendingApprovals counts the open approvals of an account.
func (d *DB) PendingApprovals(ctx context.Context, accountID string) (int64, error) {
	var n int64
	err := d.Read(ctx).Model(&Approval{}).Where("account_id = ? AND status = 'pending'", accountID).Count(&n).Error
	return n, one(err, "count approvals")
}

// ApprovalSearch is the search column of an approval.
func ApprovalSearch(parts ...string) string { return searchText(parts...) }

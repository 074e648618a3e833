package models

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"
)

// Workflow is a workflow with its draft, which can change, and the number of its
// latest published version (0: none).
type Workflow struct {
	ID               string
	AccountID        string
	Name             string
	Description      string
	Search           string
	Draft            string
	DraftRevision    int64
	UpdatedBy        string
	PublishedVersion int
	PublishedAt      Time
	DeletedAt        Time
	CreatedAt        Time
	UpdatedAt        Time
}

// StaleError says that a draft has changed since it was read.
type StaleError struct {
	Current   int64
	UpdatedBy string
	UpdatedAt time.Time
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("the workflow was saved by %s at %s since you opened it (revision %d)", e.UpdatedBy, e.UpdatedAt.UTC().Format("2006-01-02 15:04 UTC"), e.Current)
}

// Draft is what a save changes.
type Draft struct {
	Name        string
	Description string
	Body        string
	By          string
}

// clean is the draft as every database can keep it.
func (d Draft) clean() Draft {
	return Draft{Name: Clean(d.Name), Description: Clean(d.Description), Body: Clean(d.Body), By: Clean(d.By)}
}

// CreateWorkflow stores a new workflow.
func (d *DB) CreateWorkflow(ctx context.Context, accountID string, draft Draft) (Workflow, error) {
	draft = draft.clean()
	w := Workflow{
		ID: NewID(), AccountID: accountID, Name: draft.Name, Description: draft.Description, Search: searchText(draft.Name, draft.Description),
		Draft: draft.Body, DraftRevision: 1, UpdatedBy: draft.By, CreatedAt: Now(), UpdatedAt: Now(),
	}
	err := d.Write(ctx, func(tx *gorm.DB) error { return tx.Create(&w).Error })
	return w, one(err, "create workflow")
}

// SaveDraft replaces a draft if its revision is still the one that was read;
// otherwise the error is a *StaleError.
func (d *DB) SaveDraft(ctx context.Context, accountID, id string, revision int64, draft Draft) (Workflow, error) {
	draft = draft.clean()
	var w Workflow
	err := d.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Model(&Workflow{}).
			Where("account_id = ? AND id = ? AND draft_revision = ? AND deleted_at IS NULL", accountID, id, revision).
			Updates(map[string]any{
				"name": draft.Name, "description": draft.Description, "search": searchText(draft.Name, draft.Description), "draft": draft.Body,
				"draft_revision": revision + 1, "updated_by": draft.By, "updated_at": Now(),
			})
		if res.Error != nil {
			return res.Error
		}
		if err := tx.Where("account_id = ? AND id = ? AND deleted_at IS NULL", accountID, id).Take(&w).Error; err != nil {
			return err
		}
		if res.RowsAffected == 0 {
			return &StaleError{Current: w.DraftRevision, UpdatedBy: w.UpdatedBy, UpdatedAt: w.UpdatedAt.Time}
		}
		return nil
	})
	return w, one(err, "save workflow %s", id)
}

// Workflow finds a workflow that is not deleted.
func (d *DB) Workflow(ctx context.Context, accountID, id string) (Workflow, error) {
	var w Workflow
	err := d.Read(ctx).Where("account_id = ? AND id = ? AND deleted_at IS NULL", accountID, id).Take(&w).Error
	return w, one(err, "workflow %s", id)
}

// DeleteWorkflow hides a workflow. Its versions stay for the runs that need them.
func (d *DB) DeleteWorkflow(ctx context.Context, accountID, id string) error {
	err := d.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Model(&Workflow{}).Where("account_id = ? AND id = ? AND deleted_at IS NULL", accountID, id).Update("deleted_at", Now())
		if res.Error == nil && res.RowsAffected == 0 {
			return gorm.ErrRecordNotFound
		}
		return res.Error
	})
	return one(err, "workflow %s", id)
}

// WorkflowItem is a line of the workflow list.
type WorkflowItem struct {
	Workflow
	LastRunID     string
	LastRunStatus string
	LastRunAt     Time
}

// WorkflowQuery filters the workflow list.
type WorkflowQuery struct {
	AccountID string
	Search    string
	Cursor    string
	Limit     int
}

// Workflows lists workflows, the latest changed first, with their last run. The
// cursor of the next page is empty on the last.
func (d *DB) Workflows(ctx context.Context, q WorkflowQuery) ([]WorkflowItem, string, error) {
	db := d.Read(ctx).Model(&Workflow{}).Where("account_id = ? AND deleted_at IS NULL", q.AccountID)
	db = matching(db, q.Search)
	db, limit, err := paged(db, "updated_at", q.Cursor, q.Limit)
	if err != nil {
		return nil, "", err
	}
	var rows []Workflow
	if err := db.Omit("draft").Find(&rows).Error; err != nil {
		return nil, "", one(err, "list workflows")
	}
	next := ""
	if len(rows) > limit {
		rows = rows[:limit]
		next = cursorOf(rows[limit-1].UpdatedAt, rows[limit-1].ID)
	}
	items, err := d.withLastRuns(ctx, q.AccountID, rows)
	return items, next, err
}

// withLastRuns adds the latest run of each workflow: one query, one look into the
// index for each.
func (d *DB) withLastRuns(ctx context.Context, accountID string, rows []Workflow) ([]WorkflowItem, error) {
	items, ids := make([]WorkflowItem, len(rows)), make([]string, len(rows))
	for i, w := range rows {
		items[i].Workflow, ids[i] = w, w.ID
	}
	last := d.Read(ctx).Table("workflows").Where("workflows.account_id = ? AND workflows.id IN ?", accountID, ids).
		Select("(SELECT runs.id FROM runs WHERE runs.account_id = workflows.account_id AND runs.workflow_id = workflows.id ORDER BY runs.created_at DESC, runs.id DESC LIMIT 1)")
	var runs []Run
	if err := d.Read(ctx).Select("id, workflow_id, status, created_at").Where("id IN (?)", last).Find(&runs).Error; err != nil {
		return nil, one(err, "last runs of workflows")
	}
	byWorkflow := make(map[string]Run, len(runs))
	for _, r := range runs {
		byWorkflow[r.WorkflowID] = r
	}
	for i := range items {
		if r, ok := byWorkflow[items[i].ID]; ok {
			items[i].LastRunID, items[i].LastRunStatus, items[i].LastRunAt = r.ID, r.Status, r.CreatedAt
		}
	}
	return items, nil
}

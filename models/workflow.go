package models

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
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

// WorkflowVersion is a definition that runs are made of. Version 0 is a draft that
// was run without being published.
type WorkflowVersion struct {
	ID         string
	AccountID  string
	WorkflowID string
	Version    int
	Hash       string
	Notes      string
	CreatedBy  string
	CreatedAt  Time
}

// Definition is a version's text, kept once for equal versions.
type Definition struct {
	Hash string `gorm:"primaryKey"`
	Body string
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

// CreateWorkflow stores a new workflow.
func (d *DB) CreateWorkflow(ctx context.Context, accountID string, draft Draft) (Workflow, error) {
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

func (d *DB) withLastRuns(ctx context.Context, accountID string, rows []Workflow) ([]WorkflowItem, error) {
	items := make([]WorkflowItem, len(rows))
	for i, w := range rows {
		items[i].Workflow = w
		var last Run
		res := d.Read(ctx).Select("id, status, created_at").Where("account_id = ? AND workflow_id = ?", accountID, w.ID).Order("created_at DESC").Limit(1).Find(&last)
		if res.Error != nil {
			return nil, one(res.Error, "last run of %s", w.ID)
		}
		if res.RowsAffected > 0 {
			items[i].LastRunID, items[i].LastRunStatus, items[i].LastRunAt = last.ID, last.Status, last.CreatedAt
		}
	}
	return items, nil
}

// matching keeps rows whose search column holds every word.
func matching(db *gorm.DB, search string) *gorm.DB {
	for _, word := range splitWords(search) {
		db = db.Where(`search LIKE ? ESCAPE '\'`, like(word))
	}
	return db
}

// AddVersion stores a version. A published one gets the next number; a draft
// version is made once per text. The workflow is checked to be the account's.
func (d *DB) AddVersion(ctx context.Context, v WorkflowVersion, body string, publish bool, revision int64) (WorkflowVersion, error) {
	err := d.Write(ctx, func(tx *gorm.DB) error {
		var w Workflow
		if err := tx.Where("account_id = ? AND id = ? AND deleted_at IS NULL", v.AccountID, v.WorkflowID).Take(&w).Error; err != nil {
			return err
		}
		if publish && w.DraftRevision != revision {
			return &StaleError{Current: w.DraftRevision, UpdatedBy: w.UpdatedBy, UpdatedAt: w.UpdatedAt.Time}
		}
		if err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&Definition{Hash: v.Hash, Body: body}).Error; err != nil {
			return err
		}
		if !publish {
			found := tx.Where("workflow_id = ? AND hash = ?", v.WorkflowID, v.Hash).Order("version DESC").Limit(1).Find(&v)
			if found.Error != nil || found.RowsAffected > 0 {
				return found.Error
			}
			v.Version = 0
		} else {
			v.Version = w.PublishedVersion + 1
		}
		v.ID, v.CreatedAt = NewID(), Now()
		if err := tx.Create(&v).Error; err != nil {
			return err
		}
		if !publish {
			return nil
		}
		return tx.Model(&Workflow{}).Where("id = ?", w.ID).UpdateColumns(map[string]any{"published_version": v.Version, "published_at": v.CreatedAt}).Error
	})
	return v, one(err, "store version of %s", v.WorkflowID)
}

// Version finds a published version by its number.
func (d *DB) Version(ctx context.Context, accountID, workflowID string, number int) (WorkflowVersion, error) {
	var v WorkflowVersion
	err := d.Read(ctx).Where("account_id = ? AND workflow_id = ? AND version = ?", accountID, workflowID, number).Take(&v).Error
	return v, one(err, "version %d of %s", number, workflowID)
}

// VersionByID finds any version.
func (d *DB) VersionByID(ctx context.Context, accountID, id string) (WorkflowVersion, error) {
	var v WorkflowVersion
	err := d.Read(ctx).Where("account_id = ? AND id = ?", accountID, id).Take(&v).Error
	return v, one(err, "version %s", id)
}

// Versions lists a workflow's published versions, the newest first.
func (d *DB) Versions(ctx context.Context, accountID, workflowID string) ([]WorkflowVersion, error) {
	var out []WorkflowVersion
	err := d.Read(ctx).Where("account_id = ? AND workflow_id = ? AND version > 0", accountID, workflowID).Order("version DESC").Find(&out).Error
	return out, one(err, "versions of %s", workflowID)
}

// DefinitionBody is the text of a version.
func (d *DB) DefinitionBody(ctx context.Context, hash string) (string, error) {
	var def Definition
	err := d.Read(ctx).Where("hash = ?", hash).Take(&def).Error
	return def.Body, one(err, "definition %s", hash)
}

// ErrCursor is returned for a cursor that was not given out by the list.
var ErrCursor = errors.New("the cursor is not one of this list")

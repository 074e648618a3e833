package models

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

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

// AddVersion stores a version of a workflow of the account. A published one gets the
// next number if the draft is still at the revision (else the error is a
// *StaleError); publishing what is published already returns that version. A draft
// version is made once per text.
func (d *DB) AddVersion(ctx context.Context, v WorkflowVersion, body string, publish bool, revision int64) (WorkflowVersion, error) {
	v.Notes, v.CreatedBy = Clean(v.Notes), Clean(v.CreatedBy)
	err := d.Write(ctx, func(tx *gorm.DB) error {
		var w Workflow
		// The lock makes versions that are added at the same time wait for each other.
		if err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).
			Where("account_id = ? AND id = ? AND deleted_at IS NULL", v.AccountID, v.WorkflowID).Take(&w).Error; err != nil {
			return err
		}
		if publish && w.DraftRevision != revision {
			return &StaleError{Current: w.DraftRevision, UpdatedBy: w.UpdatedBy, UpdatedAt: w.UpdatedAt.Time}
		}
		found, err := sameVersion(tx, &v, w, publish)
		if err != nil || found {
			return err
		}
		return insertVersion(tx, &v, body, w, publish)
	})
	return v, one(err, "store version of %s", v.WorkflowID)
}

// sameVersion finds the version that need not be made again: the latest published
// one, or for drafts any with the same text.
func sameVersion(tx *gorm.DB, v *WorkflowVersion, w Workflow, publish bool) (bool, error) {
	same := tx.Where("workflow_id = ? AND hash = ?", v.WorkflowID, v.Hash)
	if publish {
		same = same.Where("version > 0 AND version = ?", w.PublishedVersion)
	}
	var old []WorkflowVersion
	if err := same.Order("version DESC").Limit(1).Find(&old).Error; err != nil || len(old) == 0 {
		return false, err
	}
	*v = old[0]
	return true, nil
}

func insertVersion(tx *gorm.DB, v *WorkflowVersion, body string, w Workflow, publish bool) error {
	if err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&Definition{Hash: v.Hash, Body: body}).Error; err != nil {
		return err
	}
	v.ID, v.CreatedAt, v.Version = NewID(), Now(), 0
	if publish {
		v.Version = w.PublishedVersion + 1
	}
	if err := tx.Create(v).Error; err != nil || !publish {
		return err
	}
	return tx.Model(&Workflow{}).Where("id = ?", w.ID).UpdateColumns(map[string]any{"published_version": v.Version, "published_at": v.CreatedAt}).Error
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

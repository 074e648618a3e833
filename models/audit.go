package models

import (
	"context"

	"gorm.io/gorm"
)

// AuditEvent says who did what to what.
type AuditEvent struct {
	ID        string
	AccountID string
	Actor     string // JSON: kind, id, name
	Action    string // "workflow.published", "approval.decided", …
	Subject   string // the id it was done to
	Detail    string // JSON, or empty
	CreatedAt Time
}

// AddAudit stores an event.
func (d *DB) AddAudit(ctx context.Context, e AuditEvent) error {
	e.ID, e.CreatedAt = NewID(), Now()
	e.Actor, e.Subject, e.Detail = Clean(e.Actor), Clean(e.Subject), Clean(e.Detail)
	err := d.Write(ctx, func(tx *gorm.DB) error { return tx.Create(&e).Error })
	return one(err, "store audit event")
}

// AuditEvents lists an account's events, the newest first.
func (d *DB) AuditEvents(ctx context.Context, accountID string, limit int) ([]AuditEvent, error) {
	var out []AuditEvent
	err := d.Read(ctx).Where("account_id = ?", accountID).Order("created_at DESC, id DESC").Limit(min(limit, MaxLimit)).Find(&out).Error
	return out, one(err, "list audit events")
}

package models

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Span is a node of a run's trace tree, as JSON.
type Span struct {
	RunID     string `gorm:"primaryKey"`
	ID        string `gorm:"primaryKey"`
	Seq       int64
	AccountID string
	Body      string
}

// SaveSpans upserts spans; an older version never replaces a newer one. Spans of
// runs that are gone are left out.
func (d *DB) SaveSpans(ctx context.Context, spans []Span) error {
	if len(spans) == 0 {
		return nil
	}
	err := d.Write(ctx, func(tx *gorm.DB) error {
		return tx.Clauses(clause.OnConflict{
			Columns:   []clause.Column{{Name: "run_id"}, {Name: "id"}},
			DoUpdates: clause.AssignmentColumns([]string{"seq", "body"}),
			Where:     clause.Where{Exprs: []clause.Expression{gorm.Expr("spans.seq < excluded.seq")}},
		}).CreateInBatches(&spans, 200).Error
	})
	return one(err, "save spans")
}

// Spans lists a run's spans that changed after a sequence number, in its order.
func (d *DB) Spans(ctx context.Context, accountID, runID string, after int64) ([]Span, error) {
	var out []Span
	err := d.Read(ctx).Where("run_id = ? AND account_id = ? AND seq > ?", runID, accountID, after).Order("seq").Find(&out).Error
	return out, one(err, "spans of %s", runID)
}

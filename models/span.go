package models

import (
	"cmp"
	"context"
	"slices"

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
		rows, err := savable(tx, spans)
		if err != nil || len(rows) == 0 {
			return err
		}
		return tx.Clauses(clause.OnConflict{
			Columns:   []clause.Column{{Name: "run_id"}, {Name: "id"}},
			DoUpdates: clause.AssignmentColumns([]string{"seq", "body"}),
			Where:     clause.Where{Exprs: []clause.Expression{gorm.Expr("spans.seq < excluded.seq")}},
		}).CreateInBatches(&rows, spansPerStatement).Error
	})
	return one(err, "save spans")
}

// spansPerStatement keeps statements well below the databases' limits of variables.
const spansPerStatement = 200

// savable are the latest versions of the spans whose runs exist, in one order for
// all writers, so that two never wait for each other in a circle.
func savable(tx *gorm.DB, spans []Span) ([]Span, error) {
	rows := slices.Clone(spans)
	slices.SortFunc(rows, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.ID, b.ID), cmp.Compare(b.Seq, a.Seq))
	})
	rows = slices.CompactFunc(rows, func(a, b Span) bool { return a.RunID == b.RunID && a.ID == b.ID })
	var runs []string
	for _, r := range rows {
		if len(runs) == 0 || runs[len(runs)-1] != r.RunID {
			runs = append(runs, r.RunID)
		}
	}
	known := make(map[string]bool, len(runs))
	for chunk := range slices.Chunk(runs, 1_000) {
		var found []string
		if err := tx.Model(&Run{}).Where("id IN ?", chunk).Pluck("id", &found).Error; err != nil {
			return nil, err
		}
		for _, id := range found {
			known[id] = true
		}
	}
	for i := range rows {
		rows[i].Body = Clean(rows[i].Body)
	}
	return slices.DeleteFunc(rows, func(s Span) bool { return !known[s.RunID] }), nil
}

// Spans lists a run's spans that changed after a sequence number, in its order.
func (d *DB) Spans(ctx context.Context, accountID, runID string, after int64) ([]Span, error) {
	var out []Span
	err := d.Read(ctx).Where("run_id = ? AND account_id = ? AND seq > ?", runID, accountID, after).Order("seq").Find(&out).Error
	return out, one(err, "spans of %s", runID)
}

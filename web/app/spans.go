package app

import (
	"context"

	"sluice/engine/trace"
	"sluice/models"
)

// Spans keeps the span tree in the database.
type Spans struct{ DB *models.DB }

var _ trace.SpanStore = Spans{}

// SaveSpans implements [trace.SpanStore].
func (s Spans) SaveSpans(ctx context.Context, items []*trace.Item) error {
	rows := make([]models.Span, 0, len(items))
	for _, it := range items {
		rows = append(rows, models.Span{RunID: it.Span.RunID, ID: it.Span.ID, Seq: it.Span.Seq, AccountID: it.AccountID, Body: string(it.JSON())})
	}
	return s.DB.SaveSpans(ctx, rows)
}

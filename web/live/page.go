package live

import (
	"context"

	"sluice/engine/trace"
	"sluice/models"
)

// Page are a run's spans that changed after a sequence number, in its order: the
// stored ones joined with those of this process that are not stored yet. more tells
// that the page is not the last; the next is after its last span.
func Page(ctx context.Context, db *models.DB, hub *trace.Hub, accountID, runID string, after int64, limit int) (page []*trace.Item, more bool, err error) {
	if limit <= 0 || limit > models.MaxSpans {
		limit = models.MaxSpans
	}
	// The hub first: what it forgets meanwhile has been stored before.
	recent := hub.Recent(runID, after)
	rows, more, err := db.Spans(ctx, accountID, runID, after, limit)
	if err != nil {
		return nil, false, err
	}
	byID := make(map[string]*trace.Item, len(rows)+len(recent))
	for i := range rows {
		r := &rows[i]
		byID[r.ID] = trace.Loaded(r.AccountID, r.RunID, r.ID, r.Seq, []byte(r.Body))
	}
	for _, it := range recent {
		if more && it.Span.Seq > rows[len(rows)-1].Seq {
			break // of a later page
		}
		if old, ok := byID[it.Span.ID]; !ok || old.Span.Seq < it.Span.Seq {
			byID[it.Span.ID] = it
		}
	}
	page = make([]*trace.Item, 0, len(byID))
	for _, it := range byID {
		page = append(page, it)
	}
	trace.SortItems(page)
	if len(page) > limit {
		page, more = page[:limit], true
	}
	return page, more, nil
}

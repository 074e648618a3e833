package trace

import (
	"context"
	"log/slog"
	"time"

	"sluice/engine"
)

// SpanStore keeps spans; an older version of one never replaces a newer.
type SpanStore interface {
	SaveSpans(ctx context.Context, items []*Item) error
}

// Stored is the sink that keeps the span tree.
type Stored struct {
	store SpanStore
	log   *slog.Logger
}

// NewStored returns a sink on a store.
func NewStored(store SpanStore, log *slog.Logger) *Stored { return &Stored{store, log} }

// gather is how long spans wait to be written together: a step's beginning and end
// become one row, and the runs' own commits are not held up by many small ones.
const gather = 250 * time.Millisecond

// Gather implements [Gatherer].
func (*Stored) Gather() time.Duration { return gather }

// Name implements [Sink].
func (*Stored) Name() string { return "stored" }

// Spans implements [Sink]. Of several versions of a span only the last is written.
func (s *Stored) Spans(ctx context.Context, batch []*Item) {
	last := make(map[[2]string]int, len(batch))
	kept := batch[:0:0]
	for _, it := range batch {
		key := [2]string{it.Span.RunID, it.Span.ID}
		if i, ok := last[key]; ok {
			if kept[i].Span.Seq < it.Span.Seq {
				kept[i] = it
			}
			continue
		}
		last[key] = len(kept)
		kept = append(kept, it)
	}
	if s.store.SaveSpans(ctx, kept) == nil {
		markStored(batch)
		return
	}
	// A run may be gone, or the database busy for a moment: once more, run by run, so
	// that one run's trouble does not cost the others their spans.
	for runID, items := range byRun(kept) {
		if err := s.store.SaveSpans(ctx, items); err != nil {
			s.log.Warn("spans were lost", "run_id", runID, "spans", len(items), "err", err)
		}
	}
	markStored(batch)
}

// markStored lets the hub forget the spans: who wants them reads the database, and
// of those that were lost there is nothing to wait for.
func markStored(batch []*Item) {
	for _, it := range batch {
		it.stored.Store(true)
	}
}

func byRun(items []*Item) map[string][]*Item {
	out := map[string][]*Item{}
	for _, it := range items {
		out[it.Span.RunID] = append(out[it.Span.RunID], it)
	}
	return out
}

// RunEnded implements [Sink].
func (*Stored) RunEnded(context.Context, string, engine.Run) {}

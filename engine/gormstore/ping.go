package gormstore

import (
	"context"
	"maps"
	"slices"

	"sluice/models"
)

// news is what other servers are told of a group: the runs whose state has changed,
// true for those that another server is to work, and the accounts whose inbox has
// changed. Progress alone is not news: its spans are, once they are stored.
type news struct {
	runs  map[string]bool
	inbox map[string]bool
}

// changed notes that a run's state has changed.
func (n news) changed(runID string) {
	if _, ok := n.runs[runID]; !ok {
		n.runs[runID] = false
	}
}

// due notes that a run can go on. Whoever works runs does so by itself after it has
// committed this; another process leaves it to the others.
func (b *batch) due(runID string) { b.news.runs[runID] = b.news.runs[runID] || b.webOnly }

// handedBack notes that a run can go on, but not in this process.
func (n news) handedBack(runID string) { n.runs[runID] = true }

// ping tells the other servers, when the group commits.
func (b *batch) ping(ctx context.Context) error {
	if b.db.Dialect != models.Postgres || len(b.news.runs)+len(b.news.inbox) == 0 {
		return nil
	}
	p := models.Ping{Runs: slices.Collect(maps.Keys(b.news.runs)), Inbox: slices.Collect(maps.Keys(b.news.inbox))}
	for id, due := range b.news.runs {
		if due {
			p.Due = append(p.Due, id)
		}
	}
	return b.db.Ping(ctx, b.tx, p)
}

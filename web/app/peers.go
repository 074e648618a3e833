package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"sluice/engine/trace"
	"sluice/models"
)

// Worker works runs. [engine.Engine] is one.
type Worker interface {
	Dispatch(runID string)
	Changed(runID string)
}

// Peers brings in what other servers on the database do: viewers here see their runs
// and decisions, and runs that they leave to others are worked at once.
//
// The listener only collects. A second goroutine reads the database, once for all
// viewers of a run, so that a burst of pings costs one look.
type Peers struct {
	o        PeerOptions
	listener *models.Listener

	mu   sync.Mutex
	news models.Ping      // what was heard and not yet taken
	runs map[string]bool  // of it
	low  map[string]int64 // run → lowest number of its new spans

	wake   chan struct{}
	cancel context.CancelFunc
	done   chan struct{}
}

// PeerOptions are what peers work with.
type PeerOptions struct {
	DB     *models.DB
	Hub    *trace.Hub
	Engine Worker
	// Works tells that this process works runs; Due lists those that wait for it.
	Works bool
	Due   func(ctx context.Context, grace time.Duration, limit int) ([]string, error)
	Log   *slog.Logger
}

// NewPeers returns peers that hear nothing before Start.
func NewPeers(o PeerOptions) *Peers {
	p := &Peers{o: o, wake: make(chan struct{}, 1)}
	p.reset()
	p.listener = models.NewListener(o.DB, o.Log, p.hear)
	return p
}

// Start starts listening. Call it once.
func (p *Peers) Start(ctx context.Context) error {
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.done = make(chan struct{})
	go func() {
		defer close(p.done)
		p.run(ctx)
	}()
	return p.listener.Start(ctx)
}

// Stop ends listening. Safe to call twice, and without Start.
func (p *Peers) Stop(ctx context.Context) error {
	if p.done == nil {
		return nil
	}
	err := p.listener.Stop(ctx)
	p.cancel()
	<-p.done
	return err
}

func (p *Peers) reset() {
	p.news, p.runs, p.low = models.Ping{}, map[string]bool{}, map[string]int64{}
}

// hear collects a ping. Runs that are due don't wait.
func (p *Peers) hear(ping models.Ping) {
	if p.o.Works {
		for _, id := range ping.Due {
			p.o.Engine.Dispatch(id)
		}
	}
	p.mu.Lock()
	for _, id := range ping.Runs {
		p.runs[id] = true
	}
	for id, low := range ping.Spans {
		if old, ok := p.low[id]; !ok || low < old {
			p.low[id] = low
		}
	}
	p.news.Inbox = append(p.news.Inbox, ping.Inbox...)
	p.news.Lost = p.news.Lost || ping.Lost
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *Peers) run(ctx context.Context) {
	for {
		select {
		case <-p.wake:
		case <-ctx.Done():
			return
		}
		p.mu.Lock()
		news, runs, low := p.news, p.runs, p.low
		p.reset()
		p.mu.Unlock()
		p.pass(ctx, news, runs, low)
	}
}

// pass tells the hub and the engine.
func (p *Peers) pass(ctx context.Context, news models.Ping, runs map[string]bool, low map[string]int64) {
	if news.Lost {
		p.o.Hub.Lost()
		p.takeDue(ctx)
	}
	for id := range runs {
		p.o.Engine.Changed(id)
		p.o.Hub.RunChanged(id)
	}
	told := make(map[string]bool, len(news.Inbox))
	for _, id := range news.Inbox {
		if !told[id] {
			told[id] = true
			p.o.Hub.InboxChanged(id)
		}
	}
	for id, from := range low {
		if p.o.Hub.RunWatched(id) {
			p.load(ctx, id, from)
		}
	}
}

// maxDue bounds the runs taken up after pings were lost; the sweeper finds the rest.
const maxDue = 1_000

// takeDue dispatches what others may have left to this process unheard.
func (p *Peers) takeDue(ctx context.Context) {
	if !p.o.Works {
		return
	}
	ids, err := p.o.Due(ctx, 0, maxDue)
	if err != nil {
		p.o.Log.Warn("look for due runs", "err", err)
	}
	for _, id := range ids {
		p.o.Engine.Dispatch(id)
	}
}

// load hands the run's stored spans from a number on to its viewers here. If the
// database fails they read it themselves.
func (p *Peers) load(ctx context.Context, runID string, low int64) {
	for after, more := low-1, true; more; {
		var rows []models.Span
		var err error
		if rows, more, err = p.o.DB.SpansOfRun(ctx, runID, after); err != nil {
			if ctx.Err() == nil {
				p.o.Log.Warn("read spans of another server", "run_id", runID, "err", err)
				p.o.Hub.RunLost(runID)
			}
			return
		}
		if len(rows) == 0 {
			return
		}
		items := make([]*trace.Item, len(rows))
		for i, r := range rows {
			items[i] = trace.Loaded(r.AccountID, r.RunID, r.ID, r.Seq, []byte(r.Body))
		}
		p.o.Hub.Load(runID, items)
		after = rows[len(rows)-1].Seq
	}
}

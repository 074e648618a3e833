package trace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sluice/engine"
)

// Sink takes spans on a goroutine of its own. Its methods may be slow.
type Sink interface {
	Name() string
	Spans(ctx context.Context, batch []*Item)
	RunEnded(ctx context.Context, accountID string, run engine.Run)
}

// Gatherer is a sink that would rather have many spans at once than each at once:
// it is called no more often than this. What is queued at the end is not held back.
type Gatherer interface {
	Gather() time.Duration
}

// Fanout is an [engine.Tracer] that hands spans to sinks, each behind a bounded
// queue, and to the live hub, which does not block by itself.
type Fanout struct {
	hub    *Hub
	redact func(json.RawMessage) json.RawMessage
	lanes  []*lane
}

var _ engine.Tracer = (*Fanout)(nil)

// lane is a sink with its queue.
type lane struct {
	sink    Sink
	queue   chan message
	dropped atomic.Int64
	done    chan struct{} // closed when run has returned
	cancel  context.CancelFunc

	mu      sync.RWMutex // guards closed against a send on the closed queue
	closed  bool
	started bool
}

type message struct {
	items []*Item
	ended *endedRun
}

type endedRun struct {
	accountID string
	run       engine.Run
}

// queueSize bounds the commits that wait for a sink; batchSize the spans that it
// gets at once.
const (
	queueSize = 8_192
	batchSize = 4_000
)

// NewFanout returns a tracer for a hub and sinks. redact, if given, rewrites every
// payload before it leaves the engine.
func NewFanout(hub *Hub, redact func(json.RawMessage) json.RawMessage, sinks ...Sink) *Fanout {
	f := &Fanout{hub: hub, redact: redact}
	for _, s := range sinks {
		f.lanes = append(f.lanes, &lane{sink: s, queue: make(chan message, queueSize), done: make(chan struct{})})
	}
	return f
}

// Start starts the sinks' goroutines. Call it once.
func (f *Fanout) Start(ctx context.Context) error {
	for _, l := range f.lanes {
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		l.mu.Lock()
		l.cancel, l.started = cancel, true
		l.mu.Unlock()
		go func() {
			defer close(l.done)
			l.run(ctx)
		}()
	}
	return nil
}

// Stop lets the sinks take what is queued, until ctx ends: then their contexts are
// cancelled, and the error is ctx's if one still does not return. What is recorded
// afterwards is counted as dropped. Safe to call twice and without Start.
func (f *Fanout) Stop(ctx context.Context) error {
	for _, l := range f.lanes {
		l.close()
	}
	var errs []error
	for _, l := range f.lanes {
		if err := l.wait(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop trace sink %s: %w", l.sink.Name(), err))
		}
	}
	return errors.Join(errs...)
}

// Dropped counts the spans that a sink has lost, by sink.
func (f *Fanout) Dropped() map[string]int64 {
	out := make(map[string]int64, len(f.lanes))
	for _, l := range f.lanes {
		out[l.sink.Name()] = l.dropped.Load()
	}
	return out
}

// Record implements [engine.Tracer].
func (f *Fanout) Record(accountID string, spans []engine.Span) {
	items := make([]*Item, len(spans))
	for i, s := range spans {
		items[i] = NewItem(accountID, f.clean(s))
	}
	f.hub.publish(accountID, items)
	for _, l := range f.lanes {
		l.offer(message{items: items})
	}
}

// clean redacts a span's payloads.
func (f *Fanout) clean(s engine.Span) engine.Span {
	if f.redact == nil {
		return s
	}
	s.Input, s.Output = f.redact(s.Input), f.redact(s.Output)
	attributes := make(map[string]json.RawMessage, len(s.Attributes))
	for k, v := range s.Attributes {
		attributes[k] = f.redact(v)
	}
	s.Attributes = attributes
	return s
}

// Delta implements [engine.Tracer].
func (f *Fanout) Delta(accountID, runID, spanID, text string) {
	f.hub.delta(accountID, runID, spanID, text)
}

// RunEnded implements [engine.Tracer].
func (f *Fanout) RunEnded(accountID string, run engine.Run) {
	for _, l := range f.lanes {
		l.offer(message{ended: &endedRun{accountID, run}})
	}
}

func (l *lane) offer(m message) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if !l.closed {
		select {
		case l.queue <- m:
			return
		default:
		}
	}
	l.dropped.Add(int64(max(1, len(m.items))))
}

func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		close(l.queue)
	}
}

// stopGrace is what a sink gets to return once its context is cancelled.
const stopGrace = 500 * time.Millisecond

func (l *lane) wait(ctx context.Context) error {
	l.mu.RLock()
	started, cancel := l.started, l.cancel
	l.mu.RUnlock()
	if !started {
		return nil
	}
	defer cancel()
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
	}
	cancel()
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case <-l.done:
		return nil
	case <-grace.C:
		return ctx.Err()
	}
}

// elapsed is a pause that is over.
var elapsed = func() <-chan time.Time { c := make(chan time.Time); close(c); return c }()

// pause is how long the next batch is gathered for.
func (l *lane) pause() <-chan time.Time {
	g, ok := l.sink.(Gatherer)
	if !ok {
		return elapsed
	}
	return time.After(g.Gather())
}

// run hands the queue to the sink in batches.
func (l *lane) run(ctx context.Context) {
	for m := range l.queue {
		var batch []*Item
		var ended []endedRun
		add := func(m message) {
			batch = append(batch, m.items...)
			if m.ended != nil {
				ended = append(ended, *m.ended)
			}
		}
		add(m)
		pause := l.pause()
		for more := true; more && len(batch) < batchSize; {
			select {
			case m, ok := <-l.queue:
				if more = ok; ok {
					add(m)
				}
				continue
			default:
			}
			select {
			case m, ok := <-l.queue:
				if more = ok; ok {
					add(m)
				}
			case <-pause:
				more = false
			}
		}
		if len(batch) > 0 {
			l.sink.Spans(ctx, batch)
		}
		for _, e := range ended {
			l.sink.RunEnded(ctx, e.accountID, e.run)
		}
	}
}

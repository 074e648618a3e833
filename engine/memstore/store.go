// Package memstore keeps runs in memory: for `sluice run`, which needs no
// database, and for tests that want none. It keeps every promise of
// [engine.Store] but durability, and passes the same conformance suite.
package memstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"sluice/engine"
)

// Store implements [engine.Store] and [engine.DefinitionSource]. Safe for
// concurrent use.
type Store struct {
	now func() time.Time

	mu          sync.Mutex
	runs        map[string]*entry
	parks       map[string]*parkEntry
	keys        map[string]string // account/workflow/key → run id
	definitions map[string]json.RawMessage
}

type entry struct {
	run        engine.Run
	records    map[engine.RecordKey]*engine.Record
	leaseOwner string
	leaseUntil time.Time
}

type parkEntry struct {
	park     engine.Park
	account  string
	status   string // open, decided, timed_out, cancelled, done
	reason   string
	closedAt time.Time
	decision engine.Decision
	answered engine.Answered
}

var (
	_ engine.Store            = (*Store)(nil)
	_ engine.DefinitionSource = (*Store)(nil)
)

// New returns an empty store. A nil now is time.Now.
func New(now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{
		now: now, runs: map[string]*entry{}, parks: map[string]*parkEntry{}, keys: map[string]string{},
		definitions: map[string]json.RawMessage{},
	}
}

// AddDefinition stores a canonical definition under its hash.
func (s *Store) AddDefinition(hash string, canonical json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.definitions[hash] = slices.Clone(canonical)
}

// Definition implements [engine.DefinitionSource].
func (s *Store) Definition(_ context.Context, hash string) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.definitions[hash]
	if !ok {
		return nil, fmt.Errorf("definition %s: %w", hash, engine.ErrNotFound)
	}
	return d, nil
}

// CreateRun implements [engine.Store].
func (s *Store) CreateRun(_ context.Context, n engine.NewRun) (engine.Run, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := n.AccountID + "/" + n.WorkflowID + "/" + n.IdempotencyKey
	if n.IdempotencyKey != "" {
		if id, ok := s.keys[key]; ok {
			old := s.runs[id].run
			if !bytes.Equal(old.Input, n.Input) {
				return engine.Run{}, false, &engine.ConflictError{Message: "Idempotency-Key was used before with another input"}
			}
			return old, false, nil
		}
		s.keys[key] = n.ID
	}
	e := &entry{run: n.Run, records: map[engine.RecordKey]*engine.Record{}}
	e.run.Status = engine.RunQueued
	for _, r := range n.Records {
		e.records[r.Key()] = &r
	}
	s.runs[n.ID] = e
	return e.run, true, nil
}

// Load implements [engine.Store].
func (s *Store) Load(_ context.Context, accountID, runID string) (engine.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find(accountID, runID)
	if err != nil {
		return engine.Snapshot{}, err
	}
	return s.snapshot(e), nil
}

func (s *Store) find(accountID, runID string) (*entry, error) {
	e, ok := s.runs[runID]
	if !ok || (accountID != "" && e.run.AccountID != accountID) {
		return nil, fmt.Errorf("run %s: %w", runID, engine.ErrNotFound)
	}
	return e, nil
}

func (s *Store) snapshot(e *entry) engine.Snapshot {
	snap := engine.Snapshot{Run: e.run, Records: make([]engine.Record, 0, len(e.records))}
	for _, r := range e.records {
		snap.Records = append(snap.Records, *r)
	}
	sort.Slice(snap.Records, func(i, j int) bool { return snap.Records[i].Seq < snap.Records[j].Seq })
	for _, p := range s.parks {
		if p.park.RunID == e.run.ID && p.status == "open" {
			snap.Parks = append(snap.Parks, p.park)
		}
	}
	sort.Slice(snap.Parks, func(i, j int) bool { return snap.Parks[i].ID < snap.Parks[j].ID })
	return snap
}

// Claim implements [engine.Store].
func (s *Store) Claim(_ context.Context, runID, owner string, lease time.Duration) (engine.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find("", runID)
	if err != nil {
		return engine.Snapshot{}, err
	}
	now := s.now().UTC()
	taken := e.run.Status == engine.RunRunning
	if e.run.Status.Terminal() || (taken && e.leaseUntil.After(now)) {
		return engine.Snapshot{}, fmt.Errorf("run %s is %s: %w", runID, e.run.Status, engine.ErrNotRunnable)
	}
	e.run.Status, e.run.WakeAt = engine.RunRunning, time.Time{}
	e.run.Epoch++
	if e.run.StartedAt.IsZero() {
		e.run.StartedAt = now.Truncate(time.Microsecond)
	}
	e.leaseOwner, e.leaseUntil = owner, now.Add(lease)
	snap := s.snapshot(e)
	snap.TakenOver = taken
	return snap, nil
}

// Commit implements [engine.Store].
func (s *Store) Commit(_ context.Context, t engine.Transition) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find("", t.RunID)
	if err != nil {
		return 0, err
	}
	if e.run.Epoch != t.Epoch || e.run.Status != engine.RunRunning {
		return 0, fmt.Errorf("run %s: %w", t.RunID, engine.ErrLeaseLost)
	}
	for _, c := range t.ClosePark {
		if p := s.parks[c.ID]; p == nil || p.status != "open" {
			return 0, fmt.Errorf("park %s: %w", c.ID, engine.ErrWoken)
		}
	}
	if parked(t.Status) && e.run.Wakeups != t.Wakeups {
		return 0, fmt.Errorf("run %s: %w", t.RunID, engine.ErrWoken)
	}
	s.apply(e, t)
	return e.run.SpanSeq, nil
}

func parked(st engine.RunStatus) bool {
	return st == engine.RunPendingApproval || st == engine.RunWaiting
}

func (s *Store) apply(e *entry, t engine.Transition) {
	for _, r := range t.Records {
		e.records[r.Key()] = &r
	}
	for _, p := range t.OpenParks {
		s.parks[p.ID] = &parkEntry{park: p, account: e.run.AccountID, status: "open"}
	}
	for _, c := range t.ClosePark {
		p := s.parks[c.ID]
		p.status, p.reason, p.closedAt = c.Status, c.Reason, t.At
	}
	e.run.Usage = e.run.Usage.Add(t.Usage)
	if e.run.SpanSeq == t.SpanLimit {
		e.run.SpanSeq -= int64(t.Unused)
	}
	e.run.SpanSeq += int64(t.Spans)
	if t.Lease > 0 {
		e.leaseUntil = s.now().Add(t.Lease)
	}
	if t.Status == "" {
		return
	}
	e.run.Status, e.run.WakeAt = t.Status, t.WakeAt
	if parked(t.Status) || t.Status.Terminal() {
		e.leaseOwner, e.leaseUntil = "", time.Time{}
	}
	if t.Status.Terminal() {
		e.run.Output, e.run.Error, e.run.EndedAt = t.Output, t.Error, t.At
	}
}

// Answer implements [engine.Store].
func (s *Store) Answer(_ context.Context, a engine.Answer) (engine.Answered, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.parks[a.ParkID]
	if p == nil || p.account != a.AccountID {
		return engine.Answered{}, fmt.Errorf("approval %s: %w", a.ParkID, engine.ErrNotFound)
	}
	if p.status != "open" {
		return p.again(a)
	}
	res, err := a.Resolve(p.park)
	if err != nil {
		return engine.Answered{}, err
	}
	e := s.runs[p.park.RunID]
	rec := e.records[engine.RecordKey{Address: p.park.Address, Round: p.park.Round}]
	engine.ApplyResolution(rec, res, a.At)
	p.status, p.closedAt = "decided", a.At
	p.decision = engine.Decision{ParkID: a.ParkID, By: a.By, Outcome: a.Outcome, Comment: a.Comment, Data: a.Data, At: a.At}
	e.run.Wakeups++
	e.run.SpanSeq++
	if parked(e.run.Status) {
		e.run.Status, e.run.WakeAt = engine.RunQueued, time.Time{}
	}
	p.answered = engine.Answered{Decision: p.decision, Park: p.park, Record: *rec, Run: e.run}
	return p.answered, nil
}

// again answers for a park that is not open any more.
func (p *parkEntry) again(a engine.Answer) (engine.Answered, error) {
	d := p.decision
	if p.status == "decided" && d.By == a.By && d.Outcome == a.Outcome && d.Comment == a.Comment && bytes.Equal(d.Data, a.Data) {
		out := p.answered
		out.Repeated = true
		return out, nil
	}
	when := p.closedAt.UTC().Format("2006-01-02 15:04 UTC")
	if p.status == "decided" {
		return engine.Answered{}, &engine.ConflictError{Message: fmt.Sprintf("already answered %q by %s at %s", d.Outcome, d.By.Name, when)}
	}
	return engine.Answered{}, &engine.ConflictError{Message: fmt.Sprintf("closed at %s: %s", when, p.reason)}
}

// Cancel implements [engine.Store].
func (s *Store) Cancel(_ context.Context, c engine.Cancellation) (engine.Cancelled, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find(c.AccountID, c.RunID)
	if err != nil {
		return engine.Cancelled{}, err
	}
	if e.run.Status == engine.RunCancelled {
		return engine.Cancelled{Run: e.run}, nil
	}
	if e.run.Status.Terminal() {
		return engine.Cancelled{}, &engine.ConflictError{Message: "the run is over: it " + string(e.run.Status)}
	}
	var closed []engine.Record
	for _, r := range e.records {
		if !r.Status.Terminal() && !r.Superseded {
			r.Status, r.EndedAt, r.Taken, r.NextAttemptAt = engine.StepCancelled, c.At, []int{}, time.Time{}
			closed = append(closed, *r)
		}
	}
	sort.Slice(closed, func(i, j int) bool { return closed[i].Seq < closed[j].Seq })
	for _, p := range s.parks {
		if p.park.RunID == c.RunID && p.status == "open" {
			p.status, p.reason, p.closedAt = "cancelled", "the run was cancelled", c.At
		}
	}
	e.run.Epoch++
	e.run.Status, e.run.EndedAt, e.run.WakeAt = engine.RunCancelled, c.At, time.Time{}
	e.run.Error = &engine.StepError{Code: engine.CodeCancelled, Message: engine.CancelMessage(c)}
	e.run.SpanSeq += int64(len(closed)) + 1
	e.leaseOwner, e.leaseUntil = "", time.Time{}
	return engine.Cancelled{Run: e.run, Records: closed, Changed: true}, nil
}

// Restart implements [engine.Store].
func (s *Store) Restart(_ context.Context, accountID, runID string, reset func(engine.Snapshot) (engine.Reset, error)) (engine.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find(accountID, runID)
	if err != nil {
		return engine.Run{}, err
	}
	r, err := reset(s.snapshot(e))
	if err != nil {
		return engine.Run{}, err
	}
	for _, k := range r.Superseded {
		if rec := e.records[k]; rec != nil {
			rec.Superseded = true
		}
	}
	for _, rec := range r.Records {
		e.records[rec.Key()] = &rec
	}
	if len(r.Input) > 0 {
		e.run.Input = r.Input
	}
	e.run.Epoch++
	e.run.Status, e.run.Error, e.run.Output, e.run.EndedAt = engine.RunQueued, nil, nil, time.Time{}
	return e.run, nil
}

// Due implements [engine.Store].
func (s *Store) Due(_ context.Context, grace time.Duration, limit int) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	var ids []string
	for id, e := range s.runs {
		queued := e.run.Status == engine.RunQueued && !e.run.CreatedAt.Add(grace).After(now)
		dead := e.run.Status == engine.RunRunning && !e.leaseUntil.After(now)
		woken := parked(e.run.Status) && !e.run.WakeAt.IsZero() && !e.run.WakeAt.After(now)
		if queued || dead || woken {
			ids = append(ids, id)
		}
	}
	sort.Strings(ids)
	return ids[:min(limit, len(ids))], nil
}

// Parks returns the open parks of a run, in the order in which they were opened.
func (s *Store) Parks(runID string) []engine.Park {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.runs[runID]
	if !ok {
		return nil
	}
	return s.snapshot(e).Parks
}

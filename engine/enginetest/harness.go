package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/memstore"
)

// Account and Workflow are what the harness's runs belong to.
const (
	Account  = "account-1"
	Workflow = "workflow-1"
)

// Person is the actor of the harness's answers.
var Person = engine.Actor{Kind: "user", ID: "user-1", Name: "Mai"}

// Backend is a store that also takes definitions.
type Backend interface {
	engine.Store
	engine.DefinitionSource
}

// Harness is an engine on a store, with a tracer that remembers.
type Harness struct {
	T        testing.TB
	Engine   *engine.Engine
	Store    Backend
	Registry *engine.Registry
	Trace    *Trace
	// Faults is the present process's store, where [Options].Faulty asks for one.
	Faults *Faulty
	faulty bool
	config engine.Config
	add    func(hash string, canonical json.RawMessage)
}

// Options change a harness.
type Options struct {
	// Store is used instead of a fresh memory store; Add stores definitions in it.
	Store Backend
	Add   func(hash string, canonical json.RawMessage)
	// Faulty gives every engine that is booted a [Faulty] store of its own.
	Faulty bool
	// Config sets the engine's other fields.
	Config engine.Config
}

// New starts an engine with the kinds of the registry.
func New(t testing.TB, registry *engine.Registry, o Options) *Harness {
	t.Helper()
	h := &Harness{T: t, Registry: registry, Trace: NewTrace(), config: o.Config, Store: o.Store, add: o.Add, faulty: o.Faulty}
	if h.Store == nil {
		m := memstore.New(o.Config.Now)
		h.Store, h.add = m, m.AddDefinition
	}
	h.Boot()
	return h
}

// Boot starts a fresh engine on the same store, as a new process would.
func (h *Harness) Boot() {
	h.T.Helper()
	c := h.config
	c.Store, c.Definitions, c.Registry, c.Tracer = h.Store, h.Store, h.Registry, h.Trace
	if h.faulty {
		h.Faults = NewFaulty(h.Store)
		c.Store, c.Definitions = h.Faults, h.Faults
	}
	e, err := engine.New(c)
	require.NoError(h.T, err)
	require.NoError(h.T, e.Start(context.Background()))
	h.Engine = e
	h.T.Cleanup(func() { h.Stop(e) })
}

// Stop stops an engine, the harness's own or an earlier one.
func (h *Harness) Stop(e *engine.Engine) {
	h.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	require.NoError(h.T, e.Stop(ctx))
}

// Restart stops the engine and boots another one, which takes up what is due.
func (h *Harness) Restart() {
	h.T.Helper()
	h.Stop(h.Engine)
	h.Boot()
	h.Recover()
}

// Recover dispatches every run that is due, as the sweeper does.
func (h *Harness) Recover() {
	h.T.Helper()
	ids, err := h.Store.Due(context.Background(), 0, 1_000)
	require.NoError(h.T, err)
	for _, id := range ids {
		h.Engine.Dispatch(id)
	}
}

// Define imports, checks and stores a workflow; it returns its hash.
func (h *Harness) Define(doc string) string {
	h.T.Helper()
	def, issues, err := engine.Import([]byte(doc), h.Registry)
	require.NoError(h.T, err)
	issues = append(issues, engine.Validate(def, h.Registry)...)
	require.False(h.T, issues.HasErrors(), "issues: %v", issues)
	canonical, hash, err := def.Canonical()
	require.NoError(h.T, err)
	h.add(hash, canonical)
	return hash
}

// Start starts a run of a workflow given as a document.
func (h *Harness) Start(doc, input string) engine.Run {
	h.T.Helper()
	hash := h.Define(doc)
	run, _, err := h.Engine.StartRun(context.Background(), engine.NewRun{Run: engine.Run{
		AccountID: Account, WorkflowID: Workflow, DefinitionHash: hash, Input: json.RawMessage(input), StartedBy: Person,
	}})
	require.NoError(h.T, err)
	return run
}

// Run starts a run and waits until it ends or waits for a person.
func (h *Harness) Run(doc, input string) engine.Run {
	h.T.Helper()
	return h.Await(h.Start(doc, input).ID)
}

// Await waits until the run ends or waits for a person.
func (h *Harness) Await(runID string) engine.Run {
	h.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	run, err := h.Engine.Await(ctx, Account, runID)
	require.NoError(h.T, err)
	require.NoError(h.T, ctx.Err(), "run %s is still %s", runID, run.Status)
	return run
}

// Snapshot reads the run as it is stored.
func (h *Harness) Snapshot(runID string) engine.Snapshot {
	h.T.Helper()
	snap, err := h.Store.Load(context.Background(), Account, runID)
	require.NoError(h.T, err)
	return snap
}

// Park finds the open park at an address.
func (h *Harness) Park(runID, address string) engine.Park {
	h.T.Helper()
	var have []string
	for _, p := range h.Snapshot(runID).Parks {
		if p.Address == address {
			return p
		}
		have = append(have, p.Address)
	}
	require.Failf(h.T, "no open park", "at %s; open: %v", address, have)
	return engine.Park{}
}

// Answer decides the open park at an address.
func (h *Harness) Answer(runID, address, outcome, comment string) {
	h.T.Helper()
	_, err := h.Engine.Answer(context.Background(), engine.AnswerRequest{
		AccountID: Account, ParkID: h.Park(runID, address).ID, By: Person, Outcome: outcome, Comment: comment,
	})
	require.NoError(h.T, err)
}

// Step is the latest record at an address.
func (h *Harness) Step(runID, address string) engine.Record {
	h.T.Helper()
	var found *engine.Record
	snap := h.Snapshot(runID)
	for i := range snap.Records {
		if r := &snap.Records[i]; r.Address == address && (found == nil || r.Round > found.Round) {
			found = r
		}
	}
	require.NotNil(h.T, found, "no record at %s", address)
	return *found
}

// Statuses lists "address status" of the current records, in order of creation.
func (h *Harness) Statuses(runID string) []string {
	h.T.Helper()
	var out []string
	for _, r := range h.Snapshot(runID).Records {
		if !r.Superseded {
			out = append(out, fmt.Sprintf("%s %s", r.Address, r.Status))
		}
	}
	return out
}

// Trace is a tracer that remembers the latest version of every span.
type Trace struct {
	mu     sync.Mutex
	spans  map[string]map[string]engine.Span
	seqs   map[string][]int64
	deltas map[string]string
	ended  map[string]int
}

// NewTrace returns an empty trace.
func NewTrace() *Trace {
	return &Trace{spans: map[string]map[string]engine.Span{}, seqs: map[string][]int64{}, deltas: map[string]string{}, ended: map[string]int{}}
}

// Record implements [engine.Tracer].
func (t *Trace) Record(_ string, spans []engine.Span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range spans {
		if t.spans[s.RunID] == nil {
			t.spans[s.RunID] = map[string]engine.Span{}
		}
		t.seqs[s.RunID] = append(t.seqs[s.RunID], s.Seq)
		if old, ok := t.spans[s.RunID][s.ID]; !ok || old.Seq < s.Seq {
			t.spans[s.RunID][s.ID] = s
		}
	}
}

// Delta implements [engine.Tracer].
func (t *Trace) Delta(_, runID, spanID, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deltas[runID+" "+spanID] += text
}

// RunEnded implements [engine.Tracer].
func (t *Trace) RunEnded(_ string, run engine.Run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended[run.ID]++
}

// Span is the latest version of a span.
func (t *Trace) Span(runID, id string) (engine.Span, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.spans[runID][id]
	return s, ok
}

// Seqs are the sequence numbers of a run's spans in the order of their arrival.
func (t *Trace) Seqs(runID string) []int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]int64(nil), t.seqs[runID]...)
}

// Ended counts the ends that were told of a run.
func (t *Trace) Ended(runID string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended[runID]
}

// Streamed is the text streamed under a span.
func (t *Trace) Streamed(runID, spanID string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.deltas[runID+" "+spanID]
}

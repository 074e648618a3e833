package engine

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"sluice/engine/expr"
)

// state is a run in memory: the scopes that are open and the steps in them. It is
// built by walking the plan from the trigger and adopting the records that exist
// on the way, so a first run and a resumed one go through the same code. It does
// no I/O; computing inline steps is the caller's (see host).
//
// A state belongs to one goroutine.
type state struct {
	prog *program
	run  *Run
	host host

	// records are the stored records not yet reached by the walk, by address.
	records map[string]*Record
	// rounds are the highest superseded rounds, by address, and settledRounds the number of
	// them whose effect is known to have happened or to have been refused.
	rounds, settledRounds map[string]int
	// parks are the open parks, by id, and parkSteps the steps that wait for them.
	parks     map[string]*Park
	parkSteps map[string]*step

	root  *scope
	queue []task
	// effects are ready and wait for a free place.
	effects []*step
	timers  timerHeap
	// parked counts the open parks by whether a person answers them.
	parkedPeople, parkedOther int
	nextSeq                   int64
	bytes                     int64
	limits                    Limits
	done                      bool

	dirty      []*Record
	dirtySet   map[*Record]bool
	openParks  []Park
	closeParks []ParkClose
	spans      []spanRef
	spanSet    map[string]int
	usage      Usage
}

// host computes and names things for the state.
type host interface {
	// inline runs one attempt of a pure or parking step to its end and reports it
	// by calling succeed, park or fail on the state.
	inline(*step)
	now() time.Time
	newID() string
	backoff(p RetryPolicy, attempt int) time.Duration
}

// Limits bound a run. Zero fields take the defaults.
type Limits struct {
	// OutputBytes bounds one step's output. Default 4 MiB.
	OutputBytes int64
	// RunBytes bounds all outputs of a run together. Default 64 MiB.
	RunBytes int64
	// Iterations bounds one loop. Default 100,000.
	Iterations int
}

func (l Limits) withDefaults() Limits {
	if l.OutputBytes == 0 {
		l.OutputBytes = 4 << 20
	}
	if l.RunBytes == 0 {
		l.RunBytes = 64 << 20
	}
	if l.Iterations == 0 {
		l.Iterations = 100_000
	}
	return l
}

// scope is one open body: the root, a loop's iteration, or a parallel's or
// branch's inside.
type scope struct {
	owner  *step // the container, nil for the root
	body   *Body
	prefix string // of its addresses, "" or "each[3]"
	index  int    // iteration, or -1
	item   any
	steps  []step // by position in body.Nodes
	// pending counts the steps that are not terminal.
	pending int
	// failure is set once, by the first step that failed for good. Nothing starts
	// in the scope or below it from then on.
	failure *StepError
	// changed is set once a step of it settles in this segment.
	changed bool
}

// step is a node in a scope.
type step struct {
	node    *PlanNode
	scope   *scope
	address string
	open    int // incoming edges that have not settled
	taken   int
	begun   bool
	// flying is set while a worker runs an attempt. token tells attempts apart: the
	// result of one that was given up is dropped.
	flying bool
	token  int
	rec    *Record
	value  any
	parsed bool
	box    *container
}

type taskKind int

const (
	taskBegin taskKind = iota
	taskSkip
	taskScopeDone
	taskContinue // a loop may open further iterations
)

type task struct {
	kind  taskKind
	step  *step
	scope *scope
}

func newState(prog *program, snap Snapshot, h host, limits Limits) *state {
	run := snap.Run
	s := &state{
		prog: prog, run: &run, host: h, limits: limits.withDefaults(),
		records: make(map[string]*Record, len(snap.Records)), rounds: map[string]int{}, settledRounds: map[string]int{},
		parks: map[string]*Park{}, parkSteps: map[string]*step{}, dirtySet: map[*Record]bool{}, spanSet: map[string]int{},
	}
	for i := range snap.Records {
		r := &snap.Records[i]
		s.nextSeq = max(s.nextSeq, r.Seq)
		s.bytes += int64(len(r.Output))
		if r.Superseded {
			s.rounds[r.Address] = max(s.rounds[r.Address], r.Round+1)
			if s.effectKnown(r) {
				s.settledRounds[r.Address]++
			}
			continue
		}
		if old := s.records[r.Address]; old == nil || old.Round < r.Round {
			s.records[r.Address] = r
		}
	}
	for i := range snap.Parks {
		s.parks[snap.Parks[i].ID] = &snap.Parks[i]
	}
	s.root = s.openScope(nil, prog.Root, "", -1, nil)
	return s
}

// effectKnown reports whether it is certain what a step's effect came to: it
// succeeded, or it was refused for good, which no further attempt would change. Of
// one that used up its attempts, or whose process died, nobody knows.
func (s *state) effectKnown(r *Record) bool {
	if r.Status == StepSucceeded {
		return true
	}
	n, ok := s.prog.ByID[r.NodeID]
	if r.Status != StepFailed || !ok || r.Error == nil {
		return false
	}
	return r.Attempt < s.prog.Nodes[n].Retry.MaxAttempts && r.Error.Code != CodeCrashLoop && r.Error.Code != CodeInterrupted
}

// idempotencyKey names a step's effect towards the outside. Every attempt has the
// same, and so has the retry of a step of which it is not known whether its effect
// took place; an effect that is wanted anew has another.
func (s *state) idempotencyKey(st *step) string {
	return s.run.ID + "/" + stepSpanID(st.address, s.settledRounds[st.address])
}

// openScope makes a scope and queues what starts in it.
func (s *state) openScope(owner *step, body *Body, prefix string, index int, item any) *scope {
	sc := &scope{owner: owner, body: body, prefix: prefix, index: index, item: item, pending: len(body.Nodes)}
	sc.steps = make([]step, len(body.Nodes))
	for i, n := range body.Nodes {
		node := &s.prog.Nodes[n]
		sc.steps[i] = step{node: node, scope: sc, address: joinAddress(prefix, node.Node.ID), open: len(node.In)}
	}
	for _, n := range body.Entries {
		s.queue = append(s.queue, task{kind: taskBegin, step: &sc.steps[s.prog.pos[n]]})
	}
	for i := range sc.steps {
		if st := &sc.steps[i]; st.open == 0 && !isEntry(body, st.node.Index) {
			s.queue = append(s.queue, task{kind: taskSkip, step: st})
		}
	}
	if sc.pending == 0 {
		s.queue = append(s.queue, task{kind: taskScopeDone, scope: sc})
	}
	return sc
}

func isEntry(b *Body, node int) bool {
	// Container bodies enter at every node without incoming edges.
	if b.Container >= 0 {
		return true
	}
	return slices.Contains(b.Entries, node)
}

func joinAddress(prefix, id string) string {
	if prefix == "" {
		return id
	}
	return prefix + "/" + id
}

func iterationAddress(loop string, i int) string {
	return loop + "[" + strconv.Itoa(i) + "]"
}

// drain works the queue off: everything that can be decided or computed without
// waiting. It stops early when the unsaved changes reach a batch, so that a loop of
// many pure iterations is committed in pieces; it then reports true.
func (s *state) drain(batch int) (more bool) {
	for len(s.queue) > 0 {
		if batch > 0 && len(s.dirty) >= batch {
			return true
		}
		t := s.queue[0]
		s.queue[0] = task{}
		s.queue = s.queue[1:]
		switch t.kind {
		case taskBegin:
			s.begin(t.step)
		case taskSkip:
			s.skip(t.step)
		case taskScopeDone:
			s.scopeDone(t.scope)
		case taskContinue:
			s.advanceLoop(t.step)
		}
	}
	return false
}

// doomed reports whether the scope, or one around it, has failed.
func (sc *scope) doomed() bool {
	for sc != nil {
		if sc.failure != nil {
			return true
		}
		if sc.owner == nil {
			return false
		}
		if b := sc.owner.box; b != nil && b.failing {
			return true
		}
		sc = sc.owner.scope
	}
	return false
}

// begin starts a step whose incoming edges have settled with at least one taken,
// or takes up its record.
func (s *state) begin(st *step) {
	if st.begun {
		return
	}
	st.begun = true
	if rec := s.records[st.address]; rec != nil {
		delete(s.records, st.address)
		st.rec = rec
		s.adopt(st)
		return
	}
	if st.scope.doomed() {
		s.close(st, StepCancelled)
		return
	}
	s.start(st)
}

// start runs a step that has no record.
func (s *state) start(st *step) {
	switch st.node.Spec.Class {
	case Container:
		s.startContainer(st)
	case Effect:
		s.effects = append(s.effects, st)
	default:
		s.host.inline(st)
	}
}

// adopt goes on from a stored record.
func (s *state) adopt(st *step) {
	rec := st.rec
	switch {
	case rec.Status.Terminal():
		s.settle(st)
	case st.node.Spec.Class == Container:
		s.resumeContainer(st)
	case rec.Status == StepParked:
		s.adoptPark(st)
	case rec.Status == StepRetrying:
		if st.scope.doomed() {
			s.close(st, StepCancelled)
			return
		}
		s.timers.add(st, rec.NextAttemptAt)
	default:
		s.interrupted(st)
	}
}

func (s *state) adoptPark(st *step) {
	p := s.parks[st.rec.ParkID]
	if p == nil {
		// Answering writes park and record in one transaction, so this is a park that
		// some outside hand removed: the step can only fail.
		s.fail(st, &StepError{Code: CodeFailed, Message: "the wait of this step no longer exists"})
		return
	}
	s.countPark(p.Kind, 1)
	s.parkSteps[p.ID] = st
	if st.scope.doomed() {
		s.close(st, StepCancelled)
		return
	}
	if !p.WakeAt.IsZero() {
		s.timers.add(st, p.WakeAt)
	}
}

func (s *state) countPark(k ParkKind, by int) {
	if k == ParkApproval || k == ParkInterrupt {
		s.parkedPeople += by
	} else {
		s.parkedOther += by
	}
}

// skip settles a step none of whose incoming edges was taken.
func (s *state) skip(st *step) {
	if st.begun {
		return
	}
	st.begun = true
	if rec := s.records[st.address]; rec != nil {
		delete(s.records, st.address)
		st.rec = rec
		s.settle(st)
		return
	}
	s.close(st, StepSkipped)
}

// record returns the step's record, making it on first use.
func (s *state) record(st *step) *Record {
	if st.rec == nil {
		s.nextSeq++
		st.rec = &Record{
			Address: st.address, Round: s.rounds[st.address], NodeID: st.node.Node.ID, Type: st.node.Node.Type,
			Seq: s.nextSeq, StartedAt: s.host.now(),
		}
	}
	return st.rec
}

func (s *state) touch(rec *Record) {
	if !s.dirtySet[rec] {
		s.dirtySet[rec] = true
		s.dirty = append(s.dirty, rec)
	}
}

// changed reports whether something waits for a commit.
func (s *state) changed() bool {
	return len(s.dirty) > 0 || len(s.openParks) > 0 || len(s.closeParks) > 0
}

// output is the decoded output of a settled step.
func (st *step) output() (any, error) {
	if !st.parsed {
		if st.rec == nil || len(st.rec.Output) == 0 {
			return nil, nil
		}
		v, err := expr.Decode(st.rec.Output)
		if err != nil {
			return nil, err
		}
		st.value, st.parsed = v, true
	}
	return st.value, nil
}

// firstStart is when the first of the scope's steps began, or zero.
func (sc *scope) firstStart() time.Time {
	var first time.Time
	for i := range sc.steps {
		if rec := sc.steps[i].rec; rec != nil && (first.IsZero() || rec.StartedAt.Before(first)) {
			first = rec.StartedAt
		}
	}
	return first
}

func rawOr(r json.RawMessage, def string) json.RawMessage {
	if len(r) == 0 {
		return json.RawMessage(def)
	}
	return r
}

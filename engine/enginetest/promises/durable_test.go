package promises_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
)

// calls counts the store's calls of a run without faults.
func (b base) calls(t *testing.T, flow *enginetest.Flow) int {
	t.Helper()
	h := open(t, "memory", nil).harness(t, true, engine.Config{}, &enginetest.Probe{Quiet: true, Do: flow.Effect})
	h.Drive(h.Begin(h.Define(flow.Document), flow.Input, nil).ID, enginetest.Drive{Decide: flow.Decide})
	h.Stop(h.Engine)
	return h.Faults.Calls()
}

// watch is a probe that looks into the store before each effect.
type watch struct {
	*enginetest.Effects
	flow  *enginetest.Flow
	store engine.Store
	mu    sync.Mutex
	wrong []string
}

func (w *watch) probe() *enginetest.Probe {
	return w.Probe(func(ctx context.Context, in engine.Input) (engine.Output, error) {
		snap, err := w.store.Load(context.WithoutCancel(ctx), "", in.RunID)
		w.mu.Lock()
		w.wrong = append(w.wrong, w.look(snap, in, err)...)
		w.mu.Unlock()
		return w.flow.Effect(ctx, in)
	})
}

// look tells what speaks against an effect that begins: that it is over already, or
// that a step before it is not over. Its own start need not be stored: a first attempt
// of which nothing is known runs again as itself.
func (w *watch) look(snap engine.Snapshot, in engine.Input, err error) []string {
	if err != nil {
		return []string{err.Error()}
	}
	var wrong []string
	for _, s := range w.flow.Unready(snap, in.Address) {
		wrong = append(wrong, fmt.Sprintf("%s ran before %s was over", in.Address, s))
	}
	for _, r := range snap.Records {
		begun := r.Status == engine.StepRunning && r.Attempt == in.Attempt || r.Status == engine.StepRetrying && r.Attempt == in.Attempt-1
		if r.Address == in.Address && begun {
			return wrong
		}
		if r.Address == in.Address {
			return append(wrong, fmt.Sprintf("attempt %d of %s ran; the store has attempt %d, %s", in.Attempt, in.Address, r.Attempt, r.Status))
		}
	}
	return wrong
}

// TestPromise01ACompletedStepNeverRunsAgain promises that a step whose completion was
// stored never runs again, and that no step runs before everything it depends on is
// stored, wherever processes die.
func TestPromise01ACompletedStepNeverRunsAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		b.seeds(t, 150, func(t *testing.T, seed uint64) {
			b := b.fresh()
			rnd := rand.New(rand.NewPCG(seed, 1))
			flow := enginetest.Generate(seed, enginetest.Shape{Steps: 60})
			w := &watch{Effects: enginetest.NewEffects(), flow: flow, store: b.store}
			h := b.harness(t, true, engine.Config{}, w.probe())
			calls, deaths := b.calls(t, flow), 0
			crash := func() {
				if deaths++; deaths <= 4 { // a step that was running five times is given up
					mode := []enginetest.FaultMode{enginetest.CrashBefore, enginetest.CrashAfter}[rnd.IntN(2)]
					h.Faults.Set(enginetest.Fault{Call: 1 + rnd.IntN(calls), Mode: mode})
				}
			}
			crash()
			run := h.Begin(h.Define(flow.Document), flow.Input, crash)
			run = h.Drive(run.ID, enginetest.Drive{Decide: flow.Decide, Booted: crash})
			h.Stop(h.Engine)
			snap := h.Snapshot(run.ID)
			require.Empty(t, flow.Check(snap))
			require.Empty(t, w.wrong)
			for _, r := range snap.Records {
				if r.Type != "probe" || r.Status == engine.StepSkipped {
					continue
				}
				key := run.ID + "/" + r.Address
				require.LessOrEqual(t, w.Begun(key), r.Attempt+deaths, key)
				if r.Status == engine.StepSucceeded {
					require.GreaterOrEqual(t, w.Ended(key), 1, key)
				}
			}
		})
	})
}

// TestPromise01EveryRequestCarriesItsKey promises that whoever is called can tell a
// repetition: the requests of a step carry one key, also after the process died.
func TestPromise01EveryRequestCarriesItsKey(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		effects := enginetest.NewEffects()
		url := effects.Serve(t).URL
		nodes, edges, last := []string{`{"id":"start","type":"trigger"}`}, []string{}, "start"
		const steps = 5
		for i := range steps {
			id := fmt.Sprintf("s%d", i)
			nodes = append(nodes, fmt.Sprintf(`{"id":%q,"type":"http_request","config":{"method":"POST","url":%q,"body_type":"json","json":"{}"}}`, id, url))
			edges = append(edges, fmt.Sprintf(`{"source":%q,"target":%q}`, last, id))
			last = id
		}
		doc := document(strings.Join(nodes, ",")+`,{"id":"end","type":"end"}`, strings.Join(edges, ",")+fmt.Sprintf(`,{"source":%q,"target":"end"}`, last))
		h := b.harness(t, true, engine.Config{})
		for call := 1; call <= 2*steps+3; call++ {
			h.Faults.Set(enginetest.Fault{Call: call, Mode: enginetest.CrashAfter})
			keys := effects.Keys()
			run := h.Drive(h.Begin(h.Define(doc), `{}`, nil).ID, enginetest.Drive{})
			require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
			require.Equal(t, keys+steps, effects.Keys())
			repeated := 0
			for i := range steps {
				key := fmt.Sprintf("%s/s%d", run.ID, i)
				require.GreaterOrEqual(t, effects.Ended(key), 1, key)
				repeated += effects.Begun(key) - 1
			}
			require.LessOrEqual(t, repeated, 1, "only what was in flight at the crash may repeat")
			h.Crash()
		}
	})
}

var instants = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)

// log is a run's execution log without times and sequence numbers.
func log(snap engine.Snapshot) map[string]string {
	out := map[string]string{"": fmt.Sprintf("%s %s %v", snap.Run.Status, instants.ReplaceAll(snap.Run.Output, []byte("T")), snap.Run.Error)}
	for _, r := range snap.Records {
		out[fmt.Sprintf("%s#%d", r.Address, r.Round)] = fmt.Sprintf("%s %s attempt %d in %s out %s error %v took %v %q vars %s warning %q",
			r.Type, r.Status, r.Attempt, r.Input, instants.ReplaceAll(r.Output, []byte("T")), r.Error, r.Taken, r.Handle, r.Variables, r.Warning)
	}
	return out
}

// TestPromise02AResumedRunIsLikeOneThatNeverPaused promises that a run whose process
// was stopped or killed at each of its pauses has the same output, statuses and log as
// one that went through in one piece.
func TestPromise02AResumedRunIsLikeOneThatNeverPaused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		b.seeds(t, 150, func(t *testing.T, seed uint64) {
			b := b.fresh()
			flow := enginetest.Generate(seed, enginetest.Shape{Steps: 100, Calm: true})
			h := b.harness(t, true, engine.Config{}, &enginetest.Probe{Quiet: true, Do: flow.Effect})
			drive := enginetest.Drive{Decide: flow.Decide}
			straight := h.Drive(h.Start(flow.Document, flow.Input).ID, drive)
			pauses := 0
			drive.Paused = func(engine.Snapshot) {
				if pauses++; pauses%2 == 0 {
					h.Crash()
				} else {
					h.Restart()
				}
			}
			paused := h.Drive(h.Start(flow.Document, flow.Input).ID, drive)
			h.Stop(h.Engine)
			require.Empty(t, flow.Check(h.Snapshot(paused.ID)))
			if flow.Certain() {
				require.Equal(t, log(h.Snapshot(straight.ID)), log(h.Snapshot(paused.ID)))
			}
		})
	})
}

// dump is all that is stored of a run, without what a segment may change.
func dump(t *testing.T, snap engine.Snapshot) string {
	t.Helper()
	snap.Run.Epoch, snap.Run.SpanSeq = 0, 0
	snap.TakenOver = false
	raw, err := json.MarshalIndent(snap, "", " ")
	require.NoError(t, err)
	return string(raw)
}

// TestPromise03ARestartChangesNothing promises that what is stored of a paused run is
// the same before and after a restart, and that what is stored of a step that is over
// never changes again.
func TestPromise03ARestartChangesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		b.seeds(t, 150, func(t *testing.T, seed uint64) {
			b := b.fresh()
			rnd := rand.New(rand.NewPCG(seed, 3))
			flow := enginetest.Generate(seed, enginetest.Shape{Steps: 60, NoTimers: true})
			h := b.harness(t, true, engine.Config{}, &enginetest.Probe{Quiet: true, Do: flow.Effect})
			over := map[engine.RecordKey]string{}
			note := func(snap engine.Snapshot) {
				for _, r := range snap.Records {
					if !r.Status.Terminal() || r.Taken == nil {
						continue // an answered step's edges are decided by the next segment
					}
					raw, err := json.Marshal(r)
					require.NoError(t, err)
					if was, ok := over[r.Key()]; ok {
						require.Equal(t, was, string(raw))
					}
					over[r.Key()] = string(raw)
				}
			}
			calls := b.calls(t, flow)
			h.Faults.Set(enginetest.Fault{Call: 1 + rnd.IntN(calls), Mode: enginetest.CrashAfter})
			run := h.Begin(h.Define(flow.Document), flow.Input, nil)
			run = h.Drive(run.ID, enginetest.Drive{Decide: flow.Decide, Crashed: note, Paused: func(snap engine.Snapshot) {
				if h.Faults.Dead() {
					return
				}
				note(snap)
				h.Crash(run.ID)
				<-h.Faults.Moved() // the new process has gone through the run and parked it again
				require.Equal(t, dump(t, snap), dump(t, h.Snapshot(run.ID)))
			}})
			h.Stop(h.Engine)
			note(h.Snapshot(run.ID))
			require.Empty(t, flow.Check(h.Snapshot(run.ID)))
		})
	})
}

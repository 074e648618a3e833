package enginetest

import (
	"context"
	"errors"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/engine"
)

// Crash kills the engine's process and boots another one on the same store, which
// takes up the runs it is told of.
func (h *Harness) Crash(runIDs ...string) {
	h.T.Helper()
	h.Faults.Kill()
	h.Stop(h.Engine)
	h.Boot()
	for _, id := range runIDs {
		h.Engine.Dispatch(id)
	}
}

// Drive is how a run is brought to its end.
type Drive struct {
	// Decide gives the outcome of an approval; nil approves.
	Decide func(engine.Park) string
	// Paused is called whenever the run waits for a person, before it is answered.
	Paused func(engine.Snapshot)
	// Crashed is called after a process has died and before the next one boots.
	Crashed func(engine.Snapshot)
	// Booted is called when the next one has booted, before it is told of the run:
	// faults for it are set here.
	Booted func()
}

// sweepEvery is how often a driven run is looked after, as the sweeper and the
// queue do in the product.
const sweepEvery = 20 * time.Millisecond

// driveLimit is when a run is taken to be stuck.
const driveLimit = 60 * time.Second

// Drive waits until the run is over: it answers approvals one by one, boots another
// engine when a process has died, and dispatches the run again and again as a
// sweeper does. It needs [Options].Faulty.
func (h *Harness) Drive(runID string, d Drive) engine.Run {
	h.T.Helper()
	deadline := time.NewTimer(driveLimit)
	defer deadline.Stop()
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for {
		snap := h.Snapshot(runID)
		if snap.Run.Status.Terminal() && !h.Faults.Dead() {
			return snap.Run
		}
		switch {
		case h.Faults.Dead():
			if d.Crashed != nil {
				d.Crashed(snap)
			}
			h.Stop(h.Engine) // what was in flight ends before the next process begins
			h.Boot()
			if d.Booted != nil {
				d.Booted()
			}
			h.Engine.Dispatch(runID)
			continue
		case snap.Run.Status == engine.RunPendingApproval:
			if d.Paused != nil {
				d.Paused(snap)
			}
			if h.decide(snap, d) {
				continue
			}
		}
		select {
		case <-h.Faults.Moved():
		case <-sweep.C:
			h.Engine.Dispatch(runID)
		case <-deadline.C:
			require.Failf(h.T, "the run is stuck", "it is %s; steps: %v; parks: %v", snap.Run.Status, h.Statuses(runID), snap.Parks)
		}
	}
}

// decide answers the first open approval. It reports false where there is none.
func (h *Harness) decide(snap engine.Snapshot, d Drive) bool {
	h.T.Helper()
	for _, p := range snap.Parks {
		var outcome string
		switch {
		case p.Kind == engine.ParkInterrupt:
			outcome = "run_again"
		case p.Kind != engine.ParkApproval:
			continue
		case d.Decide == nil:
			outcome = "approve"
		default:
			outcome = d.Decide(p)
		}
		if outcome == "" {
			continue
		}
		_, err := h.Engine.Answer(context.Background(), engine.AnswerRequest{AccountID: Account, ParkID: p.ID, By: Person, Outcome: outcome})
		if err != nil && !errors.Is(err, ErrFault) && !errors.Is(err, errDead) && !errors.Is(err, engine.ErrConflict) {
			require.NoError(h.T, err)
		}
		return true
	}
	return false
}

// Begin starts a run however the store fails: a client that heard no answer asks
// again with the same idempotency key.
func (h *Harness) Begin(hash, input string, booted func()) engine.Run {
	h.T.Helper()
	key := engine.NewID()
	for {
		run, _, err := h.Engine.StartRun(context.Background(), engine.NewRun{Run: engine.Run{
			AccountID: Account, WorkflowID: Workflow, DefinitionHash: hash, Input: []byte(input), StartedBy: Person, IdempotencyKey: key,
		}})
		if err == nil {
			return run
		}
		if h.Faults.Dead() {
			h.Boot()
			if booted != nil {
				booted()
			}
			continue
		}
		require.ErrorIs(h.T, err, ErrFault)
	}
}

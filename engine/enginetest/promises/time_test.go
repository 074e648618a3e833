package promises_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
)

// one is a workflow of a single probe with settings.
func one(settings string) string {
	return document(`{"id":"start","type":"trigger"},{"id":"a","type":"probe"`+settings+`}`, `{"source":"start","target":"a"}`)
}

// TestPromise13RetriesComeAtTheirTimes promises that the attempts of a step come at
// the times that the backoff says, seen from outside.
func TestPromise13RetriesComeAtTheirTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		probe := &enginetest.Probe{Do: func(context.Context, engine.Input) (engine.Output, error) {
			at = append(at, time.Now())
			return engine.Output{}, errors.New("no")
		}}
		h := open(t, "memory", nil).harness(t, false, engine.Config{Jitter: func(n int64) int64 { return n / 2 }}, probe)
		run := ends(t, h.Start(one(`,"retry":{"max_attempts":7}`), `{}`).ID, h)
		require.Equal(t, engine.RunFailed, run.Status)
		require.Len(t, at, 7)
		for i, ms := range []int64{2_500, 4_500, 8_500, 16_500, 29_500, 29_500} {
			require.Equal(t, time.Duration(ms)*time.Millisecond, at[i+1].Sub(at[i]), "before attempt %d", i+2)
		}
	})
}

// TestPromise14AttemptsSurviveRestarts promises that a restart during a backoff
// neither forgets attempts nor shortens the wait.
func TestPromise14AttemptsSurviveRestarts(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"stop", "crash"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var at []time.Time
				tried := make(chan struct{}, 10)
				probe := &enginetest.Probe{Do: func(context.Context, engine.Input) (engine.Output, error) {
					at = append(at, time.Now())
					tried <- struct{}{}
					return engine.Output{}, errors.New("no")
				}}
				h := open(t, "memory", nil).harness(t, true, engine.Config{}, probe)
				run := h.Start(one(`,"retry":{"max_attempts":4}`), `{}`)
				for range 3 {
					<-tried
					synctest.Wait() // it has gone into its backoff
					<-time.After(time.Second)
					if end == "crash" {
						h.Crash(run.ID)
					} else {
						h.Stop(h.Engine)
						h.Boot()
						h.Engine.Dispatch(run.ID)
					}
				}
				require.Equal(t, engine.RunFailed, ends(t, run.ID, h).Status)
				require.Len(t, at, 4)
				require.Equal(t, 4, h.Step(run.ID, "a").Attempt)
				for i, ms := range []int64{2_000, 4_000, 8_000} {
					require.Equal(t, time.Duration(ms)*time.Millisecond, at[i+1].Sub(at[i]), "before attempt %d", i+2)
				}
			})
		})
	}
}

// TestPromise15ALateResultIsDropped promises that what an attempt gives after its time
// is up changes nothing once the next one has begun.
func TestPromise15ALateResultIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		second, late := make(chan struct{}), make(chan struct{})
		probe := &enginetest.Probe{Do: func(_ context.Context, in engine.Input) (engine.Output, error) {
			if in.Attempt == 1 {
				<-second
				defer close(late)
				return engine.Output{Value: "first", Usage: engine.Usage{OutputTokens: 1}}, nil
			}
			close(second)
			<-late
			return engine.Output{Value: "second", Usage: engine.Usage{OutputTokens: 10}}, nil
		}}
		h := open(t, "memory", nil).harness(t, false, engine.Config{}, probe)
		run := ends(t, h.Start(one(`,"timeout_ms":1000,"retry":{"max_attempts":2}`), `{}`).ID, h)
		require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
		step := h.Step(run.ID, "a")
		require.Equal(t, `"second"`, string(step.Output))
		require.Equal(t, 2, step.Attempt)
		require.EqualValues(t, 10, run.Usage.OutputTokens)
		first, ok := h.Trace.Span(run.ID, "a@1")
		require.True(t, ok)
		require.Equal(t, engine.CodeTimeout, first.Error.Code)
		synctest.Wait()
		require.Zero(t, h.Engine.StuckAttempts())
		require.Equal(t, step, h.Step(run.ID, "a"))
	})
}

// TestPromise16ATimeoutFreesEverything promises that calls which hang hold no place of
// the run when their time is up, and nothing at all once they return.
func TestPromise16ATimeoutFreesEverything(t *testing.T) {
	t.Parallel()
	for _, obeys := range []bool{true, false} {
		t.Run(fmt.Sprint("obeys ", obeys), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				probe := &enginetest.Probe{Quiet: true, Do: func(ctx context.Context, _ engine.Input) (engine.Output, error) {
					if obeys {
						<-ctx.Done()
						return engine.Output{}, ctx.Err()
					}
					<-release
					return engine.Output{}, nil
				}}
				h := open(t, "memory", nil).harness(t, false, engine.Config{MaxEffects: 50}, probe)
				began := time.Now()
				run := ends(t, h.Start(document(`{"id":"start","type":"trigger"},{"id":"each","type":"loop","config":{"times":200,"concurrency":200,"on_item_error":"continue"}},
					{"id":"a","type":"probe","parent":"each","timeout_ms":1000,"retry":{"max_attempts":1}}`, `{"source":"start","target":"each"}`), `{}`).ID, h)
				require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
				require.Less(t, time.Since(began), 6*time.Second, "four rounds of fifty")
				if !obeys {
					require.EqualValues(t, 200, h.Engine.StuckAttempts())
				}
				close(release)
				synctest.Wait()
				require.Zero(t, h.Engine.StuckAttempts())
				require.Zero(t, h.Engine.ActiveRuns())
			}) // and no goroutine is left, or the bubble would not end
		})
	}
}

// TestPromise31TheClockMayJump promises that no timer is lost or fires twice when the
// wall clock jumps, back or forth, while runs wait.
func TestPromise31TheClockMayJump(t *testing.T) {
	t.Parallel()
	if *databaseFlag != "all" && *databaseFlag != "memory" {
		t.Skip("a database has its own clock")
	}
	var mu sync.Mutex
	offset := time.Duration(0)
	now := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Now().Add(offset)
	}
	b := open(t, "memory", now)
	b.seeds(t, 60, func(t *testing.T, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 31))
		var calls atomic.Int32
		probe := &enginetest.Probe{Quiet: true, Do: func(context.Context, engine.Input) (engine.Output, error) {
			if calls.Add(1) == 1 {
				return engine.Output{}, errors.New("once more")
			}
			return engine.Output{}, nil
		}}
		h := b.harness(t, true, engine.Config{Now: now}, probe)
		run := h.Start(document(`{"id":"start","type":"trigger"},{"id":"w","type":"wait","config":{"duration":"5ms"}},
			{"id":"ask","type":"approval","config":{"timeout":"9ms","on_timeout":"reject"}},{"id":"a","type":"probe","retry":{"max_attempts":3,"base_ms":3,"max_ms":3}},
			{"id":"end","type":"end"}`, `{"source":"start","target":"w"},{"source":"w","target":"ask"},{"source":"ask","target":"a","handle":"reject"},{"source":"a","target":"end"}`), `{}`)
		jumps := 0
		jump := func() string {
			mu.Lock()
			defer mu.Unlock()
			if jumps++; jumps > 6 {
				offset += 48 * time.Hour // whatever was put off is due now
			} else {
				offset += []time.Duration{-time.Hour, time.Hour, -24 * time.Hour, 24 * time.Hour}[rnd.IntN(4)]
			}
			return ""
		}
		done := make(chan struct{})
		var jumping sync.WaitGroup
		jumping.Go(func() {
			tick := time.NewTicker(2 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-done:
					return
				case <-tick.C:
					jump()
				}
			}
		})
		run = h.Drive(run.ID, enginetest.Drive{Decide: func(engine.Park) string { return "" }})
		close(done)
		jumping.Wait()
		h.Stop(h.Engine)
		require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
		require.EqualValues(t, 2, calls.Load())
		require.Equal(t, "reject", h.Step(run.ID, "ask").Handle)
		require.Equal(t, 2, h.Step(run.ID, "a").Attempt)
	})
}

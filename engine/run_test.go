package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
)

// harness starts an engine in memory with the built-in kinds and a probe.
func harness(t testing.TB, probe *enginetest.Probe) *enginetest.Harness {
	t.Helper()
	return enginetest.New(t, registry(t, probe), enginetest.Options{Config: engine.Config{
		Jitter: func(int64) int64 { return 0 },
	}})
}

func caseFile(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "cases", name))
	require.NoError(t, err)
	return string(b)
}

// flow builds a canonical document of nodes and edges written as JSON.
func flow(nodes, edges string) string {
	return `{"format":"sluice/v1","name":"test","nodes":[` + nodes + `],"edges":[` + edges + `]}`
}

const chainEdges = `{"source":"start","target":"a"},{"source":"a","target":"done"}`

func chain(a string) string {
	return flow(`{"id":"start","type":"trigger"},`+a+`,{"id":"done","type":"end"}`, chainEdges)
}

func TestContentPipelineRunsUnchanged(t *testing.T) {
	t.Parallel()
	h := harness(t, &enginetest.Probe{})
	run := h.Run(caseFile(t, "content-pipeline.json"), `{}`)
	require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
	require.Equal(t, []string{"1 succeeded", "2 succeeded", "3 succeeded", "4 succeeded", "5 succeeded"}, h.Statuses(run.ID))
	for from, to := range map[string]string{"2": "3", "3": "4"} {
		var out struct{ Text string }
		require.NoError(t, json.Unmarshal(h.Step(run.ID, from).Output, &out))
		var in struct{ Prompt string }
		require.NoError(t, json.Unmarshal(h.Step(run.ID, to).Input, &in))
		require.NotEmpty(t, out.Text)
		require.Contains(t, in.Prompt, out.Text)
	}
}

func TestDiamondSkipsOneSideAndJoinsOnce(t *testing.T) {
	t.Parallel()
	h := harness(t, &enginetest.Probe{})
	run := h.Run(caseFile(t, "diamond-skip.json"), `{"customer":{"id":9007199254740993,"name":"{{step.gift}}","tier":"basic"}}`)
	require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
	require.Equal(t, engine.StepSkipped, h.Step(run.ID, "gift").Status)
	require.Equal(t, engine.StepSkipped, h.Step(run.ID, "wrap").Status)
	require.Equal(t, `{"parcel":"note for {{step.gift}}","id":9007199254740993}`, string(run.Output))
}

const threeItems = `{"items":[{"name":"唐辛子","price":9007199254740993},{"name":"b","price":0.1},{"name":"c 🌶","price":-0}]}`

func TestApprovalInLoopResumesInAnyOrderAcrossRestarts(t *testing.T) {
	t.Parallel()
	h := harness(t, &enginetest.Probe{})
	run := h.Run(caseFile(t, "approval-in-loop.json"), threeItems)
	require.Equal(t, engine.RunPendingApproval, run.Status)
	require.Equal(t, "Publish 唐辛子?", h.Park(run.ID, "each[0]/ok").Approval.Title)
	require.Len(t, h.Snapshot(run.ID).Parks, 3)

	h.Answer(run.ID, "each[2]/ok", "approve", "")
	h.Await(run.ID)
	h.Restart()
	h.Answer(run.ID, "each[1]/ok", "approve", "")
	h.Answer(run.ID, "each[0]/ok", "approve", "")
	run = awaitTerminal(t, h, run.ID)
	require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)

	var out struct {
		Count   int
		Results []struct{ Published, By string }
	}
	require.NoError(t, json.Unmarshal(run.Output, &out))
	require.Equal(t, 3, out.Count)
	require.Equal(t, "No. 0: 唐辛子", out.Results[0].Published)
	require.Equal(t, "No. 2: c 🌶", out.Results[2].Published)
	require.Equal(t, "approve", out.Results[1].By)
	require.Contains(t, string(h.Step(run.ID, "each[0]/draft").Output), `"price":9007199254740993`)
	require.Contains(t, string(h.Step(run.ID, "each[2]/draft").Output), `"price":-0`)
}

// awaitTerminal waits out the moments in which a run is between two parks.
func awaitTerminal(t *testing.T, h *enginetest.Harness, runID string) engine.Run {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		run, err := h.Engine.Await(ctx, enginetest.Account, runID)
		require.NoError(t, err)
		require.NoError(t, ctx.Err(), "run is %s", run.Status)
		if run.Status.Terminal() {
			return run
		}
	}
}

func TestEmptyCollectionSucceeds(t *testing.T) {
	t.Parallel()
	h := harness(t, &enginetest.Probe{})
	run := h.Run(caseFile(t, "approval-in-loop.json"), `{"items":[]}`)
	require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
	require.Equal(t, `{"count":0,"results":[]}`, string(run.Output))
}

func TestRejectionWithoutAnEdgeRejectsTheRun(t *testing.T) {
	t.Parallel()
	h := harness(t, &enginetest.Probe{})
	doc := chain(`{"id":"a","type":"approval","config":{"title":"ok?"}}`)
	run := h.Run(doc, `{}`)
	h.Answer(run.ID, "a", "reject", "no budget")
	run = awaitTerminal(t, h, run.ID)
	require.Equal(t, engine.RunRejected, run.Status)
	require.Contains(t, run.Error.Message, "no budget")
	require.Equal(t, engine.StepSkipped, h.Step(run.ID, "done").Status)

	retried, err := h.Engine.Retry(context.Background(), enginetest.Account, run.ID, enginetest.Person)
	require.NoError(t, err)
	require.Equal(t, engine.RunPendingApproval, h.Await(retried.ID).Status)
	h.Answer(run.ID, "a", "approve", "")
	require.Equal(t, engine.RunSucceeded, awaitTerminal(t, h, run.ID).Status)
}

func TestRejectionTakesItsEdge(t *testing.T) {
	t.Parallel()
	h := harness(t, &enginetest.Probe{})
	run := h.Run(flow(`{"id":"start","type":"trigger"},{"id":"a","type":"approval","config":{"title":"ok?"}},
		{"id":"yes","type":"probe"},{"id":"no","type":"set","config":{"values":{"why":"{{step.a.comment}}"}}},{"id":"done","type":"end"}`,
		`{"source":"start","target":"a"},{"source":"a","target":"yes","handle":"approve"},{"source":"a","target":"no","handle":"reject"},
		{"source":"yes","target":"done"},{"source":"no","target":"done"}`), `{}`)
	h.Answer(run.ID, "a", "reject", "because")
	run = awaitTerminal(t, h, run.ID)
	require.Equal(t, engine.RunSucceeded, run.Status)
	require.JSONEq(t, `{"why":"because"}`, string(run.Output))
	require.Equal(t, engine.StepSkipped, h.Step(run.ID, "yes").Status)
}

func TestFailureIsRetriedThenFailsTheRun(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	probe := &enginetest.Probe{Do: func(context.Context, engine.Input) (engine.Output, error) {
		tries.Add(1)
		return engine.Output{}, errors.New("connection reset")
	}}
	h := harness(t, probe)
	run := awaitTerminal(t, h, h.Start(chain(`{"id":"a","type":"probe","retry":{"max_attempts":3,"base_ms":1,"max_ms":2}}`), `{}`).ID)
	require.Equal(t, engine.RunFailed, run.Status)
	require.EqualValues(t, 3, tries.Load())
	require.Equal(t, "a", run.Error.Address)
	require.Equal(t, 3, run.Error.Attempts)
	require.Equal(t, engine.StepSkipped, h.Step(run.ID, "done").Status)

	// Mended, a retry runs only what failed.
	probe.Do = nil
	_, err := h.Engine.Retry(context.Background(), enginetest.Account, run.ID, enginetest.Person)
	require.NoError(t, err)
	run = awaitTerminal(t, h, run.ID)
	require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
	require.Equal(t, 1, h.Step(run.ID, "a").Round)
}

func TestFatalErrorsAreNotRetried(t *testing.T) {
	t.Parallel()
	probe := &enginetest.Probe{Do: func(context.Context, engine.Input) (engine.Output, error) {
		return engine.Output{}, engine.Fatalf("http_404", "not found")
	}}
	h := harness(t, probe)
	run := awaitTerminal(t, h, h.Start(chain(`{"id":"a","type":"probe"}`), `{}`).ID)
	require.Equal(t, engine.RunFailed, run.Status)
	require.Equal(t, "http_404", run.Error.Code)
	require.Len(t, probe.Calls(), 1)
}

func TestErrorPolicies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, onError, edges string
		status               engine.RunStatus
		output               string
	}{
		{"continue takes the default edge", "continue", `{"source":"a","target":"next"}`, engine.RunSucceeded, "boom"},
		{"continue prefers an error edge", "continue", `{"source":"a","target":"other","handle":"error"},{"source":"a","target":"next"}`, engine.RunSucceeded, "other"},
		{"branch takes only the error edge", "branch", `{"source":"a","target":"other","handle":"error"},{"source":"a","target":"next"}`, engine.RunSucceeded, "other"},
		{"stop fails the run", "stop", `{"source":"a","target":"next"}`, engine.RunFailed, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := harness(t, &enginetest.Probe{Do: func(context.Context, engine.Input) (engine.Output, error) {
				return engine.Output{}, engine.Fatalf("bad", "boom")
			}})
			run := awaitTerminal(t, h, h.Start(flow(`{"id":"start","type":"trigger"},{"id":"a","type":"probe","on_error":"`+tt.onError+`"},
				{"id":"next","type":"set","config":{"values":{"v":"{{step.a.error.message}}"}}},
				{"id":"other","type":"set","config":{"values":{"v":"other"}}},{"id":"done","type":"end"}`,
				`{"source":"start","target":"a"},{"source":"next","target":"done"},{"source":"other","target":"done"},`+tt.edges), `{}`).ID)
			require.Equal(t, tt.status, run.Status, "%v", run.Error)
			if tt.output != "" {
				require.JSONEq(t, `{"v":"`+tt.output+`"}`, string(run.Output))
				require.Equal(t, engine.StepFailed, h.Step(run.ID, "a").Status)
			}
		})
	}
}

func TestTimeoutIsPerAttemptAndALateResultIsDropped(t *testing.T) {
	t.Parallel()
	late := make(chan struct{})
	var calls atomic.Int32
	probe := &enginetest.Probe{Do: func(context.Context, engine.Input) (engine.Output, error) {
		if calls.Add(1) == 1 {
			<-late // ignores its context
			return engine.Output{Value: map[string]any{"value": "old"}}, nil
		}
		return engine.Output{Value: map[string]any{"value": "new"}}, nil
	}}
	h := harness(t, probe)
	id := h.Start(chain(`{"id":"a","type":"probe","timeout_ms":50,"retry":{"max_attempts":3,"base_ms":1}}`), `{}`).ID
	run := awaitTerminal(t, h, id)
	require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
	require.JSONEq(t, `{"value":"new"}`, string(run.Output))
	require.EqualValues(t, 1, h.Engine.StuckAttempts())
	close(late)
	first, ok := h.Trace.Span(id, "a@1")
	require.True(t, ok)
	require.Equal(t, engine.CodeTimeout, first.Error.Code)
}

func TestPanicIsAStepError(t *testing.T) {
	t.Parallel()
	h := harness(t, &enginetest.Probe{Do: func(context.Context, engine.Input) (engine.Output, error) { panic("oops") }})
	run := awaitTerminal(t, h, h.Start(chain(`{"id":"a","type":"probe"}`), `{}`).ID)
	require.Equal(t, engine.RunFailed, run.Status)
	require.Equal(t, engine.CodePanic, run.Error.Code)
	require.Contains(t, run.Error.Message, "oops")
}

func TestParallelSettlesEveryBranch(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]engine.RunStatus{"none": engine.RunSucceeded, "any": engine.RunSucceeded, "all": engine.RunFailed} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			probe := &enginetest.Probe{Do: func(_ context.Context, in engine.Input) (engine.Output, error) {
				if strings.HasPrefix(in.Address, "par/a/") {
					return engine.Output{}, engine.Fatalf("bad", "boom")
				}
				return engine.Output{Value: map[string]any{"v": in.Address}}, nil
			}}
			h := harness(t, probe)
			run := awaitTerminal(t, h, h.Start(flow(`{"id":"start","type":"trigger"},{"id":"par","type":"parallel","config":{"require":"`+rule+`"}},
				{"id":"a","type":"branch","parent":"par"},{"id":"b","type":"branch","parent":"par"},
				{"id":"x","type":"probe","parent":"a"},{"id":"y","type":"probe","parent":"b"},{"id":"y2","type":"probe","parent":"b"},
				{"id":"done","type":"end","config":{"output":{"b":"{{step.b.v}}","y":"{{step.y.v}}","all":"{{step.par.branches.a.status}}"}}}`,
				`{"source":"start","target":"par"},{"source":"par","target":"done"},{"source":"y","target":"y2"}`), `{}`).ID)
			require.Equal(t, want, run.Status, "%v", run.Error)
			require.Equal(t, engine.StepSucceeded, h.Step(run.ID, "par/b/y2").Status)
			if want == engine.RunSucceeded {
				require.JSONEq(t, `{"b":"par/b/y2","y":"par/b/y","all":"failed"}`, string(run.Output))
			}
		})
	}
}

func TestLoopItemErrors(t *testing.T) {
	t.Parallel()
	doc := func(policy string) string {
		return flow(`{"id":"start","type":"trigger"},{"id":"each","type":"loop","config":{"collection":"{{workflow_input.items}}","on_item_error":"`+policy+`"}},
			{"id":"p","type":"probe","parent":"each","config":{"value":"{{loop_item}}"}},{"id":"done","type":"end"}`,
			`{"source":"start","target":"each"},{"source":"each","target":"done"}`)
	}
	probe := func() *enginetest.Probe {
		return &enginetest.Probe{Do: func(_ context.Context, in engine.Input) (engine.Output, error) {
			if in.Address == "each[1]/p" {
				return engine.Output{}, engine.Fatalf("bad", "boom")
			}
			return enginetest.Echo(in)
		}}
	}
	h := harness(t, probe())
	run := awaitTerminal(t, h, h.Start(doc("continue"), `{"items":[1,2,3]}`).ID)
	require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
	require.Contains(t, string(run.Output), `"failed":1`)
	require.Contains(t, string(run.Output), `{"error":{"code":"bad","message":"boom"`)

	stop := probe()
	h = harness(t, stop)
	run = awaitTerminal(t, h, h.Start(doc("stop"), `{"items":[1,2,3]}`).ID)
	require.Equal(t, engine.RunFailed, run.Status)
	require.Equal(t, []string{"each[0]/p", "each[1]/p"}, stop.Addresses())
	require.Equal(t, "each[1]/p", run.Error.Address)
}

func TestVariablesFlowDownstreamAndOutOfContainers(t *testing.T) {
	t.Parallel()
	h := harness(t, &enginetest.Probe{})
	run := h.Run(`{"format":"sluice/v1","name":"vars","variables":{"x":"init","n":0},"nodes":[
		{"id":"start","type":"trigger"},
		{"id":"each","type":"loop","config":{"collection":[1,2,3],"concurrency":3}},
		{"id":"two","type":"condition","parent":"each","config":{"expression":"loop_item == 2"}},
		{"id":"w","type":"set","parent":"each","config":{"values":{},"variables":{"x":"two"}}},
		{"id":"count","type":"loop","config":{"while":"n < 4"}},
		{"id":"inc","type":"set","parent":"count","config":{"values":{},"variables":{"n":"{{n + 1}}"}}},
		{"id":"done","type":"end","config":{"output":{"x":"{{x}}","n":"{{vars.n}}"}}}],
		"edges":[{"source":"start","target":"each"},{"source":"two","target":"w","handle":"then"},{"source":"each","target":"count"},{"source":"count","target":"done"}]}`, `{}`)
	require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
	require.JSONEq(t, `{"x":"two","n":4}`, string(run.Output))
}

func TestMissingPathFailsTheStepNamingIt(t *testing.T) {
	t.Parallel()
	h := harness(t, &enginetest.Probe{})
	run := h.Run(chain(`{"id":"a","type":"set","config":{"values":{"v":"{{workflow_input.none.deep}}"}}}`), `{"x":1}`)
	require.Equal(t, engine.RunFailed, run.Status)
	require.Equal(t, engine.CodeTemplate, run.Error.Code)
	require.Contains(t, run.Error.Message, "workflow_input.none")
}

func TestCancelClosesParksAndIsFinal(t *testing.T) {
	t.Parallel()
	h := harness(t, &enginetest.Probe{})
	run := h.Run(caseFile(t, "approval-in-loop.json"), threeItems)
	park := h.Park(run.ID, "each[0]/ok")
	ctx := context.Background()
	run, err := h.Engine.Cancel(ctx, enginetest.Account, run.ID, enginetest.Person, "wrong list")
	require.NoError(t, err)
	require.Equal(t, engine.RunCancelled, run.Status)
	_, err = h.Engine.Answer(ctx, engine.AnswerRequest{AccountID: enginetest.Account, ParkID: park.ID, By: enginetest.Person, Outcome: "approve"})
	require.ErrorIs(t, err, engine.ErrConflict)
	_, err = h.Engine.Cancel(ctx, enginetest.Account, run.ID, enginetest.Person, "again")
	require.NoError(t, err)
	require.Equal(t, 1, h.Trace.Ended(run.ID))
}

func TestCancelStopsAStepInFlight(t *testing.T) {
	t.Parallel()
	started, ended := make(chan struct{}), make(chan struct{})
	h := harness(t, &enginetest.Probe{Do: func(ctx context.Context, _ engine.Input) (engine.Output, error) {
		close(started)
		<-ctx.Done()
		close(ended)
		return engine.Output{}, ctx.Err()
	}})
	run := h.Start(chain(`{"id":"a","type":"probe"}`), `{}`)
	<-started
	run, err := h.Engine.Cancel(context.Background(), enginetest.Account, run.ID, enginetest.Person, "")
	require.NoError(t, err)
	require.Equal(t, engine.RunCancelled, run.Status)
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the step was not told")
	}
}

func TestStopHandsBackWithoutUsingUpAnAttempt(t *testing.T) {
	t.Parallel()
	started := make(chan struct{}, 2)
	block := make(chan struct{})
	probe := &enginetest.Probe{Do: func(ctx context.Context, in engine.Input) (engine.Output, error) {
		started <- struct{}{}
		select {
		case <-block:
			return enginetest.Echo(in)
		case <-ctx.Done():
			return engine.Output{}, ctx.Err()
		}
	}}
	h := enginetest.New(t, registry(t, probe), enginetest.Options{Config: engine.Config{Grace: time.Millisecond}})
	run := h.Start(chain(`{"id":"a","type":"probe","retry":{"max_attempts":1}}`), `{}`)
	<-started
	h.Restart()
	<-started
	close(block)
	run = awaitTerminal(t, h, run.ID)
	require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
	require.Equal(t, 1, h.Step(run.ID, "a").Attempt)
	require.Equal(t, probe.Calls()[0].Key, probe.Calls()[1].Key)
}

func TestForkKeepsWhatComesBefore(t *testing.T) {
	t.Parallel()
	probe := &enginetest.Probe{}
	h := harness(t, probe)
	run := awaitTerminal(t, h, h.Start(flow(`{"id":"start","type":"trigger"},{"id":"a","type":"probe"},{"id":"b","type":"probe"},{"id":"done","type":"end"}`,
		`{"source":"start","target":"a"},{"source":"a","target":"b"},{"source":"b","target":"done"}`), `{}`).ID)
	require.Equal(t, engine.RunSucceeded, run.Status)
	fork, err := h.Engine.Fork(context.Background(), engine.ForkRequest{AccountID: enginetest.Account, RunID: run.ID, From: "b", By: enginetest.Person})
	require.NoError(t, err)
	require.Equal(t, engine.RunSucceeded, awaitTerminal(t, h, fork.ID).Status)
	require.Equal(t, []string{"a", "b", "b"}, probe.Addresses())
}

func TestSpansAreNumberedInOrder(t *testing.T) {
	t.Parallel()
	h := harness(t, &enginetest.Probe{})
	run := h.Run(caseFile(t, "approval-in-loop.json"), threeItems)
	for _, a := range []string{"each[1]/ok", "each[0]/ok", "each[2]/ok"} {
		h.Answer(run.ID, a, "approve", "")
	}
	run = awaitTerminal(t, h, run.ID)
	seen := map[int64]bool{}
	var top int64
	for _, s := range h.Trace.Seqs(run.ID) {
		require.False(t, seen[s], "sequence number %d twice", s)
		seen[s] = true
		top = max(top, s)
	}
	require.LessOrEqual(t, top, h.Snapshot(run.ID).Run.SpanSeq)
	root, _ := h.Trace.Span(run.ID, engine.RootSpanID)
	require.Equal(t, string(engine.RunSucceeded), root.Status)
	ok, _ := h.Trace.Span(run.ID, "each[1]/ok")
	require.Equal(t, "each[1]", ok.ParentID)
	require.Equal(t, 1, h.Trace.Ended(run.ID))
}

func TestAnApprovalThatTimesOutIntoARefusalIsRejected(t *testing.T) {
	t.Parallel()
	h := harness(t, &enginetest.Probe{})
	run := awaitTerminal(t, h, h.Start(chain(`{"id":"a","type":"approval","config":{"title":"ok?","timeout":"30ms","on_timeout":"reject"}}`), `{}`).ID)
	require.Equal(t, engine.RunRejected, run.Status)
	require.Empty(t, h.Snapshot(run.ID).Parks)
}

func TestWaitsInSeriesEachTakeTheirTime(t *testing.T) {
	t.Parallel()
	h := harness(t, &enginetest.Probe{})
	began := time.Now()
	run := awaitTerminal(t, h, h.Start(flow(`{"id":"start","type":"trigger"},{"id":"a","type":"wait","config":{"duration":"50ms"}},
		{"id":"b","type":"wait","config":{"duration":"50ms"}},{"id":"done","type":"end","config":{"output":"{{step.b}}"}}`,
		`{"source":"start","target":"a"},{"source":"a","target":"b"},{"source":"b","target":"done"}`), `{}`).ID)
	require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
	require.GreaterOrEqual(t, time.Since(began), 100*time.Millisecond)
}

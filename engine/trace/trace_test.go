package trace_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"sluice/engine"
	"sluice/engine/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stuck is a sink that never comes back, until it is released.
type stuck struct{ release chan struct{} }

func (*stuck) Name() string { return "stuck" }
func (s *stuck) Spans(ctx context.Context, _ []*trace.Item) {
	select {
	case <-s.release:
	case <-ctx.Done():
	}
}
func (*stuck) RunEnded(context.Context, string, engine.Run) {}

func TestAStuckSinkCostsTheEngineNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stuck{release: make(chan struct{})}
		f := trace.NewFanout(trace.NewHub(), nil, s)
		require.NoError(t, f.Start(context.Background()))
		began := time.Now()
		for i := range 20_000 {
			f.Record("a", []engine.Span{{RunID: "r", ID: "s", Seq: int64(i)}})
		}
		require.Zero(t, time.Since(began), "recording waited")
		require.Positive(t, f.Dropped()["stuck"])
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		require.NoError(t, f.Stop(ctx))
	})
}

func TestASlowSubscriberIsCutOffAndOthersAreNot(t *testing.T) {
	t.Parallel()
	h := trace.NewHub()
	f := trace.NewFanout(h, nil)
	slow, quick := h.Subscribe(trace.RunTopic("r")), h.Subscribe(trace.RunTopic("r"))
	defer slow.Close()
	defer quick.Close()
	const spans = 20_000
	for i := range spans {
		f.Record("a", []engine.Span{{RunID: "r", ID: strconv.Itoa(i), Seq: int64(i)}})
		<-quick.Wake()
		require.Len(t, quick.Take(), 1)
	}
	select {
	case <-slow.Overflowed():
	default:
		t.Fatal("the slow subscriber was not told")
	}
	require.Equal(t, 1, h.Subscribers())
	require.Len(t, h.Recent("r", -1), spans, "nothing stores them")
	require.Len(t, h.Recent("r", spans-10), 9)
}

func TestMetricsCountBoundedLabels(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	m, err := trace.NewMetrics(reg, []string{"set"})
	require.NoError(t, err)
	end := time.Now()
	m.Spans(t.Context(), []*trace.Item{
		{Span: engine.Span{Kind: engine.SpanStep, NodeType: "set", Status: "succeeded", End: end}},
		{Span: engine.Span{Kind: engine.SpanStep, NodeType: "made-up-1", Status: "failed", End: end}},
		{Span: engine.Span{Kind: engine.SpanStep, NodeType: "set", Status: "running"}},
		{Span: engine.Span{Kind: engine.SpanAttempt, End: end}},
	})
	m.RunEnded(t.Context(), "a", engine.Run{Status: engine.RunSucceeded, StartedAt: end.Add(-time.Second), EndedAt: end})
	families, err := reg.Gather()
	require.NoError(t, err)
	series := map[string]int{}
	for _, f := range families {
		series[f.GetName()] = len(f.GetMetric())
	}
	require.Equal(t, map[string]int{
		"sluice_steps_total": 2, "sluice_step_attempts_total": 1, "sluice_workflow_executions_total": 1, "sluice_workflow_duration_seconds": 1,
	}, series)
}

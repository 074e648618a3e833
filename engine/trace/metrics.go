package trace

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/engine"
)

// Metrics is the sink that counts for Prometheus. No label grows with data: types
// are those of the registry, statuses are fixed.
type Metrics struct {
	executions *prometheus.CounterVec
	duration   prometheus.Histogram
	steps      *prometheus.CounterVec
	attempts   prometheus.Counter
	known      map[string]bool
}

// NewMetrics registers the collectors. types are the node types that may become
// labels; others are counted as "other".
func NewMetrics(reg prometheus.Registerer, types []string) (*Metrics, error) {
	m := &Metrics{
		executions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_workflow_executions_total", Help: "Runs that ended, by status.",
		}, []string{"status"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "sluice_workflow_duration_seconds", Help: "Time from a run's start to its end, waits included.",
			Buckets: []float64{.005, .02, .1, .5, 2, 10, 60, 600, 3600, 86400, 604800},
		}),
		steps: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sluice_steps_total", Help: "Steps that ended, by type and status.",
		}, []string{"type", "status"}),
		attempts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sluice_step_attempts_total", Help: "Attempts of steps that ended.",
		}),
		known: map[string]bool{},
	}
	for _, t := range types {
		m.known[t] = true
	}
	for _, c := range []prometheus.Collector{m.executions, m.duration, m.steps, m.attempts} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

// Name implements [Sink].
func (*Metrics) Name() string { return "metrics" }

// Spans implements [Sink].
func (m *Metrics) Spans(_ context.Context, batch []*Item) {
	for _, it := range batch {
		s := &it.Span
		switch {
		case s.End.IsZero():
		case s.Kind == engine.SpanStep:
			typ := s.NodeType
			if !m.known[typ] {
				typ = "other"
			}
			m.steps.WithLabelValues(typ, s.Status).Inc()
		case s.Kind == engine.SpanAttempt:
			m.attempts.Inc()
		}
	}
}

// RunEnded implements [Sink].
func (m *Metrics) RunEnded(_ context.Context, _ string, run engine.Run) {
	m.executions.WithLabelValues(string(run.Status)).Inc()
	if !run.StartedAt.IsZero() && !run.EndedAt.IsZero() {
		m.duration.Observe(run.EndedAt.Sub(run.StartedAt).Seconds())
	}
}

package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sluice/engine"
	"sluice/engine/enginetest"
)

// drawn is a random acyclic graph with the choices that its conditions make.
type drawn struct {
	kinds  []string // probe, condition
	truth  []bool   // what a condition gives
	edges  []drawnEdge
	failed map[int]bool // probes that fail and go on
}

type drawnEdge struct {
	from, to int
	handle   string
	open     bool // its condition
}

func drawGraph(t *rapid.T) drawn {
	n := rapid.IntRange(1, 25).Draw(t, "nodes")
	g := drawn{failed: map[int]bool{}}
	for i := range n {
		kind := rapid.SampledFrom([]string{"probe", "probe", "set", "condition"}).Draw(t, "kind")
		g.kinds, g.truth = append(g.kinds, kind), append(g.truth, rapid.Bool().Draw(t, "truth"))
		if kind == "probe" && rapid.IntRange(0, 5).Draw(t, "fails") == 0 {
			g.failed[i] = true
		}
		// -1 is the trigger. A node may stay without a source: it never runs.
		for from := -1; from < i; from++ {
			if rapid.IntRange(0, 3).Draw(t, "edge") != 0 && (from >= 0 || i > 0) {
				continue
			}
			e := drawnEdge{from: from, to: i, open: rapid.IntRange(0, 4).Draw(t, "condition") != 0}
			if from >= 0 && g.kinds[from] == "condition" {
				e.handle = rapid.SampledFrom([]string{"then", "else"}).Draw(t, "handle")
			}
			g.edges = append(g.edges, e)
		}
	}
	return g
}

// document writes the graph as a workflow.
func (g drawn) document() string {
	nodes := []string{`{"id":"start","type":"trigger"}`}
	for i, kind := range g.kinds {
		config := `{}`
		if kind == "condition" {
			config = fmt.Sprintf(`{"expression":"%t"}`, g.truth[i])
		}
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":%q,"config":%s,"on_error":"continue","retry":{"max_attempts":1}}`, i, kind, config))
	}
	var edges []string
	for _, e := range g.edges {
		from := "start"
		if e.from >= 0 {
			from = fmt.Sprintf("n%d", e.from)
		}
		handle, condition := "", ""
		if e.handle != "" {
			handle = fmt.Sprintf(`,"handle":%q`, e.handle)
		}
		if !e.open {
			condition = `,"condition":"1 > 2"`
		}
		edges = append(edges, fmt.Sprintf(`{"source":%q,"target":"n%d"%s%s}`, from, e.to, handle, condition))
	}
	return flow(strings.Join(nodes, ","), strings.Join(edges, ","))
}

// oracle says by the rules alone which nodes run: a node runs if one of its edges
// is taken. It knows nothing of the engine.
func (g drawn) oracle() map[string]engine.StepStatus {
	runs := map[int]bool{-1: true}
	for i := range g.kinds {
		for _, e := range g.edges {
			if e.to != i || !e.open || !runs[e.from] {
				continue
			}
			if e.handle == "" || (e.handle == "then") == g.truth[e.from] {
				runs[i] = true
			}
		}
	}
	want := map[string]engine.StepStatus{"start": engine.StepSucceeded}
	for i := range g.kinds {
		status := engine.StepSkipped
		if runs[i] {
			if status = engine.StepSucceeded; g.failed[i] {
				status = engine.StepFailed
			}
		}
		want[fmt.Sprintf("n%d", i)] = status
	}
	return want
}

func TestRandomGraphsRunAsTheRulesSay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := drawGraph(rt)
		probe := &enginetest.Probe{}
		h := harness(t, probe)
		probe.Do = g.effect
		run := h.Await(h.Start(g.document(), `{}`).ID)
		require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
		got := map[string]engine.StepStatus{}
		for _, r := range h.Snapshot(run.ID).Records {
			got[r.Address] = r.Status
		}
		require.Equal(t, g.oracle(), got)
		seen := map[string]bool{}
		for _, a := range probe.Addresses() {
			require.False(t, seen[a], "%s ran twice", a)
			seen[a] = true
		}
		h.Stop(h.Engine)
	})
}

package promises_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
)

// TestPromise38ValidationIsTotal promises that any document at all is answered with a
// list of what is wrong with it, without a panic and in a moment.
func TestPromise38ValidationIsTotal(t *testing.T) {
	b := inMemory(t)
	reg := kinds(t, &enginetest.Probe{})
	check := func(t *testing.T, doc string) engine.Issues {
		t.Helper()
		began := time.Now()
		def, issues, err := engine.Import([]byte(doc), reg)
		if err == nil {
			issues = append(issues, engine.Validate(def, reg)...)
			plan, found := engine.Compile(def, reg)
			require.Equal(t, found.HasErrors(), plan == nil)
		} else {
			issues = append(issues, engine.Issue{Code: "unreadable", Severity: engine.SeverityError, Message: err.Error()})
		}
		require.Less(t, time.Since(began), 5*time.Second, "%.200s", doc)
		return issues
	}
	for name, doc := range hostileDocuments() {
		require.True(t, check(t, doc).HasErrors(), name)
	}
	b.seeds(t, 400, func(t *testing.T, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 38))
		doc := []byte(enginetest.Generate(seed, enginetest.Shape{}).Document)
		require.False(t, check(t, string(doc)).HasErrors())
		for range 10 {
			broken := append([]byte(nil), doc...)
			for range 1 + rnd.IntN(6) {
				at, n := rnd.IntN(len(broken)), rnd.IntN(40)
				switch rnd.IntN(4) {
				case 0: // lose a piece
					broken = append(broken[:at:at], broken[min(len(broken), at+n):]...)
				case 1: // repeat one
					broken = append(broken[:at:at], append(append([]byte(nil), broken[at:min(len(broken), at+n)]...), broken[at:]...)...)
				case 2: // one node for another: cycles, foreign bodies, doubles
					ids := []string{`"n0"`, `"n1"`, `"n2"`, `"start"`, `"nowhere"`, `1`, `null`}
					from, to := ids[rnd.IntN(4)], ids[rnd.IntN(len(ids))]
					broken = []byte(strings.Replace(string(broken), from, to, 1+rnd.IntN(3)))
				default:
					broken[at] = byte(rnd.IntN(256))
				}
				if len(broken) == 0 {
					broken = []byte("{")
				}
			}
			check(t, string(broken))
		}
	})
}

// hostileDocuments are wrong, each in a way of its own.
func hostileDocuments() map[string]string {
	trigger := `{"id":"start","type":"trigger"}`
	many := func(n int, node func(i int) string) string {
		var nodes strings.Builder
		for i := range n {
			nodes.WriteString("," + node(i))
		}
		return nodes.String()
	}
	var ring strings.Builder
	for i := range 1_000 {
		fmt.Fprintf(&ring, `{"source":"n%d","target":"n%d"},`, i, (i+1)%1_000)
	}
	return map[string]string{
		"nothing": ``, "no object": `[1,2]`, "half": `{"nodes":[`, "deep": strings.Repeat("[", 100_000), "deep objects": strings.Repeat(`{"nodes":`, 50_000),
		"two triggers": document(trigger+`,{"id":"b","type":"trigger"}`, ``),
		"doubles":      document(trigger+`,{"id":"a","type":"set"},{"id":"l","type":"loop","config":{"times":1}},{"id":"a","type":"set","parent":"l"}`, ``),
		"self edge":    document(trigger+`,{"id":"a","type":"set"}`, `{"source":"a","target":"a"}`),
		"parents in a ring": document(trigger+`,{"id":"a","type":"loop","parent":"b","config":{"times":1}},{"id":"b","type":"loop","parent":"a","config":{"times":1}}`,
			`{"source":"start","target":"a"}`),
		"across bodies":    document(trigger+`,{"id":"l","type":"loop","config":{"times":1}},{"id":"a","type":"set","parent":"l"}`, `{"source":"a","target":"l"},{"source":"l","target":"a"}`),
		"a long ring":      document(trigger+many(1_000, func(i int) string { return fmt.Sprintf(`{"id":"n%d","type":"set"}`, i) }), strings.TrimSuffix(ring.String(), ",")),
		"too many nodes":   document(trigger+many(100_000, func(i int) string { return fmt.Sprintf(`{"id":"n%d","type":"set"}`, i) }), ``),
		"unknown kind":     document(trigger+`,{"id":"a","type":"nonesuch"}`, ``),
		"unknown handle":   document(trigger+`,{"id":"a","type":"set"}`, `{"source":"start","target":"a","handle":"nonesuch"}`),
		"a bad expression": document(trigger+`,{"id":"a","type":"condition","config":{"expression":"((((("}}`, ``),
	}
}

// TestPromise39LimitsAreClear promises that what is at a limit works, that what is above
// it fails with an error which names the limit, and that such a run can be read.
func TestPromise39LimitsAreClear(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		probe := &enginetest.Probe{Quiet: true, Do: func(_ context.Context, in engine.Input) (engine.Output, error) {
			var c struct{ Value int }
			if err := in.Decode(&c); err != nil {
				return engine.Output{}, err
			}
			return engine.Output{Value: strings.Repeat("x", c.Value-2)}, nil // two quotes
		}}
		h := b.harness(t, true, engine.Config{Limits: engine.Limits{OutputBytes: 1_000, RunBytes: 2_500, Iterations: 50}}, probe)
		chain := func(sizes ...int) string {
			nodes, edges, last := []string{`{"id":"start","type":"trigger"}`}, []string{}, "start"
			for i, n := range sizes {
				nodes = append(nodes, fmt.Sprintf(`{"id":"a%d","type":"probe","config":{"value":%d}}`, i, n))
				edges = append(edges, fmt.Sprintf(`{"source":%q,"target":"a%d"}`, last, i))
				last = fmt.Sprint("a", i)
			}
			return document(strings.Join(nodes, ","), strings.Join(edges, ","))
		}
		loop := func(field string) string {
			return document(`{"id":"start","type":"trigger"},{"id":"each","type":"loop","config":{`+field+`}},{"id":"s","type":"set","parent":"each"}`, `{"source":"start","target":"each"}`)
		}
		for name, tt := range map[string]struct{ below, at, above, says string }{
			"output":         {chain(999), chain(1_000), chain(1_001), "1000"},
			"run":            {chain(1_000, 1_000, 497), chain(1_000, 1_000, 498), chain(1_000, 1_000, 499), "2500"}, // the trigger gives {}
			"iterations":     {loop(`"times":49`), loop(`"times":50`), loop(`"times":51`), "50"},
			"while":          {loop(`"while":"loop_index < 49"`), loop(`"while":"loop_index < 50"`), loop(`"while":"loop_index < 51"`), "50"},
			"max_iterations": {loop(`"times":9,"max_iterations":10`), loop(`"times":10,"max_iterations":10`), loop(`"times":11,"max_iterations":10`), "10"},
		} {
			for _, doc := range []string{tt.below, tt.at} {
				run := h.Drive(h.Start(doc, `{}`).ID, enginetest.Drive{})
				require.Equal(t, engine.RunSucceeded, run.Status, "%s: %v", name, run.Error)
			}
			run := h.Drive(h.Start(tt.above, `{}`).ID, enginetest.Drive{})
			require.Equal(t, engine.RunFailed, run.Status, name)
			require.Equal(t, engine.CodeTooLarge, run.Error.Code, name)
			require.Contains(t, run.Error.Message, tt.says, name)
			require.NotEmpty(t, h.Statuses(run.ID))
			_, err := h.Engine.Cancel(context.Background(), enginetest.Account, run.ID, enginetest.Person, "")
			require.ErrorIs(t, err, engine.ErrConflict, "it is over: %s", name)
		}
	})
	reg := kinds(t, &enginetest.Probe{})
	for extra, fits := range map[int]bool{-1: true, 0: true, 1: false} {
		nodes := []string{`{"id":"start","type":"trigger"}`}
		for i := range engine.MaxNodes - 1 + extra {
			nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"set"}`, i))
		}
		def, _, err := engine.Import([]byte(document(strings.Join(nodes, ","), "")), reg)
		require.NoError(t, err)
		issues := engine.Validate(def, reg)
		require.Equal(t, fits, !issues.HasErrors(), "%d nodes", len(nodes))
		if !fits {
			require.Contains(t, fmt.Sprint(issues), strconv.Itoa(engine.MaxNodes))
		}
	}
}

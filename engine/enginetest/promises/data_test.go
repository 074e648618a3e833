package promises_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
)

// TestPromise23NestingNeverBlocks promises that loops and parallel branches six deep
// finish when everything is limited to one at a time: no container holds a place while
// it waits for what is inside of it.
func TestPromise23NestingNeverBlocks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		n := &nest{nodes: []string{`{"id":"start","type":"trigger"}`}}
		from, handle := "start", ""
		for i := range 6 {
			from, handle = n.wrap([]string{"loop", "branch"}[i%2], from, handle)
		}
		n.add("approval", `{}`, n.add("probe", `{}`, "", ""), "")
		n.add("probe", `{}`, "", "")
		doc := strings.ReplaceAll(document(strings.Join(n.nodes, ","), strings.Join(n.edges, ",")), `"concurrency":2`, `"concurrency":1`)
		h := b.harness(t, true, engine.Config{MaxEffects: 1, MaxSegments: 1}, &enginetest.Probe{Quiet: true})
		var runs []engine.Run
		for range 3 {
			runs = append(runs, h.Start(doc, `{}`))
		}
		for _, run := range runs {
			run = h.Drive(run.ID, enginetest.Drive{})
			require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
		}
	})
}

// TestPromise24TheOrderOfItemsIsKept promises that a loop gives its results in the
// order of its items, in whatever order they come in.
func TestPromise24TheOrderOfItemsIsKept(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 10_000} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				probe := &enginetest.Probe{Quiet: true, Do: func(_ context.Context, in engine.Input) (engine.Output, error) {
					var c struct{ Value int }
					if err := json.Unmarshal(in.Config, &c); err != nil {
						return engine.Output{}, err
					}
					<-time.After(time.Duration(100-c.Value%100) * time.Millisecond) // the later the faster
					return engine.Output{Value: c.Value}, nil
				}}
				h := open(t, "memory", nil).harness(t, false, engine.Config{MaxEffects: 100}, probe)
				items := make([]int, n)
				for i := range items {
					items[i] = i
				}
				raw, err := json.Marshal(items)
				require.NoError(t, err)
				run := ends(t, h.Start(document(`{"id":"start","type":"trigger"},{"id":"each","type":"loop","config":{"collection":"{{workflow_input}}","concurrency":100}},
					{"id":"a","type":"probe","parent":"each","config":{"value":"{{loop_item}}"}},{"id":"end","type":"end","config":{"output":"{{step.each.results}}"}}`,
					`{"source":"start","target":"each"},{"source":"each","target":"end"}`), string(raw)).ID, h)
				require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
				require.Equal(t, string(raw), string(run.Output))
			})
		})
	}
}

// TestPromise25IterationsAreIsolated promises that iterations which run at the same
// time and write the same variable each read their own, and that after the loop the
// value of the last item counts.
func TestPromise25IterationsAreIsolated(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		h := b.harness(t, true, engine.Config{}, &enginetest.Probe{Quiet: true})
		b.seeds(t, 20, func(t *testing.T, _ uint64) {
			run := h.Drive(h.Start(document(`{"id":"start","type":"trigger"},{"id":"each","type":"loop","config":{"times":40,"concurrency":8}},
				{"id":"w","type":"set","parent":"each","config":{"variables":{"x":"{{loop_index}}"}}},{"id":"a","type":"probe","parent":"each","config":{"value":"{{vars.x}}"}},
				{"id":"w2","type":"set","parent":"each","config":{"variables":{"x":"{{vars.x * 10}}"}}},{"id":"c","type":"probe","parent":"each","config":{"value":"{{vars.x}}"}},
				{"id":"end","type":"end","config":{"output":"{{vars.x}}"}}`,
				`{"source":"start","target":"each"},{"source":"w","target":"a"},{"source":"a","target":"w2"},{"source":"w2","target":"c"},{"source":"each","target":"end"}`), `{}`).ID, enginetest.Drive{})
			require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
			for i := range 40 {
				require.JSONEq(t, fmt.Sprintf(`{"value":%d}`, i), string(h.Step(run.ID, fmt.Sprintf("each[%d]/a", i)).Output))
				require.JSONEq(t, fmt.Sprintf(`{"value":%d}`, i*10), string(h.Step(run.ID, fmt.Sprintf("each[%d]/c", i)).Output))
			}
			require.Equal(t, "390", string(run.Output))
		})
	})
}

// weighed counts what an engine writes.
type weighed struct {
	enginetest.Backend
	mu    sync.Mutex
	bytes int
}

func (w *weighed) Commit(ctx context.Context, t engine.Transition) (int64, error) {
	raw, err := json.Marshal(t)
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	w.bytes += len(raw)
	w.mu.Unlock()
	return w.Backend.Commit(ctx, t)
}

// TestPromise26LoopsStayLinear promises that what a loop writes grows as its items do.
func TestPromise26LoopsStayLinear(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]string{"pure": "set", "effect": "probe"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var x, y []float64
			for n := 250; n <= 4_000; n *= 2 {
				b := open(t, "memory", nil)
				w := &weighed{Backend: b.store}
				b.store = w
				h := b.harness(t, false, engine.Config{}, &enginetest.Probe{Quiet: true})
				run := ends(t, h.Start(document(`{"id":"start","type":"trigger"},{"id":"each","type":"loop","config":{"times":"{{workflow_input.n}}","concurrency":4}},
					{"id":"a","type":"`+kind+`","parent":"each"}`, `{"source":"start","target":"each"}`), fmt.Sprintf(`{"n":%d}`, n)).ID, h)
				require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
				x, y = append(x, math.Log(float64(n))), append(y, math.Log(float64(w.bytes)))
			}
			require.LessOrEqual(t, slope(x, y), 1.1, "bytes %v", y)
		})
	}
}

// slope is that of the line through points that fits best.
func slope(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	n := float64(len(x))
	for i := range x {
		sx, sy, sxx, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], sxy+x[i]*y[i]
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

var hostile = []string{
	"{{step.a}}", "{{", "}}", "{{workflow_input.n}} {{secret.key}}", "\"quoted\" \\ \\u0041", "a\x00b", "שלום עולם \u202e", "🌶\u200d🔥 唐辛子", "</script>", "'; DROP TABLE runs; --",
	"\n\r\t", "\ufeff", "%s %d", "${x} `x`", strings.Repeat("{{", 500),
}

// TestPromise27ValuesAreData promises that text which came out of a value is never
// evaluated: it is delivered as it is, however it looks.
func TestPromise27ValuesAreData(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		h := b.harness(t, true, engine.Config{}, &enginetest.Probe{Quiet: true})
		hash := h.Define(document(`{"id":"start","type":"trigger"},{"id":"a","type":"probe","config":{"value":"{{workflow_input.text}}"}},
			{"id":"s","type":"set","config":{"values":{"whole":"{{step.a.value}}","part":"<{{step.a.value}}>"},"variables":{"v":"{{step.a.value}}"}}},
			{"id":"end","type":"end","config":{"output":{"whole":"{{step.s.whole}}","part":"{{step.s.part}}","var":"{{vars.v}}"}}}`,
			`{"source":"start","target":"a"},{"source":"a","target":"s"},{"source":"s","target":"end"}`))
		b.seeds(t, 60, func(t *testing.T, seed uint64) {
			rnd := rand.New(rand.NewPCG(seed, 27))
			text := hostile[rnd.IntN(len(hostile))] + hostile[rnd.IntN(len(hostile))]
			input, err := json.Marshal(map[string]string{"text": text})
			require.NoError(t, err)
			run := h.Drive(h.Begin(hash, string(input), nil).ID, enginetest.Drive{})
			require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
			var out struct{ Whole, Part, Var string }
			require.NoError(t, json.Unmarshal(run.Output, &out))
			require.Equal(t, text, out.Whole)
			require.Equal(t, "<"+text+">", out.Part)
			require.Equal(t, text, out.Var)
		})
	})
}

// value draws a JSON value, numbers that don't fit a float64 among them.
func value(r *rand.Rand, depth int) string {
	switch n := r.IntN(10); {
	case n == 0:
		return []string{"null", "true", "false", "{}", "[]", `""`}[r.IntN(6)]
	case n < 5 || depth == 0:
		return []string{"0", "-0", "9007199254740993", "-9223372036854775808", "18446744073709551616", "0.1", "1e30", "123456789012345678901234567890.5", strconv.FormatInt(r.Int64(), 10)}[r.IntN(9)]
	case n < 7:
		return fmt.Sprintf("%q", fmt.Sprint("t", r.IntN(100)))
	case n < 9:
		return fmt.Sprintf(`{"b":%s,"a":%s}`, value(r, depth-1), value(r, depth-1))
	default:
		return fmt.Sprintf("[%s,%s]", value(r, depth-1), value(r, depth-1))
	}
}

// TestPromise28TypesSurvive promises that a JSON value goes through inputs, templates,
// outputs, the store and the body of a request unchanged, the order of its keys and
// the digits of its numbers included.
func TestPromise28TypesSurvive(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		h := b.harness(t, true, engine.Config{}, &enginetest.Probe{Quiet: true})
		url := enginetest.NewEffects().Serve(t).URL
		hash := h.Define(document(fmt.Sprintf(`{"id":"start","type":"trigger"},{"id":"a","type":"probe","config":{"value":"{{workflow_input.v}}"}},
			{"id":"call","type":"http_request","config":{"method":"POST","url":%q,"body_type":"json","json":"{{step.a.value}}"}},
			{"id":"end","type":"end","config":{"output":{"direct":"{{step.a.value}}","called":"{{step.call.body}}"}}}`, url),
			`{"source":"start","target":"a"},{"source":"a","target":"call"},{"source":"call","target":"end"}`))
		b.seeds(t, 60, func(t *testing.T, seed uint64) {
			v := value(rand.New(rand.NewPCG(seed, 28)), 5)
			run := h.Drive(h.Begin(hash, `{"v":`+v+`}`, nil).ID, enginetest.Drive{})
			require.Equal(t, engine.RunSucceeded, run.Status, "%v: %s", run.Error, v)
			require.Equal(t, fmt.Sprintf(`{"direct":%s,"called":%s}`, v, v), string(run.Output))
		})
	})
}

// TestPromise29DatabasesDoNotMatter promises that a run comes out the same on every
// database.
func TestPromise29DatabasesDoNotMatter(t *testing.T) {
	t.Parallel()
	if *databaseFlag != "all" {
		t.Skip("it compares databases")
	}
	bases := []base{open(t, "memory", nil), open(t, "sqlite", nil), open(t, "postgres", nil)}
	bases[0].seeds(t, 15, func(t *testing.T, seed uint64) {
		flow := enginetest.Generate(seed, enginetest.Shape{Calm: true, Steps: 100})
		if !flow.Certain() {
			return
		}
		var logs []map[string]string
		for _, b := range bases {
			h := b.harness(t, true, engine.Config{}, &enginetest.Probe{Quiet: true, Do: flow.Effect})
			run := h.Drive(h.Start(flow.Document, flow.Input).ID, enginetest.Drive{Decide: flow.Decide})
			h.Stop(h.Engine)
			logs = append(logs, log(h.Snapshot(run.ID)))
		}
		require.Equal(t, logs[0], logs[1])
		require.Equal(t, logs[0], logs[2])
	})
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/engine"
)

// benchEffect is an effect that does nothing outside: what a step costs beyond its
// own work. It calls told, if set, when it starts.
type benchEffect struct {
	told atomic.Pointer[func()]
}

// Spec implements [engine.Kind].
func (*benchEffect) Spec() engine.Spec {
	return engine.Spec{
		Type: "bench_effect", Title: "Effect", Group: "Bench", Icon: "gauge", Summary: "Does nothing, durably.", Class: engine.Effect,
		Config: json.RawMessage(`{"type":"object","properties":{"value":{}}}`),
	}
}

// Execute implements [engine.Kind].
func (k *benchEffect) Execute(_ context.Context, in engine.Input) (engine.Output, error) {
	if told := k.told.Load(); told != nil {
		(*told)()
	}
	var c struct {
		Value json.RawMessage `json:"value"`
	}
	if err := in.Decode(&c); err != nil {
		return engine.Output{}, err
	}
	return engine.Output{Value: map[string]any{"value": c.Value}}, nil
}

const (
	effectStep = `"type":"bench_effect","config":{"value":"{{%s}}"}`
	pureStep   = `"type":"set","config":{"values":{"value":"{{%s}}"}}`
	chainSteps = 40
)

// chainDoc is a chain of steps that each read the one before.
func chainDoc(step string) string {
	var nodes, edges strings.Builder
	nodes.WriteString(`{"id":"start","type":"trigger"}`)
	last, value := "start", "workflow_input.value"
	for i := range chainSteps {
		id := fmt.Sprintf("s%d", i)
		fmt.Fprintf(&nodes, `,{"id":%q,`+step+`}`, id, value)
		fmt.Fprintf(&edges, `{"source":%q,"target":%q},`, last, id)
		last, value = id, "step."+id+".value"
	}
	return `{"name":"chain","nodes":[` + nodes.String() + `,{"id":"end","type":"end"}],"edges":[` + edges.String() + `{"source":"` + last + `","target":"end"}]}`
}

const benchInput = `{"value":{"text":"a short text as steps have it","score":0.83}}`

// measureChains is one chain at a time.
func measureChains(ctx context.Context, b *bench) error {
	floor, err := floorOf(ctx, b, 1, chainSteps, 20)
	if err != nil {
		return err
	}
	for _, v := range []struct {
		what, step  string
		goal, floor float64
	}{{"chain of 40 effects", effectStep, 10, floor}, {"chain of 40 pure steps", pureStep, 1.5, 0}} {
		w, err := b.workflow(ctx, chainDoc(v.step))
		if err != nil {
			return err
		}
		times, err := timed(100*b.rounds, func() error { return b.run(ctx, w, benchInput) })
		if err != nil {
			return err
		}
		b.add("W1", v.what+", p50", quantile(times, 0.5), "ms", v.goal, v.floor)
	}
	return nil
}

// measureManyChains is 200 chains at once.
func measureManyChains(ctx context.Context, b *bench) error {
	const runs = 200
	took, err := floorOf(ctx, b, runs, chainSteps, 3)
	if err != nil {
		return err
	}
	floor := runs * chainSteps / (took / 1000)
	effects := 40_000.0
	if b.database.name == "PostgreSQL" {
		effects = 30_000
	}
	for _, v := range []struct {
		what, step  string
		goal, floor float64
	}{{"200 chains of 40 effects", effectStep, effects, floor}, {"200 chains of 40 pure steps", pureStep, 80_000, 0}} {
		w, err := b.workflow(ctx, chainDoc(v.step))
		if err != nil {
			return err
		}
		times, err := timed(7*b.rounds, func() error {
			g, ctx := errgroup.WithContext(ctx)
			for range runs {
				g.Go(func() error { return b.run(ctx, w, benchInput) })
			}
			return g.Wait()
		})
		if err != nil {
			return err
		}
		b.add("W2", v.what, runs*chainSteps/(quantile(times, 0.5)/1000), "steps/s", v.goal, v.floor)
	}
	return nil
}

// measureFanOut is a step, 100 after it at once, and a join.
func measureFanOut(ctx context.Context, b *bench) error {
	var nodes, edges strings.Builder
	for i := range 100 {
		fmt.Fprintf(&nodes, `{"id":"b%d",`+effectStep+`},`, i, "workflow_input.value")
		fmt.Fprintf(&edges, `{"source":"start","target":"b%d"},{"source":"b%d","target":"end"},`, i, i)
	}
	w, err := b.workflow(ctx, `{"name":"fan","nodes":[`+nodes.String()+`{"id":"start","type":"trigger"},{"id":"end","type":"end","config":{"output":"{{step.b99.value}}"}}],"edges":[`+
		strings.TrimSuffix(edges.String(), ",")+`]}`)
	if err != nil {
		return err
	}
	floor, err := floorOf(ctx, b, 100, 1, 20)
	if err != nil {
		return err
	}
	times, err := timed(100*b.rounds, func() error { return b.run(ctx, w, benchInput) })
	if err != nil {
		return err
	}
	b.add("W3", "fan-out to 100 effects and join, p50", quantile(times, 0.5), "ms", 4, floor)
	return nil
}

func loopDoc(step string) string {
	return `{"name":"loop","nodes":[{"id":"start","type":"trigger"},{"id":"each","type":"loop","config":{"collection":"{{workflow_input.items}}"}},
		{"id":"a","parent":"each",` + fmt.Sprintf(step, "loop_item") + `},{"id":"b","parent":"each",` + fmt.Sprintf(step, "step.a.value") + `},
		{"id":"end","type":"end","config":{"output":"{{step.each.count}}"}}],
		"edges":[{"source":"start","target":"each"},{"source":"a","target":"b"},{"source":"each","target":"end"}]}`
}

func itemsInput(n int) string {
	var in strings.Builder
	in.WriteString(`{"items":[`)
	for i := range n {
		if i > 0 {
			in.WriteByte(',')
		}
		fmt.Fprintf(&in, `{"id":%d,"name":"item"}`, i)
	}
	return in.String() + "]}"
}

// measureLoops is a loop of items one by one with two steps each.
func measureLoops(ctx context.Context, b *bench) error {
	const items = 1_000
	floor, err := floorOf(ctx, b, 1, 2*items, 1)
	if err != nil {
		return err
	}
	effect, err := b.workflow(ctx, loopDoc(effectStep))
	if err != nil {
		return err
	}
	times, err := timed(5*b.rounds, func() error { return b.run(ctx, effect, itemsInput(items)) })
	if err != nil {
		return err
	}
	b.add("W4", "loop of 1,000 items, two effects each, p50", quantile(times, 0.5), "ms", 420, floor)
	pure, err := b.workflow(ctx, loopDoc(pureStep))
	if err != nil {
		return err
	}
	if times, err = timed(10*b.rounds, func() error { return b.run(ctx, pure, itemsInput(items)) }); err != nil {
		return err
	}
	b.add("W4", "loop of 1,000 items, two pure steps each, p50", quantile(times, 0.5), "ms", 40, 0)
	var x, y []float64
	for n := items; n <= 32*items; n *= 2 {
		input := itemsInput(n)
		times, err := timed(3, func() error { return b.run(ctx, pure, input) })
		if err != nil {
			return err
		}
		x, y = append(x, math.Log(float64(n))), append(y, math.Log(quantile(times, 0)))
	}
	b.add("W4", "growth from 1,000 to 32,000 items (log-log slope)", slope(x, y), "", 1.1, 0)
	return nil
}

// slope of the least-squares line through points.
func slope(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	for i := range x {
		sx, sy, sxx, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], sxy+x[i]*y[i]
	}
	n := float64(len(x))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

// measureRequests is a flow of three nodes over HTTP, waited for.
func measureRequests(ctx context.Context, b *bench) error {
	token := "slt_bench_" + strings.Repeat("0", 32)
	owner, _, err := b.db.Bootstrap(ctx)
	if err != nil {
		return err
	}
	if err := b.db.EnsureAPIToken(ctx, owner, "bench", token); err != nil {
		return err
	}
	w, err := b.workflow(ctx, `{"name":"three","nodes":[{"id":"start","type":"trigger"},{"id":"a",`+fmt.Sprintf(effectStep, "workflow_input.value")+
		`},{"id":"end","type":"end"}],"edges":[{"source":"start","target":"a"},{"source":"a","target":"end"}]}`)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	call := func() error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.baseURL+"/api/v1/workflows/"+w+"/runs?wait=30s", strings.NewReader(`{"input":`+benchInput+`}`))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		var run struct{ Status string }
		if err := json.NewDecoder(res.Body).Decode(&run); err != nil {
			return err
		}
		if run.Status != string(engine.RunSucceeded) {
			return fmt.Errorf("answer %s: run is %q", res.Status, run.Status)
		}
		return nil
	}
	if _, err := timed(50, call); err != nil { // connections and caches
		return err
	}
	times, err := timed(1000*b.rounds, call)
	if err != nil {
		return err
	}
	b.add("W5", "request to answer, 1 client, p50", quantile(times, 0.5), "ms", 1.4, 0)
	b.add("W5", "request to answer, 1 client, p99", quantile(times, 0.99), "ms", 4, 0)
	const clients = 32
	var mu sync.Mutex
	times = nil
	began := time.Now()
	g, _ := errgroup.WithContext(ctx)
	for range clients {
		g.Go(func() error {
			own, err := timed(300*b.rounds, call)
			mu.Lock()
			defer mu.Unlock()
			times = append(times, own...)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	took := time.Since(began)
	slices.Sort(times)
	b.add("W5", "32 clients", float64(len(times))/took.Seconds(), "runs/s", 6_000, 0)
	b.add("W5", "32 clients, p99", quantile(times, 0.99), "ms", 12, 0)
	return nil
}

func withDatabase(serverURL, name string) (string, error) {
	u, err := url.Parse(serverURL)
	if err != nil {
		return "", fmt.Errorf("read the server's URL: %w", err)
	}
	u.Path = "/" + name
	return u.String(), nil
}

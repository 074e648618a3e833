package engine_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/engine"
)

func compiled(t testing.TB, reg *engine.Registry, doc string) *engine.Plan {
	t.Helper()
	def, _, err := engine.Import([]byte(doc), reg)
	require.NoError(t, err)
	plan, issues := engine.Compile(def, reg)
	require.NotNil(t, plan, "%v", issues)
	return plan
}

func ids(p *engine.Plan, nodes []int) string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = p.Nodes[n].Node.ID
	}
	return strings.Join(names, " ")
}

// everything is a workflow with each thing that a plan resolves.
const everything = `{"nodes":[
	{"id":"end","type":"end"},
	{"id":"pick","type":"switch","config":{"cases":[{"id":"hot","when":"vars.n > 1"},{"id":"cold","when":"vars.n < 0"}]}},
	{"id":"t","type":"trigger"},
	{"id":"first","type":"set","config":{"variables":{"n":1}}},
	{"id":"each","type":"loop","config":{"times":2}},
	{"id":"b","type":"set","parent":"each"},
	{"id":"a","type":"set","parent":"each","config":{"variables":{"m":2}}},
	{"id":"ok","type":"approval","on_error":"branch"},
	{"id":"both","type":"parallel"},
	{"id":"left","type":"branch","parent":"both"},
	{"id":"right","type":"branch","parent":"both"},
	{"id":"call","type":"llm_call","parent":"left","config":{"prompt":"x"}},
	{"id":"get","type":"http_request","parent":"right","config":{"url":"https://example.com"},"retry":{"max_attempts":7,"max_ms":5},"timeout_ms":10}
],"edges":[
	{"source":"t","target":"first"},
	{"source":"first","target":"each"},
	{"source":"first","target":"pick"},
	{"source":"pick","target":"both","handle":"hot"},
	{"source":"pick","target":"ok"},
	{"source":"each","target":"ok","condition":"{{step.each.count > 1}}"},
	{"source":"ok","target":"end"},
	{"source":"ok","target":"end"},
	{"source":"ok","target":"end","handle":"error"},
	{"source":"both","target":"end"},
	{"source":"a","target":"b"}
]}`

func TestPlan(t *testing.T) {
	t.Parallel()
	p := compiled(t, registryWith(t), everything)
	node := func(id string) *engine.PlanNode { return &p.Nodes[p.ByID[id]] }

	var edges []string
	for i, e := range p.Edges {
		require.Equal(t, i, e.Index)
		require.Contains(t, p.Nodes[e.Source].Out, i)
		require.Contains(t, p.Nodes[e.Target].In, i)
		edges = append(edges, fmt.Sprintf("%s.%s>%s", p.Nodes[e.Source].Node.ID, e.Handle, p.Nodes[e.Target].Node.ID))
	}
	require.Equal(t, []string{
		"t.>first", "first.>each", "first.>pick", "pick.hot>both", "pick.*>ok", "each.>ok", "ok.approve>end", "ok.error>end", "both.>end", "a.>b",
	}, edges)
	require.NotNil(t, p.Edges[5].Condition)

	require.Equal(t, "end pick t first each ok both", ids(p, p.Root.Nodes))
	require.Equal(t, "t first pick each ok both end", ids(p, p.Root.Topo))
	require.Equal(t, "t", ids(p, p.Root.Entries))
	require.Equal(t, "end", ids(p, p.Root.Sinks))
	require.Equal(t, -1, p.Root.Container)
	body := node("each").Body
	require.Equal(t, "b a|a b|a|b", strings.Join([]string{ids(p, body.Nodes), ids(p, body.Topo), ids(p, body.Entries), ids(p, body.Sinks)}, "|"))
	require.Equal(t, p.ByID["each"], body.Container)
	require.Equal(t, "left right", ids(p, node("both").Branches))
	require.Nil(t, node("both").Body)
	require.Equal(t, "call", ids(p, node("left").Body.Entries))
	require.Equal(t, p.ByID["left"], node("call").Container)

	require.True(t, p.Root.HasVarWriters)
	require.True(t, body.HasVarWriters)
	require.False(t, node("left").Body.HasVarWriters)
	require.Equal(t, "first each", ids(p, node("ok").VarWriters), "a container with a writer inside is one")
	require.Equal(t, "first", ids(p, node("pick").VarWriters))
	require.Equal(t, "a", ids(p, node("b").VarWriters))
	require.Empty(t, node("first").VarWriters)

	require.Equal(t, "approve", node("ok").Default)
	require.Equal(t, []string{"cases[0].when", "cases[1].when"}, node("pick").Config.Expressions())
	require.NotNil(t, node("pick").Exprs["cases[0].when"])
	require.NotNil(t, node("pick").Exprs["cases[1].when"])
	require.Len(t, node("pick").Exprs, 2)
}

func TestPlanDefaults(t *testing.T) {
	t.Parallel()
	p := compiled(t, registryWith(t), everything)
	for id, want := range map[string]struct {
		retry   engine.RetryPolicy
		timeout time.Duration
		onError engine.OnError
	}{
		"first": {engine.RetryPolicy{MaxAttempts: 1, BaseMS: 2_000, MaxMS: 30_000}, time.Minute, engine.OnErrorStop},
		"ok":    {engine.RetryPolicy{MaxAttempts: 1, BaseMS: 2_000, MaxMS: 30_000}, time.Minute, engine.OnErrorBranch},
		"call":  {engine.RetryPolicy{MaxAttempts: 3, BaseMS: 2_000, MaxMS: 30_000}, 2 * time.Minute, engine.OnErrorStop},
		"get":   {engine.RetryPolicy{MaxAttempts: 7, BaseMS: 2_000, MaxMS: 5}, 10 * time.Millisecond, engine.OnErrorStop},
	} {
		n := p.Nodes[p.ByID[id]]
		require.Equal(t, want.retry, n.Retry, id)
		require.Equal(t, want.timeout, n.Timeout, id)
		require.Equal(t, want.onError, n.OnError, id)
		require.Equal(t, engine.InterruptRetry, n.Interrupt, id)
	}
}

// TestModes checks that the hints of a config's schema reach every depth.
func TestModes(t *testing.T) {
	t.Parallel()
	spec := fakeSpec("modes")
	spec.Config = json.RawMessage(`{"type":"object","properties":{
		"lit":{"type":"string","x-mode":"literal"},
		"list":{"type":"array","items":{"type":"object","properties":{"when":{"type":"string","x-mode":"expression"},"say":{"type":"string"}}}},
		"map":{"type":"object","additionalProperties":{"type":"string","x-mode":"literal"}},
		"below":{"x-mode":"literal","type":"object"},
		"key":{"type":"string","x-secret":true}
	}}`)
	reg := registryWith(t, fakeKind{spec: spec})
	doc := func(config string) string {
		return `{"nodes":[{"id":"t","type":"trigger"},{"id":"m","type":"modes","config":` + config + `},{"id":"z","type":"end"}],"edges":[{"source":"t","target":"m"},{"source":"m","target":"z"}]}`
	}
	p := compiled(t, reg, doc(`{"lit":"{{1 +}}","list":[{"say":"x"},{"when":"1 < 2","say":"{{1}}"}],"map":{"0":"{{","a":"{{"},"below":{"deep":["{{"]},"key":"{{secret.api}}"}`))
	require.Equal(t, []string{"list[1].when"}, p.Nodes[1].Config.Expressions())
	for config, field := range map[string]string{
		`{"list":[{"say":"{{1 +}}"}]}`: "config.list[0].say", `{"list":[{},{"when":"1 +"}]}`: "config.list[1].when", `{"other":"{{secret.api}}"}`: "config.other",
	} {
		def, _, err := engine.Import([]byte(doc(config)), reg)
		require.NoError(t, err)
		plan, issues := engine.Compile(def, reg)
		require.Nil(t, plan)
		require.Equal(t, field, issues[0].Field)
	}
}

// wide is a workflow of n nodes: layers of four, each joined to all of the next.
func wide(n int) string {
	var nodes, edges []string
	for i := range n {
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"set","config":{"values":{"a":"{{step.n%d.a}} and {{workflow_input.x ?? 1}}"}}}`, i, max(0, i-4-i%4)))
		for j := range min(4, i) {
			if from := i - i%4 - 4 + j; from >= 0 {
				edges = append(edges, fmt.Sprintf(`{"source":"n%d","target":"n%d"}`, from, i))
			} else if j == 0 {
				edges = append(edges, fmt.Sprintf(`{"source":"t","target":"n%d"}`, i))
			}
		}
	}
	return `{"nodes":[{"id":"t","type":"trigger"},` + strings.Join(nodes, ",") + `,{"id":"z","type":"end"}],"edges":[{"source":"t","target":"n0"},` + strings.Join(edges, ",") + `,{"source":"n` + strconv.Itoa(n-1) + `","target":"z"}]}`
}

func TestCompileIsDeterministic(t *testing.T) {
	t.Parallel()
	reg := registryWith(t)
	shape := func(doc string) string {
		p := compiled(t, reg, doc)
		out := p.Hash
		var outSb177 strings.Builder
		for _, n := range p.Nodes {
			fmt.Fprint(&outSb177, n.Index, n.In, n.Out, n.Container, n.Branches, n.VarWriters, n.Default, ";")
			if n.Body != nil {
				fmt.Fprint(&outSb177, *n.Body)
			}
		}
		out += outSb177.String()
		return out + fmt.Sprint(*p.Root)
	}
	for _, doc := range []string{everything, wide(300)} {
		first := shape(doc)
		for range 5 {
			require.Equal(t, first, shape(doc))
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	reg := registryWith(b)
	def, _, err := engine.Import([]byte(wide(engine.MaxNodes-2)), reg)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		plan, issues := engine.Compile(def, reg)
		require.NotNil(b, plan, "%v", issues)
	}
}

func BenchmarkImport(b *testing.B) {
	reg := registryWith(b)
	data := []byte(wide(engine.MaxNodes - 2))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		_, _, err := engine.Import(data, reg)
		require.NoError(b, err)
	}
}

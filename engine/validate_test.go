package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine"
)

// TestValidationRules gives each rule a workflow that breaks it and nothing else.
// A want is "severity code node field", in order.
func TestValidationRules(t *testing.T) {
	t.Parallel()
	flow := func(nodes, edges string) string {
		return `{"nodes":[{"id":"t","type":"trigger"},` + nodes + `],"edges":[` + edges + `]}`
	}
	set := func(id string, more ...string) string {
		return fmt.Sprintf(`{"id":%q,"type":"set"%s}`, id, strings.Join(append([]string{""}, more...), ","))
	}
	edge := func(from, to string, more ...string) string {
		return fmt.Sprintf(`{"source":%q,"target":%q%s}`, from, to, strings.Join(append([]string{""}, more...), ","))
	}
	end := `{"id":"z","type":"end"}`
	// chain is t → nodes in order → z, with the given node documents.
	chain := func(ids string, nodes ...string) string {
		names := append(append([]string{"t"}, strings.Fields(ids)...), "z")
		var edges []string
		for i := 1; i < len(names); i++ {
			edges = append(edges, edge(names[i-1], names[i]))
		}
		return flow(strings.Join(append(nodes, end), ","), strings.Join(edges, ","))
	}
	values := func(template string) string {
		raw, err := json.Marshal(map[string]any{"values": map[string]any{"v": template}})
		require.NoError(t, err)
		return `"config":` + string(raw)
	}
	tests := []struct {
		name, doc string
		want      []string
	}{
		{name: "valid", doc: chain("a", set("a"))},
		{name: "no trigger", doc: `{"nodes":[` + end + `]}`, want: []string{"error no_trigger  nodes", "warning orphan z "}},
		{name: "two triggers", doc: flow(`{"id":"u","type":"trigger"},`+end, edge("t", "z")+","+edge("u", "z")), want: []string{"error several_triggers u type"}},
		{name: "trigger in a loop", doc: chain("l", `{"id":"l","type":"loop","config":{"times":1}},{"id":"u","type":"trigger","parent":"l"}`), want: []string{"error trigger_inside u parent", "error several_triggers u type"}},
		{name: "no end", doc: flow(set("a"), edge("t", "a")), want: []string{"warning no_end  nodes"}},
		{name: "end only in a loop", doc: flow(`{"id":"l","type":"loop","config":{"times":1}},{"id":"e","type":"end","parent":"l"}`, edge("t", "l")), want: []string{"warning no_end  nodes"}},
		{name: "self edge", doc: flow(set("a")+","+end, edge("t", "a")+","+edge("a", "a")+","+edge("a", "z")), want: []string{"error cycle a edges[1]"}},
		{name: "cycle", doc: flow(set("a")+","+set("b")+","+end, edge("t", "a")+","+edge("a", "b")+","+edge("b", "a")+","+edge("b", "z")), want: []string{"error cycle b edges"}},
		{name: "container in itself", doc: chain("", `{"id":"l","type":"loop","parent":"m","config":{"times":1}},{"id":"m","type":"loop","parent":"l","config":{"times":1}}`), want: []string{"error cycle l parent"}},
		{name: "container as its own parent", doc: chain("", `{"id":"l","type":"loop","parent":"l","config":{"times":1}}`), want: []string{"error cycle l parent"}},
		{name: "edge to the own child", doc: flow(`{"id":"l","type":"loop","config":{"times":1}},`+set("a", `"parent":"l"`)+","+end, edge("t", "l")+","+edge("l", "a")+","+edge("l", "z")), want: []string{"error edge_across_bodies l edges[1]"}},
		{name: "missing nodes", doc: flow(end, edge("t", "z")+","+edge("x", "z")+","+edge("t", "y")), want: []string{"error missing_node  edges[1].source", "error missing_node  edges[2].target"}},
		{name: "duplicate id", doc: flow(set("a")+","+set("a")+","+end, edge("t", "a")+","+edge("a", "z")), want: []string{"error duplicate_id a nodes[2].id"}},
		{name: "duplicate id by normal form", doc: flow(set("caf\u00e9")+","+set("cafe\u0301")+","+end, edge("t", "caf\u00e9")), want: []string{"error duplicate_id caf\u00e9 nodes[2].id"}},
		{name: "ids that differ in case", doc: chain("a A", set("a"), set("A"))},
		{name: "unknown type", doc: chain("a", `{"id":"a","type":"sett"}`), want: []string{"error unknown_type a type"}},
		{name: "unknown handle", doc: flow(set("a")+","+end, edge("t", "a")+","+edge("a", "z", `"handle":"up"`)), want: []string{"error unknown_handle a edges[1].handle"}},
		{name: "after the end", doc: flow(set("a")+","+end, edge("t", "z")+","+edge("z", "a")), want: []string{"error no_output z edges[1]"}},
		{name: "config breaks its schema", doc: chain("a", set("a", `"config":{"values":[]}`)), want: []string{"error bad_config a config.values"}},
		{name: "unknown config field", doc: chain("a", set("a", `"config":{"vals":{}}`)), want: []string{"error bad_config a config.vals"}},
		{name: "broken template", doc: chain("a", set("a", values("x {{1 +}}"))), want: []string{"error bad_template a config.values.v"}},
		{name: "broken condition", doc: flow(end, edge("t", "z", `"condition":"1 +"`)), want: []string{"error bad_expression t edges[0].condition"}},
		{name: "unknown step", doc: chain("alpha-1 b", set("alpha-1"), set("b", values("{{step.alpha-2}} {{step.alpha-2}}"))), want: []string{"error unknown_step b config.values.v"}},
		{name: "unknown step in a condition", doc: flow(end, edge("t", "z", `"condition":"step.x == 1"`)), want: []string{"error unknown_step t edges[0].condition"}},
		{name: "loop item outside", doc: chain("a", set("a", values("{{loop_item.x}}"))), want: []string{"error outside_loop a config.values.v"}},
		{name: "loop item inside", doc: chain("l", `{"id":"l","type":"loop","config":{"times":2}}`, set("a", `"parent":"l"`, values("{{loop_item}}{{loop_index}}{{loop.l.index}}")))},
		{name: "branch outside", doc: chain("b", `{"id":"b","type":"branch"}`), want: []string{"error branch_outside_parallel b parent"}},
		{name: "step in a parallel", doc: chain("p", `{"id":"p","type":"parallel"}`, set("a", `"parent":"p"`)), want: []string{"error not_a_branch a parent"}},
		{name: "missing parent", doc: chain("a", set("a", `"parent":"x"`)), want: []string{"error missing_parent a parent"}},
		{name: "parent is no container", doc: chain("a", set("a"), set("b", `"parent":"a"`)), want: []string{"error parent_is_no_container b parent"}},
		{name: "bad settings", doc: chain("a", set("a", `"on_error":"explode"`, `"on_interrupt":"x"`, `"timeout_ms":-1`, `"retry":{"max_attempts":0}`)), want: []string{
			"error bad_setting a on_error", "error bad_setting a on_interrupt", "error bad_setting a timeout_ms", "error bad_setting a retry.max_attempts",
		}},
		{name: "orphan", doc: chain("a", set("a"), set("b")), want: []string{"warning orphan b "}},
		{name: "unreachable", doc: flow(set("a")+","+set("b")+","+end, edge("t", "z")+","+edge("a", "b")), want: []string{"warning unreachable a ", "warning unreachable b "}},
		{name: "duplicate edge", doc: flow(end, edge("t", "z")+","+edge("t", "z")), want: []string{"warning duplicate_edge t edges[1]"}},
		{name: "not upstream", doc: chain("a b", set("a", values("{{step.b}}")), set("b")), want: []string{"warning not_upstream a config.values.v"}},
		{name: "inside of a loop", doc: chain("l b", `{"id":"l","type":"loop","config":{"times":2}}`, set("a", `"parent":"l"`), set("b", values("{{step.a}}"))), want: []string{"warning not_readable b config.values.v"}},
		{name: "may be skipped", doc: flow(`{"id":"c","type":"condition","config":{"expression":"true"}},`+set("a")+","+set("b", values("{{step.a.x}}"))+","+end,
			edge("t", "c")+","+edge("c", "a", `"handle":"then"`)+","+edge("c", "b", `"handle":"else"`)+","+edge("a", "b")+","+edge("b", "z")), want: []string{"warning may_be_skipped b config.values.v"}},
		{name: "skipping is handled", doc: flow(`{"id":"c","type":"condition","config":{"expression":"true"}},`+set("a")+","+set("b", values("{{step.a.x ?? step.a?.y ?? 1}}"))+","+end,
			edge("t", "c")+","+edge("c", "a", `"handle":"then"`)+","+edge("c", "b", `"handle":"else"`)+","+edge("a", "b")+","+edge("b", "z"))},
		{name: "a failed step skips what follows", doc: flow(set("a", `"on_error":"branch"`)+","+set("b")+","+set("c")+","+set("d", values("{{step.b}}"))+","+end,
			edge("t", "a")+","+edge("a", "b")+","+edge("a", "c", `"handle":"error"`)+","+edge("b", "d")+","+edge("c", "d")+","+edge("d", "z")), want: []string{"warning may_be_skipped d config.values.v"}},
		{name: "error handle leads nowhere", doc: chain("a", set("a", `"on_error":"branch"`)), want: []string{"warning unconnected_handle a on_error"}},
		{name: "case leads nowhere", doc: flow(`{"id":"s","type":"switch","config":{"cases":[{"id":"x","when":"true"},{"id":"y","when":"true"}]}},`+end,
			edge("t", "s")+","+edge("s", "z", `"handle":"x"`)+","+edge("s", "z", `"handle":"default"`)), want: []string{"warning unconnected_handle s "}},
		{name: "edge without handle", doc: chain("c", `{"id":"c","type":"condition","config":{"expression":"true"}}`), want: []string{"warning edge_without_handle c edges[1].handle"}},
		{name: "approval without reject", doc: chain("a", `{"id":"a","type":"approval"}`)},
		{name: "unknown variable", doc: chain("a", set("a", values("{{topic}} {{vars.other}}"))), want: []string{"warning unknown_variable a config.values.v", "warning unknown_variable a config.values.v"}},
		{name: "assigned variable", doc: chain("a b", set("a", `"config":{"variables":{"topic":1}}`), set("b", values("{{topic}}")))},
		{name: "input is no variable", doc: strings.Replace(chain("a", set("a", values("{{topic}}"))), "{", `{"input_schema":{"properties":{"topic":{}}},`, 1), want: []string{"warning unknown_variable a config.values.v"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reg := registryWith(t)
			def, _, err := engine.Import([]byte(tt.doc), reg)
			require.NoError(t, err, tt.doc)
			issues := engine.Validate(def, reg)
			var got []string
			for _, i := range issues {
				got = append(got, fmt.Sprintf("%s %s %s %s", i.Severity, i.Code, i.NodeID, i.Field))
				require.NotEmpty(t, i.Message)
			}
			require.Equal(t, tt.want, got, "%v", issues)
			require.Equal(t, issues, engine.Validate(def, reg), "the order is stable")
		})
	}
}

func TestIDRules(t *testing.T) {
	t.Parallel()
	reg := registryWith(t)
	for id, ok := range map[string]bool{
		"a-b": true, "a.b": true, "a b": true, "123": true, "1e3": true, "__proto__": true, "then": true, "注文": true, "đơn_hàng": true, "طلب": true,
		"👩‍👩‍👧": true, "１２": true, strings.Repeat("字", 100): true, "": false, strings.Repeat("字", 101): false, " a": false, "a ": false, "a/b": false,
		"a[0]": false, "{a": false, "a}": false, `a"b`: false, "a'b": false, `a\b`: false, "a`b": false, "a\nb": false, "a\x00b": false,
	} {
		def := &engine.Definition{Nodes: []engine.Node{{ID: id, Type: "trigger"}}}
		issues := engine.Validate(def, reg).Of(engine.SeverityError)
		require.Equal(t, ok, len(issues) == 0, "%q: %v", id, issues)
		if !ok {
			require.Equal(t, "bad_id", issues[0].Code)
		}
	}
}

// TestMessages checks that the messages which lead to the mistake name it.
func TestMessages(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string][2]string{
		`{"nodes":[{"id":"a","type":"trigger"},{"id":"b","type":"set"},{"id":"c","type":"set"}],"edges":[{"source":"a","target":"b"},{"source":"b","target":"c"},{"source":"c","target":"b"}]}`: {"c → b → c", "Use a loop container to repeat steps."},
		`{"nodes":[{"id":"a","type":"triger"}]}`: {`no node type "triger"`, `Did you mean "trigger"?`},
		`{"nodes":[{"id":"a","type":"trigger"},{"id":"legal-note","type":"set"},{"id":"b","type":"set","config":{"values":{"x":"{{step.legal-not.text}}"}}}],"edges":[{"source":"a","target":"legal-note"},{"source":"legal-note","target":"b"}]}`: {`no step "legal-not"`, "Did you mean step.legal-note?"},
		`{"nodes":[{"id":"a","type":"trigger"},{"id":"a","type":"set"}]}`: {"nodes[0] and nodes[1]", "Give one of them another id."},
	} {
		reg := registryWith(t)
		def, _, err := engine.Import([]byte(doc), reg)
		require.NoError(t, err)
		issue := engine.Validate(def, reg).Of(engine.SeverityError)[0]
		require.Contains(t, issue.Message, want[0])
		require.Equal(t, want[1], issue.Fix)
	}
}

func TestCasesAreValid(t *testing.T) {
	t.Parallel()
	reg := registryWith(t)
	for _, name := range []string{"content-pipeline", "nested-steps", "approval-in-loop", "diamond-skip"} {
		data, err := os.ReadFile("testdata/cases/" + name + ".json")
		require.NoError(t, err)
		def, issues, err := engine.Import(data, reg)
		require.NoError(t, err)
		require.Empty(t, issues, name)
		require.Empty(t, engine.Validate(def, reg), name)
	}
}

func TestConfigValidatorIssues(t *testing.T) {
	t.Parallel()
	picky := fakeKind{spec: fakeSpec("picky"), validate: func(json.RawMessage) []engine.Issue {
		return []engine.Issue{{Code: "odd", Field: "rows[1].left", Message: "odd"}, {Code: "hm", Severity: engine.SeverityWarning, Message: "hm"}}
	}}
	def := &engine.Definition{Nodes: []engine.Node{{ID: "t", Type: "trigger"}, {ID: "p", Type: "picky"}, {ID: "z", Type: "end"}}, Edges: []engine.Edge{{Source: "t", Target: "p"}, {Source: "p", Target: "z"}}}
	require.Equal(t, engine.Issues{
		{Code: "odd", Severity: engine.SeverityError, NodeID: "p", Field: "config.rows[1].left", Message: "odd"},
		{Code: "hm", Severity: engine.SeverityWarning, NodeID: "p", Field: "config", Message: "hm"},
	}, engine.Validate(def, registryWith(t, picky)))
}

// TestSchemaIssuesHaveAnOrder gives a config several mistakes at once, among them
// fields that the schema does not know and values of the wrong type.
func TestSchemaIssuesHaveAnOrder(t *testing.T) {
	t.Parallel()
	reg := registryWith(t)
	def, _, err := engine.Import([]byte(`{"nodes":[{"id":"a","type":"llm_call","config":{"z":1,"y":2,"x":3,"model":[],"temperature":{},"max_tokens":[]}}]}`), reg)
	require.NoError(t, err)
	first := engine.Validate(def, reg)
	for range 50 {
		require.Equal(t, first, engine.Validate(def, reg))
	}
}

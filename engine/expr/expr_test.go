package expr

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mapEnv resolves from JSON: {"workflow_input":…, "steps":{id:…}, "vars":{…}, …}.
type mapEnv map[string]any

func newEnv(tb testing.TB, doc string) mapEnv {
	tb.Helper()
	v, err := Decode([]byte(doc))
	require.NoError(tb, err)
	env := mapEnv{}
	o := v.(*Object)
	for _, k := range o.Keys() {
		env[k], _ = o.Get(k)
	}
	return env
}

func (m mapEnv) Resolve(ref Ref) (any, error) {
	in := func(group, name string) (any, error) {
		if o, ok := m[group].(*Object); ok {
			if v, ok := o.Get(name); ok {
				return v, nil
			}
		}
		return nil, &MissingError{Path: string(ref.Root) + "." + ref.Name, Reason: "not there"}
	}
	switch ref.Root {
	case RootStep, RootNode:
		return in("steps", ref.Name)
	case RootVar:
		return in("vars", ref.Name)
	case RootVars:
		if ref.Name == "" {
			return m["vars"], nil
		}
		return in("vars", ref.Name)
	default:
		if v, ok := m[string(ref.Root)]; ok {
			return v, nil
		}
		return nil, &MissingError{Path: string(ref.Root), Reason: "not here"}
	}
}

const world = `{
	"workflow_input":{"name":"Mai","n":9007199254740993,"big":123456789012345678901,"f":0.1,"neg":-0,"e":1e21,"null":null,
		"list":[1,2,3],"objects":[{"price":5,"id":"a"},{"price":1.5,"id":"b"}],"x-y":"dash","x y":"space","":"empty","a]b":"odd",
		"text":"Hi {{step.a}} \"quoted\"\n","yes":true},
	"steps":{"a":{"text":"out","z":1,"b":[10,20]},"legal-note":{"text":"risk"},"1":{"v":1},"注文":{"đơn_hàng":"ok"},"a.b":{"v":2},"a b":{"v":3},"1e3":{"v":4},"then":{"v":5}},
	"vars":{"topic":"AI","x":3,"طلب":"v","é":1},
	"loop_item":{"id":7,"amount":null},"loop_index":2}`

var knownSteps = map[string]bool{"a": true, "legal-note": true, "1": true, "注文": true, "a.b": true, "a b": true, "1e3": true, "then": true}

func render(tb testing.TB, template string, mode Mode) (any, error) {
	tb.Helper()
	raw, err := Encode(map[string]any{"v": template})
	require.NoError(tb, err)
	doc, errs := CompileDocument(raw, Options{Steps: knownSteps, ModeAt: func(string) Mode { return mode }})
	if len(errs) > 0 {
		return nil, errs[0]
	}
	out, err := doc.Render(tb.Context(), newEnv(tb, world))
	if err != nil {
		return nil, err
	}
	v, err := Decode(out)
	require.NoError(tb, err)
	got, _ := v.(*Object).Get("v")
	return got, nil
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, template, want string }{
		{"text", "Hello {{workflow_input.name}}!", `"Hello Mai!"`},
		{"one placeholder keeps its type", "{{workflow_input.n}}", `9007199254740993`},
		{"big integers stay exact", "{{workflow_input.big}}", `123456789012345678901`},
		{"number literals are kept", "{{ workflow_input.e }}", `1e21`},
		{"minus zero", "{{workflow_input.neg}}", `-0`},
		{"numbers inside of text", "id-{{workflow_input.n}}-{{workflow_input.e}}", `"id-9007199254740993-1e21"`},
		{"null renders as JSON in text", "a{{workflow_input.null}}", `"anull"`},
		{"objects keep key order", "{{step.a}}", `{"text":"out","z":1,"b":[10,20]}`},
		{"objects inside of text", "x {{step.a}}", `"x {\"text\":\"out\",\"z\":1,\"b\":[10,20]}"`},
		{"values are never evaluated again", "{{workflow_input.text}}", `"Hi {{step.a}} \"quoted\"\n"`},
		{"dash in a step id", "{{step.legal-note.text}}", `"risk"`},
		{"dash in a step id, in an expression", "{{step.legal-note.text + '!'}}", `"risk!"`},
		{"digits as id", "{{step.1.v}}", `1`},
		{"digits as id, in an expression", "{{step.1.v + 1}}", `2`},
		{"exponent as id", "{{step.1e3.v}}", `4`},
		{"keyword as id", "{{step.then.v}}", `5`},
		{"CJK and combining marks", "{{step.注文.đơn_hàng}}", `"ok"`},
		{"CJK in an expression", "{{step.注文.đơn_hàng == 'ok'}}", `true`},
		{"dots in an id", "{{step.a.b.v}}", `2`},
		{"spaces in an id", "{{step.a b.v}}", `3`},
		{"brackets", `{{step["a.b"]["v"]}}`, `2`},
		{"odd keys", `{{workflow_input["a]b"]}}{{workflow_input["x y"]}}{{workflow_input[""]}}{{workflow_input.x-y}}`, `"oddspaceemptydash"`},
		{"index", "{{workflow_input.list.0}}", `1`},
		{"index in brackets", "{{workflow_input.list[1]}}", `2`},
		{"index from the end", "{{workflow_input.list[-1]}}", `3`},
		{"node alias", "{{_node_1.v}}", `1`},
		{"variable", "{{topic}} and {{vars.topic}}", `"AI and AI"`},
		{"Arabic variable", "{{طلب}}", `"v"`},
		{"default for a missing step", "{{step.none.text ?? step.a.text}}", `"out"`},
		{"default for a missing key", "{{workflow_input.none.deep ?? 'd'}}", `"d"`},
		{"default for null", "{{loop_item.amount ?? 0}}", `0`},
		{"default keeps literals", "{{workflow_input.none ?? workflow_input.big}}", `123456789012345678901`},
		{"optional chain", "{{workflow_input?.none?.deep}}", `null`},
		{"ternary", "{{workflow_input.yes ? 'on' : 'off'}}", `"on"`},
		{"arithmetic on integers is exact", "{{workflow_input.n + 0}}", `9007199254740993`},
		{"arithmetic", "{{x * 2 - 1}}", `5`},
		{"fractions", "{{workflow_input.f + 0.2}}", `0.30000000000000004`},
		{"filter and map", "{{map(filter(workflow_input.objects, .price > 3), .id)}}", `["a"]`},
		{"filter keeps objects whole", "{{filter(workflow_input.objects, .price < 3)}}", `[{"price":1.5,"id":"b"}]`},
		{"sum over fractions", "{{sum(map(workflow_input.objects, .price))}}", `6.5`},
		{"keys are in order", "{{keys(step.a)}}", `["text","z","b"]`},
		{"len of an object", "{{len(step.a)}}", `3`},
		{"len counts characters", "{{len('日本')}}", `2`},
		{"in a list", "{{2 in workflow_input.list}}", `true`},
		{"not in", "{{9 not in workflow_input.list}}", `true`},
		{"key in object", "{{'z' in step.a}}", `true`},
		{"boolean and text never equal", "{{workflow_input.yes == 'true'}}", `false`},
		{"number equality across forms", "{{workflow_input.e == 1e21}}", `true`},
		{"pipe", "{{workflow_input.name | upper()}}", `"MAI"`},
		{"object literal", `{{ {"a": {"b": x}} }}`, `{"a":{"b":3}}`},
		{"literal braces", `{{"{{"}} x }}`, `"{{ x }}"`},
		{"let", "{{let y = x + 1; y * y}}", `16`},
		{"minus without spaces", "{{x-1}}", `2`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := render(t, tt.template, ModeTemplate)
			require.NoError(t, err)
			raw, err := Encode(got)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(raw))
		})
	}
}

func TestErrorsNameThePath(t *testing.T) {
	t.Parallel()
	tests := []struct{ template, want string }{
		{"{{step.none.x}}", "step.none"},
		{"{{step.a.none.deep}}", `step.a.none.deep`},
		{"{{workflow_input.null.x}}", "null has no key"},
		{"{{workflow_input.name.x}}", "text has no key"},
		{"{{workflow_input.list[9]}}", "a list of 3 has no item 9"},
		{"{{workflow_input.none + 1}}", "workflow_input.none"},
		{"{{filter(workflow_input.objects, .none > 1)}}", "none"},
		{"{{unknown}}", "has no value"},
		{"{{workflow_input.name > 3}}", "text and a number can't be compared"},
		{"{{'a' - 1}}", "can't be used between text and a number"},
		{"{{1 / 0}}", "division by zero"},
		{"{{secret.key}}", "secrets can't be used here"},
		{"{{ 1 + }}", ""},
		{"{{ open", "never closed"},
		{"{{}}", "empty"},
		{"{{nosuch(1)}}", "nosuch"},
	}
	for _, tt := range tests {
		t.Run(tt.template, func(t *testing.T) {
			t.Parallel()
			_, err := render(t, tt.template, ModeTemplate)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestJSONModeEscapesForThePlace(t *testing.T) {
	t.Parallel()
	env := newEnv(t, `{"steps":{"a":{"t":"He said \"no\"\n\t\\ | 日本 🙂","o":{"k":[1,null]}}}}`)
	doc, errs := CompileDocument(json.RawMessage(`{"body":"{\"t\":\"{{step.a.t}}\",\"o\":{{step.a.o}},\"s\":{{step.a.t}}}"}`),
		Options{ModeAt: func(string) Mode { return ModeJSON }})
	require.Empty(t, errs)
	out, err := doc.Render(t.Context(), env)
	require.NoError(t, err)
	var got struct{ Body string }
	require.NoError(t, json.Unmarshal(out, &got))
	require.JSONEq(t, `{"t":"He said \"no\"\n\t\\ | 日本 🙂","o":{"k":[1,null]},"s":"He said \"no\"\n\t\\ | 日本 🙂"}`, got.Body)
}

func TestConditions(t *testing.T) {
	t.Parallel()
	env := newEnv(t, world)
	tests := []struct {
		source string
		want   bool
		err    string
	}{
		{"(loop_item.amount ?? 0) > 3", false, ""},
		{"workflow_input.yes", true, ""},
		{"workflow_input.name == 'Mai' and loop_index >= 2", true, ""},
		{"workflow_input.name", false, "gives text"},
		{"workflow_input.none == 1", false, "workflow_input.none"},
		{"step.legal-note.text contains 'ri'", true, ""},
		{"workflow_input.name startsWith 'M'", true, ""},
		{"all(workflow_input.list, # > 0)", true, ""},
		{"workflow_input.objects == [{'id': 'a', 'price': 5}, {'price': 1.5, 'id': 'b'}]", true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.source, func(t *testing.T) {
			t.Parallel()
			e, err := CompileExpression(tt.source, Options{Steps: knownSteps})
			require.NoError(t, err)
			got, err := e.EvalBool(t.Context(), env)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestReferencesTellWhatIsOptional(t *testing.T) {
	t.Parallel()
	doc, errs := CompileDocument(json.RawMessage(`{"a":"{{step.x.y ?? step.z}} {{step.w?.q}} {{topic}}","b":["{{_node_2}}"]}`), Options{})
	require.Empty(t, errs)
	var got []string
	for _, r := range doc.References() {
		s := r.Field + " " + string(r.Root) + ":" + r.Name
		if r.Optional {
			s += "?"
		}
		got = append(got, s)
	}
	require.Equal(t, []string{"a step:x?", "a step:z", "a step:w?", "a :topic", "b[0] _node_:2"}, got)
}

func TestPathToAlwaysResolves(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "legal-note", "1", "注文", "a.b", "a b", "1e3"} {
		v, err := render(t, "{{"+PathTo(RootStep, id)+"}}", ModeTemplate)
		require.NoError(t, err, id)
		require.IsType(t, &Object{}, v)
	}
	for _, key := range []string{"x-y", "x y", "", "a]b"} {
		_, err := render(t, "{{"+PathTo(RootInput, "", key)+"}}", ModeTemplate)
		require.NoError(t, err, key)
	}
}

func TestEvaluationIsBounded(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		"len(map(1..1000000, map(1..1000000, #)))",
		"count(1..900000, count(1..900000, true) > 1) > 1",
		strings.Repeat("a", maxSource+1),
	} {
		e, err := CompileExpression(src, Options{})
		if err != nil {
			continue
		}
		_, err = e.Eval(context.Background(), newEnv(t, world))
		require.Error(t, err)
	}
}

func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"a {{b}} c", "{{step.a.b ?? 1}}", "{{ {\"a\":1} }}", `{{"{{"}}`, "{{", "{{step.注文}}", "{{a?.b[0]['c']}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, _ = render(t, s, ModeTemplate)
		_, _ = render(t, s, ModeJSON)
	})
}

func FuzzExpression(f *testing.F) {
	for _, s := range []string{"1 + 2", "filter(a, .b > 1)", "let x = 1; x", "a?.b ?? c", "step.a-b", "'x' in y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := CompileExpression(s, Options{Steps: knownSteps})
		if err != nil {
			return
		}
		_, _ = e.Eval(t.Context(), newEnv(t, world))
	})
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0,1e400,"\ud83d\ude00\u0000"]}`, `"\ud800"`, "[[[[", `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Decode(b)
		if err != nil {
			return
		}
		raw, err := Encode(v)
		require.NoError(t, err)
		require.True(t, json.Valid(raw), "%s", raw)
		again, err := Decode(raw)
		require.NoError(t, err)
		raw2, err := Encode(again)
		require.NoError(t, err)
		require.Equal(t, string(raw), string(raw2))
	})
}

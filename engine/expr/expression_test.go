package expr

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// evaluate gives an expression's result as JSON.
func evaluate(tb testing.TB, source string) (string, error) {
	tb.Helper()
	e, err := CompileExpression(source, Options{Steps: knownSteps})
	if err != nil {
		return "", err
	}
	v, err := e.Eval(tb.Context(), newEnv(tb, world))
	if err != nil {
		return "", err
	}
	raw, err := Encode(v)
	require.NoError(tb, err)
	return string(raw), nil
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	tests := []struct{ source, want string }{
		// What is missing.
		{`(workflow_input.none + 1) ?? 0`, `0`},
		{`upper(step.none.text) ?? 'none'`, `"none"`},
		{`(step.none.ok and true) ?? false`, `false`},
		{`(step.none.ok ? 1 : 2) ?? 3`, `3`},
		{`(workflow_input.yes ? step.none.x : 2) ?? 3`, `3`},
		{`len(filter(step.none.items, .ok)) ?? 0`, `0`},
		{`[step.none.x] ?? []`, `[]`},
		{`(let y = step.none.x; y + 1) ?? 5`, `5`},
		{`step.a[step.none.key] ?? 'd'`, `"d"`},
		{`(step.none.x ?? step.none.y) ?? 'z'`, `"z"`},
		{`step.none.x ?? step.a`, `{"text":"out","z":1,"b":[10,20]}`},
		{`step.a ?? 1`, `{"text":"out","z":1,"b":[10,20]}`},
		{`workflow_input.yes ? step.a : 1`, `{"text":"out","z":1,"b":[10,20]}`},
		{`step.none.x ?? step.none.y ?? 'z'`, `"z"`},
		{`map(workflow_input.objects, .none ?? 7)`, `[7,7]`},
		{`workflow_input.none?.deep`, `null`},
		{`step.none?.a.b.c`, `null`},
		{`workflow_input?.name`, `"Mai"`},
		{`workflow_input.null?.x`, `null`},
		{`step.a?.["b"]?.[7]`, `null`},
		{`default(step.none.x, 1)`, `1`},
		{`default('', 'empty')`, `"empty"`},
		{`get(step.a, 'none')`, `null`},
		// Exact numbers.
		{`workflow_input.n + 0 == 9007199254740993`, `true`},
		{`workflow_input.n == 9007199254740992.0`, `false`},
		{`workflow_input.big == 123456789012345678901`, `true`},
		{`workflow_input.big == 123456789012345678902`, `false`},
		{`workflow_input.big < 123456789012345678902`, `true`},
		{`123456789012345678901`, `123456789012345678901`},
		{`fromJSON('1e400') == fromJSON('10e399')`, `true`},
		{`fromJSON('-0') == 0`, `true`},
		{`fromJSON('1.50')`, `1.50`},
		{`[fromJSON('1.50')][0]`, `1.50`},
		{`filter([workflow_input.big], # > 1)`, `[123456789012345678901]`},
		{`max([workflow_input.big, 2])`, `123456789012345678901`},
		{`sort([3, workflow_input.f, 2])`, `[0.1,2,3]`},
		{`4611686018427387904 * 2`, `9223372036854775808`},
		{`workflow_input.big + 1`, `123456789012345678902`},
		{`-9223372036854775808 - 1`, `-9223372036854775809`},
		{`9223372036854775808 - 1`, `9223372036854775807`},
		{`-0.5 < 0 and 0 < 0.5 and -1 < 0.5 and 0.5 > -0.25`, `true`},
		{`7 / 2`, `3.5`},
		{`6 / 2`, `3`},
		{`7 % 4`, `3`},
		{`2 ** 10`, `1024`},
		{`2 ^ 3`, `8`},
		{`-x`, `-3`},
		{`1.5e3`, `1500`},
		{`x <= 3 and 3 >= x`, `true`},
		{`1 < x < 5`, `true`},
		{`1 < (x ?? 0) < 2`, `false`},
		{`round(2.5)`, `3`},
		{`round(2.345, 2)`, `2.35`},
		{`floor(-1.5)`, `-2`},
		{`ceil(1.2)`, `2`},
		{`abs(-5)`, `5`},
		{`abs(fromJSON('1.50'))`, `1.50`},
		{`int('42')`, `42`},
		{`int(3.9)`, `3`},
		{`float('1.50')`, `1.50`},
		{`mean([1, 2])`, `1.5`},
		{`median([5, 1, 3])`, `3`},
		{`min(3, 1, 2)`, `1`},
		{`sum([])`, `0`},
		// Types never mix.
		{`false == 'false'`, `false`},
		{`0 == false`, `false`},
		{`'1' == 1`, `false`},
		{`null == false`, `false`},
		{`null == workflow_input.null`, `true`},
		{`[1, {'a': 2}] == [1.0, {'a': 2.0}]`, `true`},
		{`{'a': 1, 'b': 2} == {'b': 2, 'a': 1}`, `true`},
		// Texts.
		{`'日本語'[0:2]`, `"日本"`},
		{`'日本語'[-1:]`, `"語"`},
		{`'abc'[5:9]`, `""`},
		{`indexOf('日本', '本')`, `1`},
		{`"\ud83d\ude00" == '😀'`, `true`},
		{`upper('é') + lower('Ä') + trim('  x ') + trim('--x-', '-')`, `"Éäxx"`},
		{`split('a,b,c', ',')`, `["a","b","c"]`},
		{`join([1, 'b', null], '-')`, `"1-b-null"`},
		{`replace('aXbX', 'X', '')`, `"ab"`},
		{`repeat('ab', 2)`, `"abab"`},
		{`string(1.50) + string({'a': 1})`, `"1.5{\"a\":1}"`},
		{`'abc' matches '^a.c$'`, `true`},
		{`'abc' not matches 'x'`, `true`},
		{`hasPrefix('abc', 'ab') and 'abc' endsWith 'bc'`, `true`},
		{`fromBase64(toBase64('日'))`, `"日"`},
		{`"it's" + 'a "b"'`, `"it'sa \"b\""`},
		{`'{{ }}' + " // no comment"`, `"{{ }} // no comment"`},
		{`1 /* two */ + 1 // three`, `2`},
		{"`raw \\n`", `"raw \\n"`},
		// Lists and objects.
		{`{'b': 1, 'a': 2, đơn: 3, step: 4}`, `{"b":1,"a":2,"đơn":3,"step":4}`},
		{`{('k' + 'x'): 1}`, `{"kx":1}`},
		{`groupBy(workflow_input.objects, .id)`, `{"a":[{"price":5,"id":"a"}],"b":[{"price":1.5,"id":"b"}]}`},
		{`map(sortBy(workflow_input.objects, .price), .id)`, `["b","a"]`},
		{`map(sortBy(workflow_input.objects, .price, 'desc'), .id)`, `["a","b"]`},
		{`sum(workflow_input.objects, .price)`, `6.5`},
		{`count(workflow_input.list, # > 1)`, `2`},
		{`reduce(1..4, #acc * #, 1)`, `24`},
		{`reduce([1, 2], #acc + #)`, `3`},
		{`find(workflow_input.objects, .id == 'b').price`, `1.5`},
		{`find([1], # > 5)`, `null`},
		{`findIndex([1, 7], # > 5)`, `1`},
		{`one([1, 2], # == 1)`, `true`},
		{`none([1], # > 1) and any([1], # == 1) and all([], #)`, `true`},
		{`map(['a'], {# + string(#index)})`, `["a0"]`},
		{`map([[1]], map(#, # + 1))`, `[[2]]`},
		{`uniq([1, 1.0, 'a', 'a', null, null])`, `[1,"a",null]`},
		{`concat([1], [2, 3])`, `[1,2,3]`},
		{`flatten([1, [2, [3]]])`, `[1,2,3]`},
		{`reverse([1, 2])`, `[2,1]`},
		{`first([]) ?? last([4])`, `4`},
		{`take([1, 2, 3], 2)`, `[1,2]`},
		{`[1, 2, 3][-1]`, `3`},
		{`[1, 2, 3][1:]`, `[2,3]`},
		{`slice('abc', 1, 2)`, `"b"`},
		{`toPairs({'z': 1})`, `[["z",1]]`},
		{`fromPairs([['a', 1]])`, `{"a":1}`},
		{`merge({'a': 1, 'b': 1}, {'a': 2})`, `{"a":2,"b":1}`},
		{`values({'b': 1, 'a': 2})`, `[1,2]`},
		{`'a' in {'a': 1} and 1.0 in [1] and 'b' in 'abc' and {'a': 1} contains 'a'`, `true`},
		{`type(1) + type('') + type([]) + type({}) + type(null) + type(true)`, `"numberstringarrayobjectnullboolean"`},
		{`json([1, 'a'])`, `"[1,\"a\"]"`},
		{`fromJSON('{"b":1,"a":[1.50]}').a[0]`, `1.50`},
		{`len('👩‍👩‍👧')`, `5`},
		{`workflow_input.list | filter(# > 1) | len()`, `2`},
		// Names.
		{`let count = 2; let é = count; é + count`, `4`},
		{`let x = 1; let x = x + 1; x`, `2`},
		{`{'in': 1}.in + {'not': 2}.not`, `3`},
		{`طلب + '!'`, `"v!"`},
		{`step.legal-note.text + step["legal-note"].text`, `"riskrisk"`},
		{`step.legal-note?.text`, `"risk"`},
		{`_node_legal-note.text + '!'`, `"risk!"`},
		{`step.a b.v + step.a.b.v`, `5`},
		{`map([{'đơn_hàng': 1}], .đơn_hàng)`, `[1]`},
		{`step["注文"].đơn_hàng + ''`, `"ok"`},
		{`_node["a b"].v + 0`, `3`},
		{`workflow_input.list.0 + 1`, `2`},
		{`if x > 2 { 'big' } else { 'small' }`, `"big"`},
		// Instants.
		{`date('2027-01-31')`, `"2027-01-31T00:00:00Z"`},
		{`formatDate('2027-01-31T20:00:00Z', 'DD.MM.YYYY HH:mm', 'Asia/Tokyo')`, `"01.02.2027 05:00"`},
		{`addDuration('2027-01-31T00:00:00Z', '36h')`, `"2027-02-01T12:00:00Z"`},
		{`secondsBetween('2027-01-01', '2027-01-02')`, `86400`},
		{`now() == now()`, `true`},
	}
	for _, tt := range tests {
		t.Run(tt.source, func(t *testing.T) {
			t.Parallel()
			got, err := evaluate(t, tt.source)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestEvaluationErrorsSpeakToAuthors(t *testing.T) {
	t.Parallel()
	tests := []struct{ source, want string }{
		{`workflow_input.name and true`, "true or false is needed beside and, not text"},
		{`workflow_input.name ? 1 : 2`, "true or false is needed before ?, not text"},
		{`not workflow_input.name`, "true or false is needed after not, not text"},
		{`filter(workflow_input.list, # + 1)`, "true or false is needed in filter, not a number"},
		{`filter(workflow_input.name, true)`, "filter needs a list, not text"},
		{`'a' + 1`, "+ can't be used between text and a number; string(value) makes a text"},
		{`true < false`, "a boolean and a boolean can't be compared with <"},
		{`sort([1, 'a'])`, "can't be compared"},
		{`upper(1)`, "upper needs a text, not a number"},
		{`keys([1])`, "keys needs an object, not a list"},
		{`fromJSON('1e400') + 1`, "out of range"},
		{`1 % 0`, "division by zero"},
		{`'a' matches '('`, "is no pattern"},
		{`step.a["none"].deep + 1`, "step.a.none.deep"},
		{`workflow_input.list[loop_index + 7]`, "workflow_input.list.9"},
		{`map(workflow_input.objects, .none)`, `there is no key "none"`},
		{`null contains 'a'`, "null contains nothing"},
		{`float('NaN')`, "is no number"},
		{`int(1e30)`, "too large"},
		{`formatDate('x', 'YYYY')`, "is no instant"},
		{`step.a?.none.deep`, "null has no key"},
	}
	for _, tt := range tests {
		t.Run(tt.source, func(t *testing.T) {
			t.Parallel()
			_, err := evaluate(t, tt.source)
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "interface")
		})
	}
}

func TestSyntaxErrorsSayWhatAndWhere(t *testing.T) {
	t.Parallel()
	tests := []struct {
		source, want string
		offset       int
	}{
		{`1 + `, "ends too early", 3},
		{`(1`, "ends too early", 2},
		{`đơn + + )`, `")" is not expected here`, 10},
		{`step.注文.đơn_hàng )`, `")" is not expected here`, 24},
		{`'a`, "a quote is never closed", 0},
		{`a ?? 1 > 2`, "put parentheses around the part with ??", 7},
		{`nope(1)`, "there is no function nope", 0},
		{`1 + đ(1)`, "there is no function", 4},
		{`upper()`, "upper needs 1 value, not 0", 0},
		{`replace('a')`, "replace needs 3 values, not 1", 0},
		{`step + 1`, "step needs a name after it", 0},
		{`secret[x]`, "secret needs a name after it", 0},
		{`secret.api-key + ''`, "secrets can't be used here", 0},
		{`{{x}} > 3`, "written without {{ }}", 0},
		{`.price > 3`, "only inside of a function", 0},
		{`a.upper()`, "write name(value)", 2},
		{`a @ b`, `"@" has no meaning here`, 2},
		{``, "empty", 0},
		{`b'x'`, "begins with a quote", 0},
		{strings.Repeat("a", maxSource+1), "at most 65536", 0},
		{strings.Repeat("a+", 30_000) + "a", "too long", -1},
	}
	for _, tt := range tests {
		t.Run(excerpt(tt.source), func(t *testing.T) {
			t.Parallel()
			_, err := CompileExpression(tt.source, Options{Steps: knownSteps})
			var se *SyntaxError
			require.ErrorAs(t, err, &se)
			require.Contains(t, se.Message, tt.want)
			if tt.offset >= 0 {
				require.Equal(t, tt.offset, se.Offset)
			}
		})
	}
}

func TestReferencesStandWhereTheyAreWritten(t *testing.T) {
	t.Parallel()
	raw, err := Encode("日 {{  step.a.b }} {{ step.legal-note.text + loop.for-each.item.x ?? vars.y[topic] }} {{ filter(xs, .price > 3 and # != limit) }}")
	require.NoError(t, err)
	steps := map[string]bool{"legal-note": true, "for-each": true}
	doc, errs := CompileDocument(raw, Options{Steps: steps})
	require.Empty(t, errs)
	src, err := Decode(raw)
	require.NoError(t, err)
	var got []string
	for _, r := range doc.References() {
		require.True(t, strings.HasPrefix(src.(string)[r.Offset:], strings.SplitN(r.Path, "[", 2)[0]), "%s at %d", r.Path, r.Offset)
		flags := ""
		if r.Optional {
			flags += "?"
		}
		if r.Fallback {
			flags += "|"
		}
		got = append(got, r.Path+flags)
	}
	require.Equal(t, []string{"step.a.b", "step.legal-note.text", "loop.for-each.item.x?", "vars.y[…]|", "topic|", "xs", "limit"}, got)
}

func TestBoundsOfEvaluation(t *testing.T) {
	t.Parallel()
	tests := []struct{ source, want string }{
		{`let xs = 1..1000000; all(xs, all(xs, # > 0))`, "takes longer than"},
		{`repeat('x', 9000000)`, "larger than 8 MiB"},
		{`len(map(1..900, repeat('x', 8000000)))`, "makes more than 64 MiB"},
		{`reduce(1..60, [#acc, #acc], 0)`, "larger than 8 MiB"},
		{`let a = reduce(1..60, [#acc, #acc], 0); a == reduce(1..60, [#acc, #acc], 0)`, "takes longer than"},
		{`json(reduce(1..60, [#acc, #acc], 0))`, "larger than 8 MiB"},
		{`flatten(reduce(1..60, [#acc, #acc], 0))`, "makes more than"},
		{`1..2000000`, "a range has at most"},
		{`len(replace(repeat('a', 1000000), 'a', repeat('b', 1000)))`, "larger than 8 MiB"},
		{`repeat('a', 8000000) matches '(a{1,50}){1,20}b'`, "too long for this pattern"},
		{`reduce(1..20000, [#acc], 0)`, "nested deeper"},
	}
	for _, tt := range tests {
		t.Run(tt.source, func(t *testing.T) {
			t.Parallel()
			_, err := evaluate(t, tt.source)
			require.Error(t, err)
			// On a slow machine the bound on time may come before the one on size.
			if !strings.Contains(err.Error(), "takes longer than") {
				require.ErrorContains(t, err, tt.want)
			}
		})
	}
}

func TestEvaluationEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e, err := CompileExpression(`all(1..1000000, # > 0)`, Options{})
	require.NoError(t, err)
	_, err = e.Eval(ctx, newEnv(t, world))
	require.ErrorIs(t, err, context.Canceled)
}

func TestDocumentIsBounded(t *testing.T) {
	t.Parallel()
	env := mapEnv{"workflow_input": strings.Repeat("x", 1<<20)}
	doc, errs := CompileDocument(json.RawMessage(`["`+strings.Repeat(`{{workflow_input}}","`, 100_000)+`"]`), Options{})
	require.Empty(t, errs)
	_, err := doc.Render(t.Context(), env)
	require.ErrorIs(t, err, errTooLarge)
}

func TestManyPlaceholdersTakeLinearTime(t *testing.T) {
	t.Parallel()
	raw, err := Encode(strings.Repeat("{{x}} ", maxPlaceholders))
	require.NoError(t, err)
	began := time.Now()
	doc, errs := CompileDocument(raw, Options{Steps: knownSteps})
	require.Empty(t, errs)
	out, err := doc.Render(t.Context(), newEnv(t, world))
	require.NoError(t, err)
	require.Len(t, out, 2*maxPlaceholders+2)
	require.Less(t, time.Since(began), 10*time.Second)
}

func TestExpressionsRunConcurrently(t *testing.T) {
	t.Parallel()
	e, err := CompileExpression(`map(workflow_input.objects, .none ?? .price)`, Options{})
	require.NoError(t, err)
	env := newEnv(t, world)
	done := make(chan error, 8)
	for range cap(done) {
		go func() {
			var err error
			for range 200 {
				if _, err = e.Eval(context.Background(), env); err != nil {
					break
				}
			}
			done <- err
		}()
	}
	for range cap(done) {
		require.NoError(t, <-done)
	}
}

func TestTextsFromValuesAreDeliveredAsTheyAre(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"{{", "}}", "{{x}}", `{{step.a}}`, `"`, `\`, "\n", "日", "🙂", "$", "%", "\x00", "a"}))
		text := strings.Join(parts.Draw(t, "parts"), "") + rapid.String().Draw(t, "rest")
		for _, template := range []string{"{{v}}", "{{v + ''}}", "{{v ?? 1}}", "{{json(v) | fromJSON()}}"} {
			for _, mode := range []Mode{ModeTemplate, ModeText} {
				require.Equal(t, text, renderText(t, template, mode, text))
			}
			require.Equal(t, "<"+text+">", renderText(t, "<"+template+">", ModeTemplate, text))
		}
		var body struct{ A, B string }
		require.NoError(t, json.Unmarshal([]byte(renderText(t, `{"a":"{{v}}","b":{{v}}}`, ModeJSON, text)), &body))
		require.Equal(t, text, body.A)
		require.Equal(t, text, body.B)
	})
}

func renderText(t *rapid.T, template string, mode Mode, value string) string {
	raw, err := Encode(template)
	require.NoError(t, err)
	vars := NewObject()
	vars.Set("v", value)
	doc, errs := CompileDocument(raw, Options{ModeAt: func(string) Mode { return mode }})
	require.Empty(t, errs)
	out, err := doc.Render(context.Background(), mapEnv{"vars": vars})
	require.NoError(t, err)
	v, err := Decode(out)
	require.NoError(t, err)
	return v.(string)
}

func TestPathToResolvesWhateverTheKey(t *testing.T) {
	t.Parallel()
	word := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a", "x-y", "0", "-1", "", "a]b", `"'`, "注文", "é", "in", "null", "👩‍👩‍👧", "1e3", "__proto__"}))
	rapid.Check(t, func(t *rapid.T) {
		key, id := word.Draw(t, "key"), NormalName("i"+word.Draw(t, "id"))
		inner, steps := NewObject(), NewObject()
		inner.Set(key, "found")
		steps.Set(id, inner)
		env := mapEnv{"steps": steps, "workflow_input": inner, "vars": steps}
		for _, path := range []string{PathTo(RootStep, id, key), PathTo(RootInput, "", key), PathTo(RootVar, id, key), PathTo(RootNode, id, key)} {
			for _, source := range []string{path, "(" + path + ")", path + " ?? 1", "[" + path + "][0]"} {
				e, err := CompileExpression(source, Options{Steps: map[string]bool{id: true}})
				require.NoError(t, err, source)
				v, err := e.Eval(context.Background(), env)
				require.NoError(t, err, source)
				require.Equal(t, "found", v, source)
			}
		}
	})
}

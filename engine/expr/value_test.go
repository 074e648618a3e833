package expr

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDecodeAndEncodeKeepWhatJSONSays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`null`, `true`, `"x"`, `0`, `-1`, `9223372036854775807`, `-9223372036854775808`, `9223372036854775808`, `0.1`, `1e21`, `1E+2`, `-0`, `1.50`,
		`12345678901234567890`, `1e400`, `[]`, `{}`, `[1,[2,[3]]]`, `{"b":1,"a":{"d":2,"c":3}}`, `{"":0}`, `"<b>&\u2028"`,
	} {
		v, err := Decode([]byte(" " + text + "\n"))
		require.NoError(t, err, text)
		raw, err := Encode(v)
		require.NoError(t, err, text)
		require.Equal(t, strings.ReplaceAll(text, `\u2028`, "\u2028"), string(raw))
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		``: "unexpected end", `{`: "expected a key", `{"a"}`: "expected a colon", `{"a":1,}`: "expected a key", `[1,]`: "unexpected", `[1 2]`: "comma",
		`01`: "after the value", `1.`: "digits after the point", `-`: "needs digits", `1e`: "exponent", `tru`: "unexpected", `"a`: "without an end",
		"\"a\nb\"": "control character", `"\x"`: "unknown escape", `"\u12"`: "hexadecimal", `1 2`: "after the value", `nulll`: "after the value", `NaN`: "unexpected",
		strings.Repeat("[", maxDepth+2): "nested deeper than 10000", strings.Repeat(`{"a":`, maxDepth+2): "nested deeper than 10000",
	}
	for text, want := range tests {
		_, err := Decode([]byte(text))
		require.ErrorContains(t, err, want)
	}
}

func TestDecodeKeepsFirstPlaceAndLastValue(t *testing.T) {
	t.Parallel()
	v, err := Decode([]byte(`{"a":1,"b":2,"a":3}`))
	require.NoError(t, err)
	raw, err := Encode(v)
	require.NoError(t, err)
	require.Equal(t, `{"a":3,"b":2}`, string(raw))
}

func TestDecodeReplacesInvalidText(t *testing.T) {
	t.Parallel()
	v, err := Decode([]byte("[\"\\ud800\",\"\\ud83d\\ude00\",\"a\xffb\"]"))
	require.NoError(t, err)
	require.Equal(t, []any{"\uFFFD", "😀", "a\uFFFDb"}, v)
}

func TestDeepValuesWithinTheLimit(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	v, err := Decode([]byte(text))
	require.NoError(t, err)
	raw, err := Encode(v)
	require.NoError(t, err)
	require.Equal(t, text, string(raw))
	_, err = Encode([]any{[]any{v}})
	require.ErrorContains(t, err, "nested deeper")
}

func TestManyKeysTakeLinearTime(t *testing.T) {
	t.Parallel()
	o := NewObject()
	for i := range 200_000 {
		o.Set(strings.Repeat("k", i%7)+string(rune('a'+i%26))+time.Duration(i).String(), int64(i))
	}
	raw, err := Encode(o)
	require.NoError(t, err)
	v, err := Decode(raw)
	require.NoError(t, err)
	require.Equal(t, o.Len(), v.(*Object).Len())
}

func TestEncodeTakesForeignValues(t *testing.T) {
	t.Parallel()
	o := NewObject()
	o.Set("z", Number("1.50"))
	tests := []struct {
		value any
		want  string
	}{
		{map[string]any{"b": 1, "a": []string{"<x>"}}, `{"a":["<x>"],"b":1}`},
		{struct {
			Name  string `json:"name"`
			Inner any    `json:"inner"`
		}{"a&b", o}, `{"name":"a&b","inner":{"z":1.50}}`},
		{json.RawMessage(` {"b" : 1.0, "a":2}`), `{"b":1.0,"a":2}`},
		{json.RawMessage(nil), `null`},
		{json.RawMessage("\"a\xff\""), "\"a\uFFFD\""},
		{time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC), `"2027-01-02T03:04:05Z"`},
		{"a\xffb\x00\"\\", `"a` + "\uFFFD" + `b\u0000\"\\"`},
		{2.0, `2`},
		{1e21, `1e+21`},
		{0.1, `0.1`},
		{math.Copysign(0, -1), `-0`},
		{(*Object)(nil), `null`},
		{map[string]any(nil), `null`},
		{uint8(3), `3`},
	}
	for _, tt := range tests {
		raw, err := Encode(tt.value)
		require.NoError(t, err)
		require.Equal(t, tt.want, string(raw))
	}
	for _, v := range []any{math.NaN(), math.Inf(1), Number(""), Number("01"), Number("1 2"), Number("x"), make(chan int), json.RawMessage("{")} {
		_, err := Encode(v)
		require.Error(t, err)
	}
}

func TestEncodeOfADecodedValueIsTheValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		raw, err := Encode(v)
		require.NoError(t, err)
		require.True(t, json.Valid(raw))
		back, err := Decode(raw)
		require.NoError(t, err)
		require.Equal(t, v, back)
	})
}

func anyValue(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Int64().AsAny(),
		rapid.Map(rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})\.[0-9]{1,20}([eE][+-]?[0-9]{1,3})?`), func(s string) any { return Number(s) }),
	}
	if depth > 0 {
		inner := rapid.Deferred(func() *rapid.Generator[any] { return anyValue(depth - 1) })
		kinds = append(kinds, rapid.SliceOfN(inner, 0, 4).AsAny(), rapid.Map(rapid.MapOfN(rapid.String(), inner, 0, 16), func(m map[string]any) any {
			var names []string
			for k := range m {
				names = append(names, k)
			}
			var vs []any
			for _, k := range names {
				vs = append(vs, m[k])
			}
			return newObject(names, vs)
		}))
	}
	return rapid.OneOf(kinds...)
}

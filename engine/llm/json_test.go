package llm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine/llm"
)

func TestParseJSON(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, want string // want "" is an error
	}{
		{"plain", ` {"a":1} `, `{"a":1}`},
		{"scalar", `"x"`, `"x"`},
		{"fenced", "```json\n{\"a\":1}\n```", `{"a":1}`},
		{"leading newline", "\n```\n{\"a\":1}\n```\n", `{"a":1}`},
		{"upper case and crlf", "```JSON\r\n{\"a\":1}\r\n```\r\n", `{"a":1}`},
		{"words around a fence", "Sure!\n\n```json\n{\"a\":1}\n```\nThere.", `{"a":1}`},
		{"words around", `Here: {"a":1}. Done.`, `{"a":1}`},
		{"byte order mark", "\uFEFF{\"a\":1}", `{"a":1}`},
		{"fence inside of a value", "{\"a\":\"```json\\n{}\\n```\"}", "{\"a\":\"```json\\n{}\\n```\"}"},
		{"fence inside of a fenced value", "```json\n{\"a\":\"x\\n```\\ny\"}\n```", "{\"a\":\"x\\n```\\ny\"}"},
		{"digits", `{"a":12345678901234567890}`, `{"a":12345678901234567890}`},
		{"two fences", "```json\n{\"a\":1}\n```\n```json\n{\"a\":2}\n```", ""},
		{"two values", `{"a":1} {"a":2}`, ""},
		{"single quotes", `{'a':1}`, ""},
		{"trailing comma", `{"a":[1],}`, ""},
		{"cut off", `{"a":{"b":1}`, ""},
		{"words only", "I can't.", ""},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := llm.ParseJSON(tt.text)
			if tt.want == "" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
		})
	}
}

func FuzzParseJSON(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "```json\n[]\n```", "x {", "", "{]"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) { _, _ = llm.ParseJSON(s) })
}

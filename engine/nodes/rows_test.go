package nodes

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRows(t *testing.T) {
	t.Parallel()
	tests := []struct{ left, operator, right, want string }{
		{`true`, "equals", `true`, "true"},
		{`true`, "equals", `"true"`, "false"},
		{`"false"`, "equals", `false`, "false"},
		{`0`, "equals", `false`, "false"},
		{`0`, "equals", `-0`, "true"},
		{`0`, "equals", `""`, "false"},
		{`0`, "equals", `"0"`, "true"},
		{`1`, "equals", `1.0`, "true"},
		{`9007199254740993`, "equals", `9007199254740992`, "false"},
		{`"01"`, "equals", `1`, "false"},
		{`" 1"`, "equals", `1`, "false"},
		{`"1"`, "equals", `"1.0"`, "false"},
		{`null`, "equals", `null`, "true"},
		{``, "equals", `null`, "true"},
		{`null`, "equals", `""`, "false"},
		{`"NaN"`, "equals", `0`, "false"},
		{`1e999999999`, "equals", `1e999999999`, "true"},
		{`{"a":1,"b":2}`, "equals", `{"b":2,"a":1}`, "true"},
		{`[1,[2]]`, "equals", `[1.0,[2]]`, "true"},
		{`[]`, "equals", `{}`, "false"},
		{`true`, "not_equals", `"true"`, "true"},
		{`"abc"`, "contains", `"b"`, "true"},
		{`"a1"`, "contains", `1`, "true"},
		{`["a",1]`, "contains", `1.0`, "true"},
		{`{"a":1}`, "contains", `"a"`, "true"},
		{`null`, "contains", `"a"`, "false"},
		{`null`, "not_contains", `"a"`, "true"},
		{`5`, "contains", `5`, "error"},
		{`true`, "not_contains", `"t"`, "error"},
		{`2`, "greater_than", `10`, "false"},
		{`"2"`, "greater_than", `10`, "false"},
		{`"b"`, "greater_than", `"a"`, "true"},
		{`"2027-01-02"`, "less_than", `"2027-01-10"`, "true"},
		{`null`, "greater_than", `1`, "false"},
		{`null`, "less_than", `1`, "false"},
		{`true`, "greater_than", `0`, "error"},
		{`"NaN"`, "greater_than", `0`, "error"},
		{`""`, "is_empty", ``, "true"},
		{`null`, "is_empty", ``, "true"},
		{``, "is_empty", ``, "true"},
		{`[]`, "is_empty", ``, "true"},
		{`{}`, "is_empty", ``, "true"},
		{`" "`, "is_empty", ``, "false"},
		{`0`, "is_empty", ``, "false"},
		{`false`, "is_empty", ``, "false"},
		{`false`, "is_not_empty", ``, "true"},
		{`1`, "like", `1`, "error"},
	}
	for _, tt := range tests {
		t.Run(tt.left+" "+tt.operator+" "+tt.right, func(t *testing.T) {
			t.Parallel()
			ok, err := MatchRows([]Row{{Left: json.RawMessage(tt.left), Operator: tt.operator, Right: json.RawMessage(tt.right)}}, false)
			if tt.want == "error" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want == "true", ok)
		})
	}
}

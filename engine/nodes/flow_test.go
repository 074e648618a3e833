package nodes

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/engine"
)

func TestFlowKinds(t *testing.T) {
	t.Parallel()
	env := fakeEnv{".score": int64(50), ".ok": true, ".text": "true"}
	tests := []struct {
		name, config, value, handle string
		kind                        engine.Kind
		fails                       bool
	}{
		{name: "trigger", kind: trigger{}, config: `{}`, value: `{"n":12345678901234567890}`},
		{name: "end", kind: end{}, config: `{"output":{"b":1,"a":0.10}}`, value: `{"b":1,"a":0.10}`},
		{name: "set keeps order and digits", kind: set{}, config: `{"values":{"b":12345678901234567890,"a":null}}`, value: `{"b":12345678901234567890,"a":null}`},
		{name: "set nothing", kind: set{}, config: `{}`, value: `{}`},
		{name: "set unknown field", kind: set{}, config: `{"vals":{}}`, fails: true},
		{name: "then", kind: condition{}, config: `{"expression":"ok"}`, value: `{"result":true}`, handle: "then"},
		{name: "else", kind: condition{}, config: `{"expression":"score > 80"}`, value: `{"result":false}`, handle: "else"},
		{name: "text is no condition", kind: condition{}, config: `{"expression":"text"}`, fails: true},
		{name: "all rows", kind: condition{}, config: `{"rows":[{"left":1,"operator":"equals","right":1.0},{"left":1,"operator":"greater_than","right":2}]}`, value: `{"result":false}`, handle: "else"},
		{name: "any row", kind: condition{}, config: `{"match":"any","rows":[{"left":1,"operator":"equals","right":2},{"left":"b","operator":"greater_than","right":"a"}]}`, value: `{"result":true}`, handle: "then"},
		{name: "no condition", kind: condition{}, config: `{}`, fails: true},
		{name: "first case", kind: switchKind{}, config: `{"cases":[{"id":"hot","when":"score > 80"},{"id":"warm","when":"score > 40"},{"id":"x","when":"ok"}]}`, value: `{"case":"warm"}`, handle: "warm"},
		{name: "no case", kind: switchKind{}, config: `{"cases":[{"id":"hot","when":"score > 80"}]}`, value: `{"case":"default"}`, handle: "default"},
		{name: "past instant", kind: wait{}, config: `{"until":"2027-01-01T00:00:00Z"}`, value: `{"started_at":"2027-01-02T03:04:05Z","ended_at":"2027-01-02T03:04:05Z"}`},
		{name: "bad duration", kind: wait{}, config: `{"duration":"soon"}`, fails: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := execute(t, tt.kind, tt.config, env)
			if tt.fails {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.value, encoded(t, out.Value))
			require.Equal(t, tt.handle, out.Handle)
		})
	}
}

func TestWaitParks(t *testing.T) {
	t.Parallel()
	for config, d := range map[string]time.Duration{
		`{"duration":"1h30m"}`: 90 * time.Minute, `{"duration":"P1DT2H"}`: 26 * time.Hour, `{"duration":0.5}`: 500 * time.Millisecond,
		`{"duration":"90"}`: 90 * time.Second, `{"until":"2027-01-02T05:04:05+01:00"}`: time.Hour,
	} {
		out, err := execute(t, wait{}, config, nil)
		require.NoError(t, err, config)
		require.Equal(t, now.Add(d), out.Park.WakeAt, config)
		require.NotNil(t, out.Park.OnWake, config)
	}
}

func TestSetVariables(t *testing.T) {
	t.Parallel()
	out, err := execute(t, set{}, `{"variables":{"n":12345678901234567890}}`, nil)
	require.NoError(t, err)
	require.Equal(t, `12345678901234567890`, encoded(t, out.Variables["n"]))
}

func TestApproval(t *testing.T) {
	t.Parallel()
	out, err := execute(t, approval{}, `{"title":"Go?","content":{"a":1},"timeout":"2d","on_timeout":"approve"}`, nil)
	require.NoError(t, err)
	require.Equal(t, engine.ParkApproval, out.Park.Kind)
	require.Equal(t, []string{"approve", "reject"}, []string{out.Park.Outcomes[0].ID, out.Park.Outcomes[1].ID})
	require.True(t, out.Park.Outcomes[1].Refusal)
	require.Equal(t, now.Add(48*time.Hour), out.Park.WakeAt)
	require.Equal(t, "approve", out.Park.OnWake.Handle)
	require.JSONEq(t, `{"outcome":"approve","comment":"","decided_by":null,"decided_at":"2027-01-04T03:04:05Z","data":{"a":1}}`, string(out.Park.OnWake.Output))

	out, err = execute(t, approval{}, `{"timeout":60}`, nil)
	require.NoError(t, err)
	require.Equal(t, engine.CodeTimeout, out.Park.OnWake.Error.Code)

	custom := json.RawMessage(`{"outcomes":[{"id":"ship","label":"Ship"},{"id":"ship"}],"on_timeout":"later"}`)
	require.Equal(t, engine.Handle{ID: "ship", Label: "Ship"}, approval{}.HandlesOf(custom)[0])
	require.Len(t, approval{}.ValidateConfig(custom), 2)
}

func TestConfigFindings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		kind   engine.ConfigValidator
		config string
		want   int
	}{
		{condition{}, `{}`, 1},
		{condition{}, `{"expression":"true","rows":[{"operator":"is_empty"}]}`, 1},
		{condition{}, `{"expression":"true"}`, 0},
		{switchKind{}, `{"cases":[{"id":"default"},{"id":"a"},{"id":"a"},{"id":"error"}]}`, 3},
		{loop{}, `{}`, 1},
		{loop{}, `{"collection":[],"times":2}`, 1},
		{loop{}, `{"times":2}`, 0},
		{wait{}, `{"duration":"{{vars.d}}"}`, 0},
		{wait{}, `{"duration":"soon"}`, 1},
		{httpRequest{}, `{"url":"ftp://x"}`, 1},
		{httpRequest{}, `{"url":"{{vars.url}}"}`, 0},
	}
	for _, tt := range tests {
		require.Len(t, tt.kind.ValidateConfig(json.RawMessage(tt.config)), tt.want, "%T %s", tt.kind, tt.config)
	}
}

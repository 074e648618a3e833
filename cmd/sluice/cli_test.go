package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine/llm/llmtest"
)

// command runs a command line in this process.
func command(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = execute(t.Context(), args, streams{in: strings.NewReader(stdin), out: &out, err: &errs})
	return code, out.String(), errs.String()
}

func casePath(name string) string {
	return filepath.Join("..", "..", "engine", "testdata", "cases", name)
}

// ran is what `sluice run --json` prints.
type ran struct {
	RunID     string          `json:"run_id"`
	Status    string          `json:"status"`
	Output    json.RawMessage `json:"output"`
	Variables json.RawMessage `json:"variables"`
	Log       []struct {
		NodeID   string          `json:"node_id"`
		NodeType string          `json:"node_type"`
		Address  string          `json:"address"`
		Status   string          `json:"status"`
		Result   json.RawMessage `json:"result"`
		Attempts int             `json:"attempts"`
	} `json:"log"`
}

func runJSON(t *testing.T, want int, args ...string) ran {
	t.Helper()
	code, out, errs := command(t, "", append([]string{"run", "--json"}, args...)...)
	require.Equal(t, want, code, "%s%s", out, errs)
	var r ran
	require.NoError(t, json.Unmarshal([]byte(out), &r), out)
	require.NotEmpty(t, r.RunID)
	return r
}

func TestValidateSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"content-pipeline.json", "approval-in-loop.json", "diamond-skip.json"} {
		code, out, _ := command(t, "", "validate", casePath(name), "--json")
		require.Equal(t, exitOK, code, out)
		require.JSONEq(t, `{"valid":true,"issues":[]}`, out, name)
	}
	code, out, _ := command(t, `{"nodes":[{"id":"a","type":"llm_cal"}],"edges":[{"source":"a","target":"a"}]}`, "validate", "-")
	require.Equal(t, exitInvalid, code)
	for _, want := range []string{"unknown_type", `Did you mean "llm_call"?`, "cycle", "no_trigger"} {
		require.Contains(t, out, want)
	}
	code, _, errs := command(t, "{", "validate", "-")
	require.Equal(t, exitInvalid, code)
	require.Contains(t, errs, "line 1")
	code, _, _ = command(t, "", "validate", "nosuch.json")
	require.Equal(t, exitInvalid, code)
	code, _, _ = command(t, "", "nosuch")
	require.Equal(t, exitInvalid, code)
}

func TestRunPrintsTheLogAndTheOutput(t *testing.T) {
	t.Parallel()
	r := runJSON(t, exitOK, casePath("content-pipeline.json"))
	require.Equal(t, "succeeded", r.Status)
	require.Len(t, r.Log, 5)
	require.JSONEq(t, `{"topic":"AI Agent Architecture"}`, string(r.Variables))
	r = runJSON(t, exitOK, casePath("content-pipeline.json"), "--var", "topic=cats")
	require.Contains(t, string(r.Log[1].Result), "cats")

	r = runJSON(t, exitOK, casePath("diamond-skip.json"), "--input", `{"customer":{"id":9007199254740993,"name":"{{step.gift}}","tier":"basic"}}`)
	require.Equal(t, `{"parcel":"note for {{step.gift}}","id":9007199254740993}`, compact(t, r.Output))
	statuses := map[string]string{}
	for _, l := range r.Log {
		statuses[l.NodeID] = l.Status
	}
	require.Equal(t, "skipped", statuses["gift"])
	require.Equal(t, "skipped", statuses["wrap"])
	require.Equal(t, "succeeded", statuses["send"])
}

func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Compact(&b, raw))
	return b.String()
}

func TestRunParksAndDecides(t *testing.T) {
	t.Parallel()
	r := runJSON(t, exitParked, casePath("approval-in-loop.json"), "--input", threeItems)
	require.Equal(t, "pending_approval", r.Status)
	r = runJSON(t, exitOK, casePath("approval-in-loop.json"), "--input", threeItems, "--decide", "ok=approve")
	require.Contains(t, compact(t, r.Output), `{"count":3,"results":[{"published":"No. 0: 唐辛子","by":"approve"}`)
	r = runJSON(t, exitFailed, casePath("approval-in-loop.json"), "--input", threeItems, "--decide", "ok=reject")
	require.Equal(t, "rejected", r.Status)
	r = runJSON(t, exitOK, casePath("approval-in-loop.json"), "--input", `{"items":[]}`)
	require.JSONEq(t, `{"count":0,"results":[]}`, string(r.Output))
	code, _, errs := command(t, "", "run", casePath("approval-in-loop.json"), "--input", threeItems, "--decide", "ok=maybe")
	require.Equal(t, exitInvalid, code)
	require.Contains(t, errs, "maybe")
}

func TestRunUsesTheModelServerThatIsSet(t *testing.T) {
	t.Parallel()
	model := llmtest.NewServer(t, llmtest.Reply{Text: "answer 1"}, llmtest.Reply{Text: "answer 2"}, llmtest.Reply{Text: "answer 3"})
	r := runJSON(t, exitOK, casePath("content-pipeline.json"), "--openai-base-url", model.URL)
	require.Contains(t, string(r.Output), "answer 3")
	var prompts []string
	for _, q := range model.Requests() {
		prompts = append(prompts, q.Prompt())
	}
	require.Equal(t, []string{
		"Create an outline for: AI Agent Architecture", "Write article from outline: answer 1", "Generate SEO metadata for: answer 2",
	}, prompts)
	require.Equal(t, "You are a content strategist", model.Requests()[0].System())
}

func TestImportAndExportKeepAWorkflow(t *testing.T) {
	t.Parallel()
	db := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	code, out, errs := command(t, "", "import", "--database-url", db, casePath("diamond-skip.json"))
	require.Equal(t, exitOK, code, errs)
	id, _, _ := strings.Cut(out, " ")
	code, exported, errs := command(t, "", "export", "--database-url", db, id)
	require.Equal(t, exitOK, code, errs)
	r := runJSONIn(t, exported, exitOK, "-", "--input", `{"customer":{"name":"Mai","id":1,"tier":"vip"}}`)
	require.JSONEq(t, `{"parcel":"gift for Mai, wrapped","id":1}`, string(r.Output))
	code, out, errs = command(t, "", "run", "--database-url", db, "--db", casePath("diamond-skip.json"), "--input", `{"customer":{"name":"Mai","id":1,"tier":"basic"}}`)
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "note for Mai")
	code, out, _ = command(t, "", "user", "login-link", "--database-url", db)
	require.Equal(t, exitOK, code)
	require.Contains(t, out, "/login/")
	code, out, _ = command(t, "", "migrate", "--database-url", db)
	require.Equal(t, exitOK, code)
	require.Contains(t, out, "current")
}

func runJSONIn(t *testing.T, stdin string, want int, args ...string) ran {
	t.Helper()
	code, out, errs := command(t, stdin, append([]string{"run", "--json"}, args...)...)
	require.Equal(t, want, code, "%s%s", out, errs)
	var r ran
	require.NoError(t, json.Unmarshal([]byte(out), &r), out)
	return r
}

func TestRunRefusesAnswersToNodesThatAreNot(t *testing.T) {
	t.Parallel()
	code, _, errs := command(t, "", "run", casePath("approval-in-loop.json"), "--input", threeItems, "--decide", "review=approve")
	require.Equal(t, exitInvalid, code)
	require.Contains(t, errs, `no node "review"`)
	code, _, errs = command(t, "", "run", casePath("approval-in-loop.json"), "--input", threeItems, "--decide", "ok=banana")
	require.Equal(t, exitInvalid, code)
	require.Contains(t, errs, "approve, reject")
}

func TestSettingsThatCanNotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{"--lease=-5s"}, {"--lease=2ns"}, {"--grace=-1s"}} {
		code, _, errs := command(t, "", append([]string{"version"}, flags...)...)
		require.Equal(t, exitInvalid, code, "%v", flags)
		require.Contains(t, errs, "SLUICE_")
	}
	code, _, errs := command(t, "", "run", t.TempDir())
	require.Equal(t, exitInvalid, code)
	require.Contains(t, errs, "directory")
}

package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sluice/engine"
)

// joined is n items of a JSON list.
func joined(n int, item func(i int) string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = item(i)
	}
	return strings.Join(items, ",")
}

// TestHostileInput gives reading and checking what once took minutes or gigabytes.
// The bound is wide, for slow machines under the race detector; the time meant is
// below half a second.
func TestHostileInput(t *testing.T) {
	t.Parallel()
	reg := registryWith(t)
	long := strings.Repeat("x", 90)
	node := func(format string) func(i int) string {
		return func(i int) string { return fmt.Sprintf(format, i, i+1) }
	}
	cases := joined(20_000, node(`{"id":"c%d","when":"true","label":"%d"}`))
	tests := []struct{ name, doc, code string }{
		{"many nodes and edges", `{"nodes":[` + joined(100_000, node(`{"id":"n%d","type":"set","label":"%d"}`)) + `],"edges":[` + joined(100_000, node(`{"source":"n%d","target":"n%d"}`)) + `]}`, "too_many_nodes"},
		{"many edges", `{"nodes":[` + joined(2_000, node(`{"id":"n%d","type":"set","label":"%d"}`)) + `],"edges":[` + joined(300_000, func(i int) string { return fmt.Sprintf(`{"source":"n%d","target":"n%d"}`, i*7%2000, i*13%2000) }) + `]}`, "too_many_edges"},
		{"long chain", `{"nodes":[` + joined(2_000, func(i int) string { return fmt.Sprintf(`{"id":"n%d","type":"set"}`, 2_000-i) }) + `],"edges":[` + joined(20_000, func(i int) string { return fmt.Sprintf(`{"source":"n%d","target":"n%d"}`, i%1999+1, i%1999+2+i/1999) }) + `]}`, "no_trigger"},
		{"many triggers", `{"nodes":[` + joined(2_000, func(i int) string { return fmt.Sprintf(`{"id":"%s%d","type":"trigger"}`, long, i) }) + `]}`, "several_triggers"},
		{"unknown steps", `{"nodes":[` + joined(1_000, func(i int) string {
			return fmt.Sprintf(`{"id":"stepnumber%d","type":"set","config":{"values":{"a":"{{step.stepnumbr%d}} %s"}}}`, i, i, strings.Repeat("{{step.stepnumbr}} ", 200))
		}) + `]}`, "unknown_step"},
		{"missing nodes", `{"nodes":[{"id":"a","type":"trigger"}],"edges":[` + joined(20_000, func(i int) string { return fmt.Sprintf(`{"source":"%s%d","target":"b"}`, long, i) }) + `]}`, "too_many_issues"},
		{"repeated containers", `{"nodes":[` + joined(1_900, func(i int) string {
			if i < 100 {
				return `{"id":"c0","type":"loop"}`
			}
			return fmt.Sprintf(`{"id":"c%d","type":"loop","parent":"c%d"}`, i/100, i/100-1)
		}) + `]}`, "duplicate_id"},
		{"deep parents", `{"nodes":[` + joined(2_000, node(`{"id":"c%d","type":"loop","parent":"c%d"}`)) + `]}`, "too_deep"},
		{"ring of parents", `{"nodes":[` + joined(2_000, func(i int) string { return fmt.Sprintf(`{"id":"c%d","type":"loop","parent":"c%d"}`, i, (i+1)%2_000) }) + `]}`, "cycle"},
		{"many cases", `{"nodes":[{"id":"a","type":"trigger"},{"id":"s","type":"switch","config":{"cases":[` + cases + `]}},{"id":"z","type":"end"}],"edges":[` + joined(20_000, node(`{"source":"s","target":"z","handle":"c%d","id":"%d"}`)) + `]}`, "unreachable"},
		{"unknown handles", `{"nodes":[{"id":"a","type":"trigger"},{"id":"s","type":"switch","config":{"cases":[` + cases + `]}},{"id":"z","type":"end"}],"edges":[` + joined(20_000, node(`{"source":"s","target":"z","handle":"d%d","id":"%d"}`)) + `]}`, "unknown_handle"},
		{"steps without ids", `{"steps":[` + joined(100_000, func(int) string { return `{"type":"set"}` }) + `]}`, "too_many_nodes"},
		{"deep steps", strings.Repeat(`{"type":"loop","steps":[`, 400) + strings.Repeat(`]}`, 400), "too_deep"},
		{"an id of megabytes", `{"nodes":[{"id":"` + strings.Repeat("x", 8<<20) + `","type":"set","config":{` + joined(20_000, node(`"k%d":"{{step.y%d}}"`)) + `}}]}`, "bad_id"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			began := time.Now()
			def, imported, err := engine.Import([]byte(tt.doc), reg)
			require.NoError(t, err)
			issues := engine.Validate(def, reg)
			// No measure of speed: it tells hanging from working on any machine.
			require.Less(t, time.Since(began), 2*time.Minute, "it hangs")
			require.LessOrEqual(t, len(issues), 10_001)
			size, codes := 0, map[string]bool{}
			for _, i := range append(imported, issues...) {
				codes[i.Code] = true
				size += len(i.Message) + len(i.Fix) + len(i.NodeID) + len(i.Field)
			}
			require.Less(t, size, 8<<20)
			require.True(t, codes[tt.code], "%v", codes)
		})
	}
}

// TestIssuesLeftOut checks that an error stays an error when the list is full of
// warnings.
func TestIssuesLeftOut(t *testing.T) {
	t.Parallel()
	doc := `{"nodes":[{"id":"t","type":"trigger"},{"id":"z","type":"end"}],"edges":[` + strings.Repeat(`{"source":"t","target":"z"},`, 15_000) + `{"source":"t","target":"x"}]}`
	reg := registryWith(t)
	def, _, err := engine.Import([]byte(doc), reg)
	require.NoError(t, err)
	issues := engine.Validate(def, reg)
	require.Len(t, issues, 10_001)
	require.Equal(t, "too_many_issues", issues[10_000].Code)
	require.True(t, issues.HasErrors())
	plan, _ := engine.Compile(def, reg)
	require.Nil(t, plan)
}

// FuzzImportValidate holds reading to its promises on any bytes: no panic, an
// export that reads back as itself, and a plan exactly when there are no errors.
func FuzzImportValidate(f *testing.F) {
	for _, pattern := range []string{"testdata/cases/*.json", "testdata/forms/*.json", "examples/workflows/*.json"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		require.NotEmpty(f, files, pattern)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(data)
		}
	}
	reg := registryWith(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		def, _, err := engine.Import(data, reg)
		if err != nil {
			return
		}
		issues := engine.Validate(def, reg)
		plan, compiled := engine.Compile(def, reg)
		require.Equal(t, issues, compiled)
		require.Equal(t, issues.HasErrors(), plan == nil)
		raw, hash, err := def.Canonical()
		require.NoError(t, err)
		again, _, err := engine.Import(raw, nil)
		require.NoError(t, err, "%s", raw)
		raw2, hash2, err := again.Canonical()
		require.NoError(t, err)
		require.Equal(t, string(raw), string(raw2))
		require.Equal(t, hash, hash2)
		require.Equal(t, issues, engine.Validate(again, reg))
	})
}

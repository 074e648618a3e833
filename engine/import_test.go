package engine_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sluice/engine"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestForms reads each accepted form and compares the canonical export, which
// must read back as itself, with or without the kinds.
func TestForms(t *testing.T) {
	t.Parallel()
	reg := registryWith(t)
	files, err := filepath.Glob("testdata/forms/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			def, issues, err := engine.Import(data, reg)
			require.NoError(t, err)
			raw, hash, err := def.Canonical()
			require.NoError(t, err)
			var got bytes.Buffer
			require.NoError(t, json.Indent(&got, raw, "", "  "))
			for _, i := range append(issues, engine.Validate(def, reg)...) {
				fmt.Fprintf(&got, "\n%s %s %s %s: %s", i.Severity, i.Code, i.NodeID, i.Field, i.Message)
			}
			got.WriteByte('\n')
			golden := strings.TrimSuffix(file, ".json") + ".golden"
			if *update {
				require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(string(want), got.String()))

			var again engine.Definition
			require.NoError(t, json.Unmarshal(raw, &again))
			raw2, hash2, err := again.Canonical()
			require.NoError(t, err)
			require.Equal(t, string(raw), string(raw2))
			require.Equal(t, hash, hash2)
			require.Equal(t, engine.Validate(def, reg), engine.Validate(&again, reg), "what is stored has the same issues")
		})
	}
}

func TestImportRefuses(t *testing.T) {
	t.Parallel()
	for doc, message := range map[string]string{
		``:                               "line 1, column 0: unexpected end of JSON input",
		"{\n \"nodes\": [\n  {\"id\" 5}": "line 3, column 9: invalid character '5' after object key",
		`{"nodes":[]} x`:                 "after top-level value",
		`null`:                           "this is null",
		`[{"nodes":[]}]`:                 "this is a list",
		`{"name":"x"}`:                   `needs "nodes"`,
		`{"nodes":{}}`:                   `"nodes" must be a list, not an object`,
		`{"steps":"x"}`:                  `"steps" must be a list, not text`,
		`{"nodes":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`: "depth",
		`{"name":"` + strings.Repeat("x", 16<<20) + `"}`:                              "at most 16777216 are read",
	} {
		_, _, err := engine.Import([]byte(doc), nil)
		require.ErrorContains(t, err, message)
	}
}

func TestImportNormalisesIDs(t *testing.T) {
	t.Parallel()
	nfc, nfd := "caf\u00e9", "cafe\u0301"
	doc := fmt.Sprintf(`{"nodes":[{"id":"t","type":"trigger"},{"id":%q,"type":"loop"},{"id":"x","type":"set","parent":%q}],"edges":[{"source":"t","target":%q}]}`, nfd, nfc, nfd)
	def, _, err := engine.Import([]byte(doc), nil)
	require.NoError(t, err)
	require.Equal(t, []string{nfc, nfc, nfc}, []string{def.Nodes[1].ID, def.Nodes[2].Parent, def.Edges[0].Target})
}

// TestNestedJoins checks that the chains of a condition join at the step after it.
func TestNestedJoins(t *testing.T) {
	t.Parallel()
	set := func(id string) string { return fmt.Sprintf(`{"id":%q,"type":"set"}`, id) }
	tests := []struct{ name, steps, edges string }{
		{"nothing", ``, `trigger>end`},
		{"chain", set("a") + "," + set("b"), `trigger>a a>b b>end`},
		{"condition", `{"id":"c","type":"condition","thenSteps":[` + set("a") + `],"elseSteps":[` + set("b") + `]},` + set("z"), `trigger>c c.then>a c.else>b a>z b>z z>end`},
		{"empty chain", `{"id":"c","type":"condition","thenSteps":[` + set("a") + `]},` + set("z"), `trigger>c c.then>a a>z c.else>z z>end`},
		{"two empty chains", `{"id":"c","type":"condition"}`, `trigger>c c.then>end c.else>end`},
		{"nested", `{"id":"c","type":"condition","elseSteps":[{"id":"d","type":"condition","thenSteps":[` + set("a") + `]}]},` + set("z"), `trigger>c c.else>d d.then>a c.then>z a>z d.else>z z>end`},
		{"approval", `{"id":"ok","type":"approval"},` + set("z"), `trigger>ok ok>z z>end`},
		{"ids that collide", set("trigger") + "," + set("end") + "," + set("end-2"), `trigger-2>trigger trigger>end end>end-2 end-2>end-3`},
		{"no ids", `{"type":"set"},{"type":"set"},` + set("set-2"), `trigger>set set>set-3 set-3>set-2 set-2>end`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			def, issues, err := engine.Import([]byte(`{"steps":[`+tt.steps+`]}`), registryWith(t))
			require.NoError(t, err)
			require.Empty(t, issues)
			var edges []string
			for _, e := range def.Edges {
				from := e.Source
				if e.Handle != "" {
					from += "." + e.Handle
				}
				edges = append(edges, from+">"+e.Target)
			}
			require.Equal(t, tt.edges, strings.Join(edges, " "))
		})
	}
}

// TestLayout checks that what was placed does not cover itself, and that bodies
// lie inside of their containers.
func TestLayout(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/forms/nested.json")
	require.NoError(t, err)
	def, _, err := engine.Import(data, registryWith(t))
	require.NoError(t, err)
	size := func(n *engine.Node) (w, h float64) {
		return max(n.Position.Width, 220), max(n.Position.Height, 64)
	}
	byID := map[string]*engine.Node{}
	for i := range def.Nodes {
		byID[def.Nodes[i].ID] = &def.Nodes[i]
	}
	for i := range def.Nodes {
		a := &def.Nodes[i]
		aw, ah := size(a)
		if p := byID[a.Parent]; p != nil {
			pw, ph := size(p)
			require.True(t, a.Position.X >= 0 && a.Position.Y >= 0 && a.Position.X+aw <= pw && a.Position.Y+ah <= ph, "%s leaves %s", a.ID, p.ID)
		}
		for j := range i {
			b := &def.Nodes[j]
			bw, bh := size(b)
			apart := a.Position.X+aw <= b.Position.X || b.Position.X+bw <= a.Position.X || a.Position.Y+ah <= b.Position.Y || b.Position.Y+bh <= a.Position.Y
			require.True(t, a.Parent != b.Parent || apart, "%s covers %s", a.ID, b.ID)
		}
	}
}

// TestExportReadsBack is the round trip of arbitrary definitions.
func TestExportReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		def := drawDefinition(t)
		raw, hash, err := def.Canonical()
		require.NoError(t, err)
		var again engine.Definition
		require.NoError(t, json.Unmarshal(raw, &again))
		raw2, hash2, err := again.Canonical()
		require.NoError(t, err)
		require.Equal(t, string(raw), string(raw2))
		require.Equal(t, hash, hash2)
		require.Empty(t, cmp.Diff(def, &again))
	})
}

func drawDefinition(t *rapid.T) *engine.Definition {
	id := rapid.StringMatching(`[a-zé注🌶0-9. _-]{0,6}`)
	object := rapid.SampledFrom([]string{`{}`, `{"z":1,"a":[null,"{{x}}"]}`, `{"n":9007199254740993,"f":0.10,"e":1e400,"":"<&>"}`})
	extra := func(label string) map[string]json.RawMessage {
		if !rapid.Bool().Draw(t, label) {
			return nil
		}
		return map[string]json.RawMessage{"x_" + id.Draw(t, "extra"): json.RawMessage(object.Draw(t, "value"))}
	}
	def := &engine.Definition{
		Format: engine.Format, Name: rapid.String().Draw(t, "name"), Extra: extra("extras"),
		Variables: json.RawMessage(object.Draw(t, "variables")), InputSchema: json.RawMessage(object.Draw(t, "schema")),
	}
	for range rapid.IntRange(1, 6).Draw(t, "nodes") {
		n := engine.Node{
			ID: id.Draw(t, "id"), Type: rapid.SampledFrom([]string{"set", "condition", "future"}).Draw(t, "type"),
			Label: rapid.String().Draw(t, "label"), Parent: id.Draw(t, "parent"), Config: json.RawMessage(object.Draw(t, "config")),
			OnError:   rapid.SampledFrom([]engine.OnError{"", engine.OnErrorBranch, "odd"}).Draw(t, "on_error"),
			TimeoutMS: rapid.Int64().Draw(t, "timeout"), Notes: rapid.String().Draw(t, "notes"), Extra: extra("node extras"),
		}
		if rapid.Bool().Draw(t, "retries") {
			n.Retry = &engine.RetryPolicy{MaxAttempts: rapid.IntRange(-1, 200).Draw(t, "attempts"), BaseMS: rapid.Int64Range(0, 9).Draw(t, "base")}
		}
		if rapid.Bool().Draw(t, "placed") {
			n.Position = &engine.Position{X: rapid.Float64Range(-1e6, 1e6).Draw(t, "x"), Width: 220, Extra: extra("position extras")}
		}
		def.Nodes = append(def.Nodes, n)
	}
	for range rapid.IntRange(1, 6).Draw(t, "edges") {
		def.Edges = append(def.Edges, engine.Edge{
			Source: id.Draw(t, "source"), Target: id.Draw(t, "target"), Handle: rapid.SampledFrom([]string{"", "a", "error"}).Draw(t, "handle"),
			Condition: rapid.SampledFrom([]string{"", "a > 1"}).Draw(t, "condition"), Extra: extra("edge extras"),
		})
	}
	return def
}

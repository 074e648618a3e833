package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mayImport is the import direction of the whole repository: what each package may
// reach of ours, directly or through others. A path ending in "/..." stands for all
// below it; the first matching line counts.
var mayImport = []struct {
	pkg     string
	allowed []string
}{
	{"sluice/cmd/...", []string{"sluice/..."}},
	{"sluice/web/...", []string{"sluice/web/...", "sluice/views/...", "sluice/static", "sluice/models", "sluice/engine", "sluice/engine/..."}},
	{"sluice/web", []string{"sluice/web/...", "sluice/views/...", "sluice/static", "sluice/models", "sluice/engine", "sluice/engine/..."}},
	{"sluice/views/...", []string{"sluice/views/...", "sluice/static"}},
	{"sluice/static", nil},
	{"sluice/models/...", []string{"sluice/models", "sluice/models/..."}},
	{"sluice/models", []string{"sluice/models/..."}},
	{"sluice/engine/expr", nil},
	{"sluice/engine/llm/...", []string{"sluice/engine/llm", "sluice/engine/llm/..."}},
	{"sluice/engine/llm", []string{"sluice/engine/llm/..."}},
	{"sluice/engine/gormstore", []string{"sluice/engine", "sluice/engine/expr", "sluice/models/...", "sluice/models"}},
	{"sluice/engine/jobs", []string{"sluice/engine", "sluice/engine/expr", "sluice/models/...", "sluice/models"}},
	{"sluice/engine/nodes", []string{"sluice/engine", "sluice/engine/expr", "sluice/engine/llm/...", "sluice/engine/llm", "sluice/engine/mcp", "sluice/engine/limit", "sluice/engine/secret"}},
	{"sluice/engine/examples", []string{"sluice/engine", "sluice/engine/expr"}},
	{"sluice/engine/trace", []string{"sluice/engine", "sluice/engine/expr"}},
	{"sluice/engine/memstore", []string{"sluice/engine", "sluice/engine/expr"}},
	{"sluice/engine/enginetest/promises", nil}, // tests alone
	{"sluice/engine/enginetest", []string{"sluice/engine", "sluice/engine/expr", "sluice/engine/memstore"}},
	{"sluice/engine", []string{"sluice/engine/expr"}},
}

func matches(pattern, pkg string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		return strings.HasPrefix(pkg, prefix+"/")
	}
	return pattern == pkg
}

// listed is what `go list -json` says of a package.
type listed struct {
	ImportPath string
	Deps       []string
	Imports    []string
	Standard   bool
}

func goList(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json=ImportPath,Deps,Imports,Standard"}, args...)...)
	out, err := cmd.Output()
	require.NoError(t, err)
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, p)
	}
}

func TestImportsRunInOneDirection(t *testing.T) {
	t.Parallel()
	for _, p := range goList(t, "sluice/...") {
		var allowed []string
		known := false
		for _, r := range mayImport {
			if matches(r.pkg, p.ImportPath) {
				allowed, known = r.allowed, true
				break
			}
		}
		require.True(t, known, "%s is in no line of the table of imports", p.ImportPath)
		for _, dep := range p.Deps {
			if dep != "sluice" && !strings.HasPrefix(dep, "sluice/") {
				continue
			}
			ok := false
			for _, a := range allowed {
				ok = ok || matches(a, dep)
			}
			require.True(t, ok, "%s must not reach %s", p.ImportPath, dep)
		}
	}
}

func TestEngineUsesTheStandardLibraryAlone(t *testing.T) {
	t.Parallel()
	for _, p := range goList(t, "sluice/engine") {
		for _, dep := range p.Imports {
			first, _, _ := strings.Cut(dep, "/")
			require.True(t, dep == "sluice/engine/expr" || !strings.Contains(first, ".") && first != "sluice", "engine imports %s", dep)
		}
	}
}

func TestModelsReachNoOtherFrameworkThanGorm(t *testing.T) {
	t.Parallel()
	for _, p := range goList(t, "sluice/models") {
		for _, dep := range p.Deps {
			require.False(t, strings.HasPrefix(dep, "github.com/labstack/") || strings.HasPrefix(dep, "github.com/a-h/templ"), "models reach %s", dep)
		}
	}
}

func TestBinaryHoldsNoTestCode(t *testing.T) {
	t.Parallel()
	for _, p := range goList(t, "sluice/cmd/sluice") {
		for _, dep := range p.Deps {
			for _, bad := range []string{"github.com/stretchr/testify", "github.com/chromedp", "pgregory.net/rapid", "sluice/engine/enginetest", "testing"} {
				require.False(t, dep == bad || strings.HasPrefix(dep, bad+"/"), "the binary holds %s", dep)
			}
		}
	}
}

package promises_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

var updatePage = flag.Bool("promise.update", false, "write docs/promises.md anew")

// root is the repository's, from this directory.
const root = "../../.."

// TestThePageOfPromisesIsCurrent holds docs/promises.md against the tests: every
// promise is listed with what its test says of it.
func TestThePageOfPromisesIsCurrent(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, dir := range []string{"engine", "engine/enginetest/promises", "cmd/sluice", "web/live"} {
		files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
		require.NoError(t, err)
		for _, file := range files {
			lines = append(lines, promisesOf(t, dir, file)...)
		}
	}
	slices.Sort(lines)
	page := "# What the engine promises\n\nEach promise is a test of this name, run on every store and database with each change. `make soak` runs them\n" +
		"with fresh seeds for as long as you like.\n\n| No. | Promise | Test |\n|---|---|---|\n" + strings.Join(lines, "\n") + "\n"
	path := filepath.Join(root, "docs", "promises.md")
	if *updatePage {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(page), 0o600))
	}
	stored, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, page, string(stored), "run: go test ./engine/enginetest/promises -run ThePageOfPromises -promise.update")
}

// promisesOf are the table's lines for the promises in a file.
func promisesOf(t *testing.T, dir, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	require.NoError(t, err)
	var lines []string
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(f.Name.Name, "TestPromise") {
			continue
		}
		name := f.Name.Name
		number := strings.TrimPrefix(name, "TestPromise")[:2]
		says := strings.Join(strings.Fields(strings.TrimPrefix(f.Doc.Text(), name)), " ")
		says = strings.TrimPrefix(says, "promises that ")
		require.NotEmpty(t, says, "%s says nothing of its promise", name)
		runes := []rune(says)
		runes[0] = unicode.ToUpper(runes[0])
		lines = append(lines, fmt.Sprintf("| %s | %s | [%s](../%s/%s) |", number, string(runes), name, dir, filepath.Base(file)))
	}
	return lines
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"sluice/engine"
)

// maxFile bounds a workflow file.
const maxFile = 16 << 20

// readFile reads a workflow file; "-" is standard input.
func readFile(path string, s streams) ([]byte, error) {
	in := s.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, exitError{code: exitInvalid, message: err.Error()}
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, exitError{code: exitInvalid, message: path + " is a directory, not a workflow file"}
		}
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(data) > maxFile {
		return nil, exitError{code: exitInvalid, message: fmt.Sprintf("%s is larger than %d bytes", path, maxFile)}
	}
	return data, nil
}

// checked is a workflow file with all that is wrong with it.
type checked struct {
	def    *engine.Definition
	issues engine.Issues
}

// check reads a definition in any of the accepted forms and validates it.
func check(data []byte, reg *engine.Registry) (checked, error) {
	def, issues, err := engine.Import(data, reg)
	if err != nil {
		return checked{}, exitError{code: exitInvalid, message: err.Error()}
	}
	return checked{def: def, issues: append(issues, engine.Validate(def, reg)...)}, nil
}

// countOf is "1 error" or "3 errors".
func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// printIssues writes issues for people, one a line.
func printIssues(w io.Writer, issues engine.Issues) {
	for _, i := range issues {
		where := i.NodeID
		if i.Field != "" {
			if where != "" {
				where += " "
			}
			where += i.Field
		}
		if where != "" {
			where += ": "
		}
		fmt.Fprintf(w, "%s: %s%s [%s]\n", i.Severity, where, i.Message, i.Code)
		if i.Fix != "" {
			fmt.Fprintf(w, "    %s\n", i.Fix)
		}
	}
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

type validateCommand struct {
	File string `arg:"" help:"Workflow file, or - for standard input."`
	JSON bool   `name:"json" help:"Print {valid, issues} as JSON."`
}

// Run checks the file. The exit code is 2 if it can't run.
func (c *validateCommand) Run(_ context.Context, s streams, cfg *config) error {
	data, err := readFile(c.File, s)
	if err != nil {
		return err
	}
	reg, err := registry(cfg, memoryRecipes())
	if err != nil {
		return err
	}
	w, err := check(data, reg)
	if err != nil {
		return err
	}
	valid := !w.issues.HasErrors()
	if c.JSON {
		issues := w.issues
		if issues == nil {
			issues = engine.Issues{}
		}
		if err := writeJSON(s.out, map[string]any{"valid": valid, "issues": issues}); err != nil {
			return err
		}
	} else {
		printIssues(s.out, w.issues)
		errs, warns := len(w.issues.Of(engine.SeverityError)), len(w.issues.Of(engine.SeverityWarning))
		verdict := "valid"
		if !valid {
			verdict = "invalid"
		}
		fmt.Fprintf(s.out, "%s: %s (%d errors, %d warnings)\n", c.File, verdict, errs, warns)
	}
	if !valid {
		return exitError{code: exitInvalid}
	}
	return nil
}

type versionCommand struct{}

// Run prints the version.
func (*versionCommand) Run(_ context.Context, s streams) error {
	_, err := fmt.Fprintln(s.out, "sluice", version)
	return err
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"sluice/engine"
	"sluice/engine/expr"
	"sluice/engine/memstore"
)

type runCommand struct {
	File    string            `arg:"" help:"Workflow file, or - for standard input."`
	Set     map[string]string `name:"set" short:"i" mapsep:"none" help:"An input field (k=v). The value is read as JSON where it is JSON, else as text." placeholder:"K=V"`
	Input   string            `help:"The whole input as JSON, or @FILE." placeholder:"JSON"`
	Var     map[string]string `name:"var" mapsep:"none" help:"A workflow variable (k=v), like -i." placeholder:"K=V"`
	Decide  map[string]string `mapsep:"none" help:"The answer to an approval (node=outcome). Without one the command ends with code 3." placeholder:"NODE=OUTCOME"`
	Comment string            `help:"Comment of the answers given with --decide."`
	JSON    bool              `name:"json" help:"Print run_id, status, output, variables and log as JSON."`
	DB      bool              `name:"db" help:"Keep the run in the database instead of in memory."`
}

// report is what the command prints.
type report struct {
	RunID     string            `json:"run_id"`
	Status    engine.RunStatus  `json:"status"`
	Output    json.RawMessage   `json:"output"`
	Error     *engine.StepError `json:"error,omitempty"`
	Variables json.RawMessage   `json:"variables"`
	Log       []engine.LogEntry `json:"log"`
	Approvals []openApproval    `json:"approvals,omitempty"`
}

// openApproval is an approval that a parked run waits for.
type openApproval struct {
	Address  string   `json:"address"`
	Title    string   `json:"title"`
	Outcomes []string `json:"outcomes"`
}

// account is the account of runs in memory.
const account = "local"

// Run runs the file in this process.
func (c *runCommand) Run(ctx context.Context, s streams, cfg *config) error {
	data, err := readFile(c.File, s)
	if err != nil {
		return err
	}
	input, err := c.input()
	if err != nil {
		return err
	}
	variables, err := fields(c.Var)
	if err != nil {
		return err
	}
	if c.DB {
		return c.runInDatabase(ctx, s, cfg, data, input, variables)
	}
	reg, err := registry(cfg, memoryRecipes())
	if err != nil {
		return err
	}
	w, err := c.checkFile(data, input, reg, s)
	if err != nil {
		return err
	}
	canonical, hash, err := w.def.Canonical()
	if err != nil {
		return fmt.Errorf("write the canonical form: %w", err)
	}
	store := memstore.New(nil)
	store.AddDefinition(hash, canonical)
	e, err := engine.New(engine.Config{Store: store, Definitions: store, Registry: reg, Logger: logger(cfg, s.err)})
	if err != nil {
		return err
	}
	return c.drive(ctx, s, e, store, engine.Run{
		AccountID: account, WorkflowID: "file", DefinitionHash: hash, Input: input, Variables: variables,
		StartedBy: engine.Actor{Kind: "cli", ID: "cli", Name: cfg.userName()},
	})
}

// checkFile validates the file and the input, and prints what is wrong.
func (c *runCommand) checkFile(data []byte, input json.RawMessage, reg *engine.Registry, s streams) (checked, error) {
	w, err := check(data, reg)
	if err != nil {
		return w, err
	}
	if w.issues.HasErrors() {
		printIssues(s.err, w.issues.Of(engine.SeverityError))
		return w, exitError{code: exitInvalid, message: c.File + " is not valid"}
	}
	if err := c.checkDecisions(w.def); err != nil {
		return w, err
	}
	c.warnOfVariables(w.def, s)
	if len(w.def.InputSchema) == 0 {
		return w, nil
	}
	problems, err := reg.Schemas().Check(w.def.InputSchema, input, false)
	if err != nil {
		return w, exitError{code: exitInvalid, message: "input_schema: " + err.Error()}
	}
	for _, p := range problems {
		fmt.Fprintf(s.err, "error: input.%s: %s\n", p.Path, p.Message)
	}
	if len(problems) > 0 {
		return w, exitError{code: exitInvalid, message: "the input does not fit the workflow"}
	}
	return w, nil
}

// checkDecisions refuses answers to what is no node of the workflow.
func (c *runCommand) checkDecisions(def *engine.Definition) error {
	ids := make([]string, len(def.Nodes))
	for i := range def.Nodes {
		ids[i] = def.Nodes[i].ID
	}
	for _, where := range slices.Sorted(maps.Keys(c.Decide)) {
		id := where[strings.LastIndexByte(where, '/')+1:] // of an address such as each[3]/review
		if !slices.Contains(ids, id) {
			return exitError{code: exitInvalid, message: fmt.Sprintf("--decide %s=%s: the workflow has no node %q", where, c.Decide[where], id)}
		}
	}
	return nil
}

// warnOfVariables tells of input fields that were likely meant for variables.
func (c *runCommand) warnOfVariables(def *engine.Definition, s streams) {
	var variables map[string]json.RawMessage
	if len(def.InputSchema) > 0 || len(def.Variables) == 0 || json.Unmarshal(def.Variables, &variables) != nil {
		return
	}
	for _, k := range slices.Sorted(maps.Keys(c.Set)) {
		if _, ok := variables[k]; ok {
			fmt.Fprintf(s.err, "warning: -i %s sets an input field; for the variable of this name use --var %s=…\n", k, k)
		}
	}
}

// store is what drive reads back.
type runStore interface {
	Load(ctx context.Context, accountID, runID string) (engine.Snapshot, error)
}

// drive starts the run, answers its approvals, and reports how it ended.
func (c *runCommand) drive(ctx context.Context, s streams, e *engine.Engine, store runStore, run engine.Run) error {
	if err := e.Start(ctx); err != nil {
		return err
	}
	defer func() {
		if err := e.Stop(context.WithoutCancel(ctx)); err != nil {
			fmt.Fprintln(s.err, "sluice:", err)
		}
	}()
	run, _, err := e.StartRun(ctx, engine.NewRun{Run: run})
	if err != nil {
		return err
	}
	for {
		current, err := e.Await(ctx, run.AccountID, run.ID)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return exitError{code: exitFailed, message: "interrupted"}
		}
		snap, err := store.Load(ctx, run.AccountID, run.ID)
		if err != nil {
			return fmt.Errorf("read run: %w", err)
		}
		if !current.Status.Terminal() {
			answered, err := c.answer(ctx, e, snap)
			if err != nil {
				return err
			}
			if answered {
				continue
			}
		}
		return c.report(ctx, s, e, snap)
	}
}

// answer gives the answers that the command line has for the open approvals.
func (c *runCommand) answer(ctx context.Context, e *engine.Engine, snap engine.Snapshot) (bool, error) {
	if snap.Run.Status.Terminal() {
		return true, nil // it went on by itself meanwhile
	}
	answered := len(snap.Parks) == 0
	for _, p := range snap.Parks {
		outcome, ok := c.Decide[p.Address]
		if !ok {
			outcome, ok = c.Decide[p.NodeID]
		}
		if !ok || p.Approval == nil {
			continue
		}
		_, err := e.Answer(ctx, engine.AnswerRequest{
			AccountID: snap.Run.AccountID, ParkID: p.ID, By: snap.Run.StartedBy, Outcome: outcome, Comment: c.Comment,
		})
		if bad := (*engine.InvalidError)(nil); errors.As(err, &bad) {
			return false, exitError{code: exitInvalid, message: fmt.Sprintf("--decide %s=%s: %s", p.NodeID, outcome, bad.Message)}
		}
		if err != nil && !errors.Is(err, engine.ErrConflict) {
			return false, err
		}
		answered = true
	}
	return answered, nil
}

// report prints the run and ends with the code that its status asks for.
func (c *runCommand) report(ctx context.Context, s streams, e *engine.Engine, snap engine.Snapshot) error {
	variables, err := e.Variables(ctx, snap)
	if err != nil {
		return err
	}
	r := report{
		RunID: snap.Run.ID, Status: snap.Run.Status, Output: snap.Run.Output, Error: snap.Run.Error,
		Variables: variables, Log: engine.ExecutionLog(snap),
	}
	for _, p := range snap.Parks {
		if p.Approval == nil {
			continue
		}
		a := openApproval{Address: p.Address, Title: p.Approval.Title}
		for _, o := range p.Outcomes {
			a.Outcomes = append(a.Outcomes, o.ID)
		}
		r.Approvals = append(r.Approvals, a)
	}
	if c.JSON {
		if err := writeJSON(s.out, r); err != nil {
			return err
		}
	} else {
		r.print(s)
	}
	switch {
	case snap.Run.Status == engine.RunSucceeded:
		return nil
	case snap.Run.Status.Terminal():
		return exitError{code: exitFailed}
	default:
		return exitError{code: exitParked}
	}
}

// print writes the report for people.
func (r report) print(s streams) {
	for _, l := range r.Log {
		fmt.Fprintf(s.out, "%-10s %-14s %8.1f ms  %s\n", l.Status, l.NodeType, l.DurationMS, l.Address)
		if l.Error != nil {
			fmt.Fprintf(s.out, "           %s\n", l.Error)
		}
		if l.Warning != "" {
			fmt.Fprintf(s.out, "           warning: %s\n", l.Warning)
		}
	}
	for _, a := range r.Approvals {
		fmt.Fprintf(s.out, "waits      %s  %s  (--decide %s=%s)\n", a.Address, a.Title, a.Address, strings.Join(a.Outcomes, "|"))
	}
	fmt.Fprintf(s.out, "%s  %s\n", r.Status, r.RunID)
	if len(r.Output) > 0 {
		fmt.Fprintln(s.out, string(r.Output))
	}
}

// input joins --input and -i into one JSON object.
func (c *runCommand) input() (json.RawMessage, error) {
	text := c.Input
	if path, ok := strings.CutPrefix(text, "@"); ok {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, exitError{code: exitInvalid, message: "--input: " + err.Error()}
		}
		text = string(b)
	}
	whole := expr.NewObject()
	if text != "" {
		v, err := expr.Decode([]byte(text))
		if err != nil {
			return nil, exitError{code: exitInvalid, message: "--input is not JSON: " + err.Error()}
		}
		o, ok := v.(*expr.Object)
		if !ok {
			return nil, exitError{code: exitInvalid, message: "--input must be a JSON object"}
		}
		whole = o
	}
	return join(whole, c.Set)
}

func fields(set map[string]string) (json.RawMessage, error) { return join(expr.NewObject(), set) }

func join(o *expr.Object, set map[string]string) (json.RawMessage, error) {
	for k, text := range set {
		v, err := expr.Decode([]byte(text))
		if err != nil {
			v = text
		}
		o.Set(k, v)
	}
	raw, err := expr.Encode(o)
	if err != nil {
		return nil, exitError{code: exitInvalid, message: err.Error()}
	}
	return raw, nil
}

func (c *config) userName() string {
	if c.User != "" {
		return c.User
	}
	return "command line"
}

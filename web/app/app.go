// Package app is what pages and API do with workflows, runs and approvals, once:
// both decode, call it and show what it gives.
package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sluice/engine"
	"sluice/models"
	"sluice/web/auth"
)

// Engine is what the service needs of the engine.
type Engine interface {
	StartRun(ctx context.Context, n engine.NewRun) (engine.Run, bool, error)
	Answer(ctx context.Context, r engine.AnswerRequest) (engine.Answered, error)
	Cancel(ctx context.Context, accountID, runID string, by engine.Actor, reason string) (engine.Run, error)
	Retry(ctx context.Context, accountID, runID string, by engine.Actor) (engine.Run, error)
	Fork(ctx context.Context, r engine.ForkRequest) (engine.Run, error)
	Await(ctx context.Context, accountID, runID string) (engine.Run, error)
	Definition(ctx context.Context, hash string) (*engine.Definition, error)
}

// Service does the work behind pages and API.
type Service struct {
	DB       *models.DB
	Engine   Engine
	Registry *engine.Registry
	// Ended is told the credential of each token that ends, if it is set; see
	// [auth.Principal.Credential].
	Ended func(credential string)
}

// Checked is a stored workflow with what validation says of its draft.
type Checked struct {
	models.Workflow
	Issues engine.Issues
}

// Read parses a document in any form and validates it. The error, an
// *engine.InvalidError, is for what is no workflow at all.
func (s *Service) Read(data []byte) (*engine.Definition, engine.Issues, error) {
	def, issues, err := engine.Import(data, s.Registry)
	if err != nil {
		return nil, nil, err
	}
	return def, append(issues, engine.Validate(def, s.Registry)...), nil
}

// untitled names workflows that come without a name.
const untitled = "Untitled workflow"

func draftOf(def *engine.Definition, by auth.Principal) (models.Draft, error) {
	body, _, err := def.Canonical()
	if err != nil {
		return models.Draft{}, err
	}
	name := def.Name
	if name == "" {
		name = untitled
	}
	if n := utf8.RuneCountInString(name); n > engine.MaxName {
		return models.Draft{}, invalid("name", fmt.Sprintf("the name has %d characters; at most %d are allowed", n, engine.MaxName))
	}
	if n := utf8.RuneCountInString(def.Description); n > engine.MaxDescription {
		return models.Draft{}, invalid("description", fmt.Sprintf("the description has %d characters; at most %d are allowed", n, engine.MaxDescription))
	}
	return models.Draft{Name: name, Description: def.Description, Body: string(body), By: by.Name}, nil
}

// Create stores a workflow from a document in any form. Drafts may have errors;
// they only keep it from running. A name, if given, replaces the document's.
func (s *Service) Create(ctx context.Context, p auth.Principal, data []byte, name string) (Checked, error) {
	def, issues, err := s.Read(data)
	if err != nil {
		return Checked{}, err
	}
	if name != "" {
		def.Name = name
	}
	if def.Name == "" {
		def.Name = untitled
	}
	draft, err := draftOf(def, p)
	if err != nil {
		return Checked{}, err
	}
	w, err := s.DB.CreateWorkflow(ctx, p.AccountID, draft)
	return Checked{w, issues}, err
}

// Blank is a new workflow's document: a trigger joined to an end.
func Blank(name string) []byte {
	def := engine.Definition{
		Name: name,
		Nodes: []engine.Node{
			{ID: "start", Type: "trigger", Label: "Start", Position: &engine.Position{X: 0, Y: 0}},
			{ID: "end", Type: "end", Label: "Done", Position: &engine.Position{X: 320, Y: 0}},
		},
		Edges: []engine.Edge{{Source: "start", Target: "end"}},
	}
	raw, err := def.MarshalJSON()
	if err != nil {
		return []byte(`{"nodes":[],"edges":[]}`)
	}
	return raw
}

// Get finds a workflow and validates its draft.
func (s *Service) Get(ctx context.Context, p auth.Principal, id string) (Checked, error) {
	w, err := s.DB.Workflow(ctx, p.AccountID, id)
	if err != nil {
		return Checked{}, err
	}
	_, issues, err := s.Read([]byte(w.Draft))
	return Checked{w, issues}, err
}

// Save replaces a draft that is still at the revision given; else the error is a
// *models.StaleError.
func (s *Service) Save(ctx context.Context, p auth.Principal, id string, revision int64, data []byte) (Checked, error) {
	def, issues, err := s.Read(data)
	if err != nil {
		return Checked{}, err
	}
	draft, err := draftOf(def, p)
	if err != nil {
		return Checked{}, err
	}
	w, err := s.DB.SaveDraft(ctx, p.AccountID, id, revision, draft)
	return Checked{w, issues}, err
}

// Duplicate copies a workflow's draft under another name.
func (s *Service) Duplicate(ctx context.Context, p auth.Principal, id string) (Checked, error) {
	w, err := s.DB.Workflow(ctx, p.AccountID, id)
	if err != nil {
		return Checked{}, err
	}
	const mark = " (copy)"
	name := []rune(w.Name)
	return s.Create(ctx, p, []byte(w.Draft), string(name[:min(len(name), engine.MaxName-len(mark))])+mark)
}

// invalidWorkflow refuses to publish or run what has errors.
func invalidWorkflow(issues engine.Issues) error {
	if !issues.HasErrors() {
		return nil
	}
	return &engine.InvalidError{Message: "the workflow has errors", Issues: issues}
}

// Publish makes an immutable version of the draft at a revision.
func (s *Service) Publish(ctx context.Context, p auth.Principal, id string, revision int64, notes string) (models.WorkflowVersion, error) {
	w, err := s.DB.Workflow(ctx, p.AccountID, id)
	if err != nil {
		return models.WorkflowVersion{}, err
	}
	if w.DraftRevision != revision {
		return models.WorkflowVersion{}, &models.StaleError{Current: w.DraftRevision, UpdatedBy: w.UpdatedBy, UpdatedAt: w.UpdatedAt.Time}
	}
	// The store checks the revision again: the draft that was read here is the one
	// that is published.
	v, err := s.version(ctx, p, w, notes, true, revision)
	if err != nil {
		return v, err
	}
	return v, s.Audit(ctx, p, "workflow.published", id, map[string]any{"version": v.Version})
}

// version compiles the draft and stores it as a version.
func (s *Service) version(ctx context.Context, p auth.Principal, w models.Workflow, notes string, publish bool, revision int64) (models.WorkflowVersion, error) {
	def, issues, err := s.Read([]byte(w.Draft))
	if err != nil {
		return models.WorkflowVersion{}, err
	}
	if err := invalidWorkflow(issues); err != nil {
		return models.WorkflowVersion{}, err
	}
	body, hash, err := def.Canonical()
	if err != nil {
		return models.WorkflowVersion{}, err
	}
	v := models.WorkflowVersion{AccountID: p.AccountID, WorkflowID: w.ID, Hash: hash, Notes: notes, CreatedBy: p.Name}
	return s.DB.AddVersion(ctx, v, string(body), publish, revision)
}

// StartRequest asks for a run.
type StartRequest struct {
	WorkflowID string
	// Draft runs the saved draft even if a version is published.
	Draft          bool
	Input          json.RawMessage
	Variables      json.RawMessage
	IdempotencyKey string
	By             engine.Actor
}

// Start runs a workflow: its latest published version, or its draft. created is
// false if the idempotency key named an earlier run.
func (s *Service) Start(ctx context.Context, p auth.Principal, r StartRequest) (run engine.Run, created bool, err error) {
	w, err := s.DB.Workflow(ctx, p.AccountID, r.WorkflowID)
	if err != nil {
		return run, false, err
	}
	var v models.WorkflowVersion
	if r.Draft || w.PublishedVersion == 0 {
		v, err = s.version(ctx, p, w, "", false, 0)
	} else {
		v, err = s.DB.Version(ctx, p.AccountID, w.ID, w.PublishedVersion)
	}
	if err != nil {
		return run, false, err
	}
	if err := s.checkInput(ctx, v.ID, v.Hash, &r); err != nil {
		return run, false, err
	}
	if r.By == (engine.Actor{}) {
		r.By = p.Actor()
	}
	return s.Engine.StartRun(ctx, engine.NewRun{Run: engine.Run{
		AccountID: p.AccountID, WorkflowID: w.ID, VersionID: v.ID, DefinitionHash: v.Hash, Input: r.Input, Variables: r.Variables,
		IdempotencyKey: r.IdempotencyKey, StartedBy: r.By,
	}})
}

// Fork starts a new run from a step of another, with another input where one is
// given.
func (s *Service) Fork(ctx context.Context, p auth.Principal, runID, from string, input json.RawMessage) (engine.Run, error) {
	old, err := s.DB.Run(ctx, p.AccountID, runID)
	if err != nil {
		return engine.Run{}, err
	}
	if len(input) > 0 {
		r := StartRequest{Input: input}
		if err := s.checkInput(ctx, old.VersionID, old.DefinitionHash, &r); err != nil {
			return engine.Run{}, err
		}
		input = r.Input
	}
	return s.Engine.Fork(ctx, engine.ForkRequest{AccountID: p.AccountID, RunID: runID, From: from, Input: input, By: p.Actor()})
}

// StepTitle is what people call the step at an address of a run: its label, and the
// items of the loops that it is in, counted from one. Where that can't be told it is
// the address itself.
func (s *Service) StepTitle(ctx context.Context, accountID, runID, address string) string {
	run, err := s.DB.Run(ctx, accountID, runID)
	if err != nil {
		return address
	}
	def, err := s.Engine.Definition(ctx, run.DefinitionHash)
	if err != nil {
		return address
	}
	id := address[strings.LastIndexByte(address, '/')+1:]
	title := ""
	for i := range def.Nodes {
		if def.Nodes[i].ID == id {
			title = def.Nodes[i].Title()
		}
	}
	if title == "" {
		return address
	}
	words := []string{title}
	for part := range strings.SplitSeq(address, "/") {
		open := strings.LastIndexByte(part, '[')
		if n, err := strconv.Atoi(strings.TrimSuffix(part[open+1:], "]")); open > 0 && err == nil {
			words = append(words, fmt.Sprintf("item %d", n+1))
		}
	}
	return strings.Join(words, " · ")
}

// Prepare makes the run of a draft without starting it.
func (s *Service) Prepare(ctx context.Context, p auth.Principal, w models.Workflow, input, variables json.RawMessage) (engine.Run, error) {
	v, err := s.version(ctx, p, w, "", false, 0)
	if err != nil {
		return engine.Run{}, err
	}
	return engine.Run{
		AccountID: p.AccountID, WorkflowID: w.ID, VersionID: v.ID, DefinitionHash: v.Hash, Input: input, Variables: variables, StartedBy: p.Actor(),
	}, nil
}

// checkInput holds an input against the version's schema.
func (s *Service) checkInput(ctx context.Context, versionID, hash string, r *StartRequest) error {
	if len(r.Input) == 0 || string(r.Input) == "null" {
		r.Input = json.RawMessage("{}")
	}
	// The same input is the same, however it is spaced.
	var b bytes.Buffer
	if err := json.Compact(&b, r.Input); err != nil {
		return invalid("input", "input is not JSON: "+err.Error())
	}
	r.Input = b.Bytes()
	for field, raw := range map[string]json.RawMessage{"input": r.Input, "variables": r.Variables} {
		if len(raw) > 0 && string(raw) != "null" && raw[0] != '{' {
			return invalid(field, field+" must be a JSON object")
		}
	}
	if string(r.Variables) == "null" {
		r.Variables = nil
	}
	def, err := s.Engine.Definition(ctx, hash)
	if err != nil {
		return fmt.Errorf("read version %s: %w", versionID, err)
	}
	if len(def.InputSchema) == 0 {
		return nil
	}
	problems, err := s.Registry.Schemas().Check(def.InputSchema, r.Input, false)
	if err != nil {
		return invalid("input_schema", err.Error())
	}
	if len(problems) == 0 {
		return nil
	}
	bad := &engine.InvalidError{Message: "the input does not fit the workflow"}
	for _, pr := range problems {
		field := "input"
		if pr.Path != "" {
			field += "." + pr.Path
		}
		bad.Issues = append(bad.Issues, engine.Issue{Code: "bad_input", Severity: engine.SeverityError, Field: field, Message: pr.Message})
	}
	return bad
}

func invalid(field, message string) error {
	return &engine.InvalidError{Message: message, Issues: engine.Issues{{Code: "invalid", Severity: engine.SeverityError, Field: field, Message: message}}}
}

// Decision is a person's answer to an approval.
type Decision struct {
	Outcome string
	Comment string
	Data    json.RawMessage
}

// MayDecide says whether a person may answer an approval. Every way to answer one
// asks it.
func MayDecide(p auth.Principal, a models.ApprovalItem) bool {
	if a.AccountID != p.AccountID {
		return false
	}
	switch p.Role {
	case models.RoleOwner, models.RoleAdmin, models.RoleApprover:
		return true
	default:
		return false
	}
}

// Decide answers an approval and returns it as it is then. One of another account,
// or that the person may not answer, is not found.
func (s *Service) Decide(ctx context.Context, p auth.Principal, id string, d Decision) (models.ApprovalItem, error) {
	a, err := s.DB.Approval(ctx, p.AccountID, id)
	if err != nil {
		return a, err
	}
	if !MayDecide(p, a) {
		return models.ApprovalItem{}, fmt.Errorf("approval %s: %w", id, models.ErrNotFound)
	}
	// The answer must not depend on the request: a browser tab may close now.
	_, err = s.Engine.Answer(context.WithoutCancel(ctx), engine.AnswerRequest{
		AccountID: p.AccountID, ParkID: id, By: p.Actor(), Outcome: d.Outcome, Comment: d.Comment, Data: d.Data,
	})
	if err != nil {
		return a, err
	}
	return s.DB.Approval(ctx, p.AccountID, id)
}

// Audit notes what a person did.
func (s *Service) Audit(ctx context.Context, p auth.Principal, action, subject string, detail map[string]any) error {
	by, err := json.Marshal(p.Actor())
	if err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	text := ""
	if detail != nil {
		raw, err := json.Marshal(detail)
		if err != nil {
			return fmt.Errorf("audit %s: %w", action, err)
		}
		text = string(raw)
	}
	return s.DB.AddAudit(ctx, models.AuditEvent{AccountID: p.AccountID, Actor: string(by), Action: action, Subject: subject, Detail: text})
}

// Delete hides a workflow.
func (s *Service) Delete(ctx context.Context, p auth.Principal, id string) error {
	if err := s.DB.DeleteWorkflow(ctx, p.AccountID, id); err != nil {
		return err
	}
	return s.Audit(ctx, p, "workflow.deleted", id, nil)
}

// AwaitFor waits for a run to end or to need a person, at most for a time.
func (s *Service) AwaitFor(ctx context.Context, p auth.Principal, runID string, d time.Duration) (engine.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	run, err := s.Engine.Await(ctx, p.AccountID, runID)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return run, err
}

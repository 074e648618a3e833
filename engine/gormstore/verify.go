package gormstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/engine"
	"sluice/models"
)

// Verify holds the database against the invariants of [models.DB.Verify], and every
// run against its own workflow: each edge that was taken joins a step that is over to
// one that was begun, each skipped step has dead edges only, and no step took more
// attempts than it may.
func Verify(ctx context.Context, db *models.DB, reg *engine.Registry) ([]models.Violation, error) {
	out, err := db.Verify(ctx)
	if err != nil {
		return nil, err
	}
	s := New(db, Options{})
	plans := map[string]*engine.Plan{}
	for last := ""; ; {
		var ids []string
		if err := db.Read(ctx).Table("runs").Where("id > ?", last).Order("id").Limit(verifyPage).Pluck("id", &ids).Error; err != nil {
			return nil, fmt.Errorf("list runs: %w", err)
		}
		for _, id := range ids {
			broken, err := s.verifyRun(ctx, id, plans, reg)
			if err != nil {
				return nil, err
			}
			out = append(out, broken...)
		}
		if len(ids) < verifyPage {
			return out, nil
		}
		last = ids[len(ids)-1]
	}
}

const verifyPage = 500

func (s *Store) verifyRun(ctx context.Context, id string, plans map[string]*engine.Plan, reg *engine.Registry) ([]models.Violation, error) {
	snap, err := s.Load(ctx, "", id)
	if errors.Is(err, engine.ErrNotFound) {
		return nil, nil // deleted meanwhile
	}
	if err != nil {
		return nil, fmt.Errorf("verify run %s: %w", id, err)
	}
	hash := snap.Run.DefinitionHash
	plan, known := plans[hash]
	if !known {
		if plan, err = s.plan(ctx, hash, reg); err != nil {
			return nil, err
		}
		plans[hash] = plan
	}
	if plan == nil {
		// A kind may have gone since; only a run that goes on needs its workflow.
		if snap.Run.Status.Terminal() {
			return nil, nil
		}
		return []models.Violation{{Invariant: "a run that goes on has a workflow that compiles", RunID: id, Detail: hash}}, nil
	}
	c := checker{plan: plan, run: id, records: map[string]*engine.Record{}}
	for i := range snap.Records {
		if r := &snap.Records[i]; !r.Superseded {
			c.records[r.Address] = r
		}
	}
	for i := range snap.Records {
		if r := &snap.Records[i]; !r.Superseded {
			c.record(r)
		}
	}
	return c.broken, nil
}

// plan compiles a stored definition; nil if it is gone or does not compile.
func (s *Store) plan(ctx context.Context, hash string, reg *engine.Registry) (*engine.Plan, error) {
	raw, err := s.Definition(ctx, hash)
	if errors.Is(err, engine.ErrNotFound) {
		return nil, nil //nolint:nilnil // no plan is an answer
	}
	if err != nil {
		return nil, err
	}
	var def engine.Definition
	if json.Unmarshal(raw, &def) != nil {
		return nil, nil //nolint:nilnil // no plan is an answer
	}
	plan, _ := engine.Compile(&def, reg)
	return plan, nil
}

// checker holds the records of one run against its plan.
type checker struct {
	plan    *engine.Plan
	run     string
	records map[string]*engine.Record // live ones, by address
	broken  []models.Violation
}

func (c *checker) say(invariant, subject, format string, args ...any) {
	c.broken = append(c.broken, models.Violation{Invariant: invariant, RunID: c.run, Subject: subject, Detail: fmt.Sprintf(format, args...)})
}

func (c *checker) record(r *engine.Record) {
	n, ok := c.plan.ByID[r.NodeID]
	if !ok || r.Address != r.NodeID && !strings.HasSuffix(r.Address, "/"+r.NodeID) {
		c.say("a step belongs to a node of its workflow", r.Address, "node %q", r.NodeID)
		return
	}
	node := &c.plan.Nodes[n]
	if r.Attempt > node.Retry.MaxAttempts {
		c.say("attempts are within their limit", r.Address, "%d of %d", r.Attempt, node.Retry.MaxAttempts)
	}
	for _, e := range r.Taken {
		if !slices.Contains(node.Out, e) {
			c.say("a step takes edges of its own", r.Address, "edge %d", e)
		} else if !r.Status.Terminal() {
			c.say("edges are taken by steps that are over", r.Address, "%s", r.Status)
		}
	}
	c.edges(r, node, strings.TrimSuffix(r.Address, r.NodeID))
}

// edges looks at what led to a step.
func (c *checker) edges(r *engine.Record, node *engine.PlanNode, prefix string) {
	taken := 0
	for _, e := range node.In {
		id := c.plan.Nodes[c.plan.Edges[e].Source].Node.ID
		source := c.records[prefix+id]
		switch {
		case source == nil:
			c.say("a step begins when every step before it is over", r.Address, "%s was not reached", id)
		case !source.Status.Terminal():
			c.say("a step begins when every step before it is over", r.Address, "%s is %s", id, source.Status)
		case slices.Contains(source.Taken, e):
			taken++
		}
	}
	switch {
	case len(node.In) == 0:
	case r.Status == engine.StepSkipped && taken > 0:
		c.say("a skipped step has dead edges only", r.Address, "%d were taken", taken)
	case r.Status != engine.StepSkipped && taken == 0:
		c.say("a step that was begun has a taken edge", r.Address, "it is %s", r.Status)
	}
}

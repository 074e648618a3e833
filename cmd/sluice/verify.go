package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"sluice/engine/gormstore"
	"sluice/models"
)

type verifyCommand struct {
	JSON bool `name:"json" help:"Print {ok, violations} as JSON."`
}

// Run looks for rows that break an invariant. It changes nothing, and may run beside a
// server. The exit code is 1 if there are any.
func (c *verifyCommand) Run(ctx context.Context, s streams, cfg *config) (err error) {
	db, err := models.Open(ctx, cfg.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	reg, err := registry(cfg, memoryRecipes())
	if err != nil {
		return err
	}
	broken, err := gormstore.Verify(ctx, db, reg)
	if err != nil {
		return err
	}
	if err := c.print(s, broken); err != nil {
		return err
	}
	if len(broken) > 0 {
		return exitError{code: exitFailed}
	}
	return nil
}

func (c *verifyCommand) print(s streams, broken []models.Violation) error {
	if c.JSON {
		if broken == nil {
			broken = []models.Violation{}
		}
		return writeJSON(s.out, map[string]any{"ok": len(broken) == 0, "violations": broken})
	}
	if len(broken) == 0 {
		fmt.Fprintln(s.out, "the database keeps every invariant")
		return nil
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "INVARIANT\tRUN\tSUBJECT\tDETAIL")
	for _, v := range broken {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.Invariant, v.RunID, v.Subject, v.Detail)
	}
	return w.Flush()
}

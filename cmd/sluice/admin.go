package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/engine"
	"sluice/models"
	"sluice/web/auth"
)

type migrateCommand struct{}

// Run migrates the database and says what it applied.
func (*migrateCommand) Run(ctx context.Context, s streams, cfg *config) (err error) {
	db, err := models.Open(ctx, cfg.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	applied, err := db.Migrate(ctx)
	if err != nil {
		return err
	}
	for _, m := range applied {
		fmt.Fprintf(s.out, "applied %04d_%s\n", m.Version, m.Name)
	}
	if len(applied) == 0 {
		fmt.Fprintln(s.out, "the schema is current")
	}
	return nil
}

// withApp opens the product without serving, for commands on the database.
func withApp(ctx context.Context, s streams, cfg *config, do func(a *App, p auth.Principal) error) (err error) {
	a, err := openApp(ctx, cfg, logger(cfg, s.err))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close(context.WithoutCancel(ctx))) }()
	owner, _, err := a.db.Bootstrap(ctx)
	if err != nil {
		return err
	}
	return do(a, auth.Principal{AccountID: owner.AccountID, UserID: owner.ID, Name: owner.Name, Email: owner.Email, Role: owner.Role})
}

type importCommand struct {
	Files []string `arg:"" help:"Workflow files, or - for standard input."`
}

// Run stores each file as a new workflow.
func (c *importCommand) Run(ctx context.Context, s streams, cfg *config) error {
	return withApp(ctx, s, cfg, func(a *App, p auth.Principal) error {
		for _, f := range c.Files {
			data, err := readFile(f, s)
			if err != nil {
				return err
			}
			w, err := a.service.Create(ctx, p, data, "")
			if err != nil {
				return exitError{code: exitInvalid, message: f + ": " + err.Error()}
			}
			fmt.Fprintf(s.out, "%s  %s\n", w.ID, w.Name)
			printIssues(s.err, w.Issues)
			if n := len(w.Issues.Of(engine.SeverityError)); n > 0 {
				fmt.Fprintf(s.err, "%s: stored as a draft that can't run: %s\n", f, countOf(n, "error"))
			}
		}
		return nil
	})
}

type exportCommand struct {
	ID string `arg:"" help:"Id of a workflow."`
}

// Run prints the workflow's draft in canonical form.
func (c *exportCommand) Run(ctx context.Context, s streams, cfg *config) error {
	return withApp(ctx, s, cfg, func(a *App, p auth.Principal) error {
		w, err := a.db.Workflow(ctx, p.AccountID, c.ID)
		if errors.Is(err, models.ErrNotFound) {
			return exitError{code: exitInvalid, message: fmt.Sprintf("there is no workflow %q", c.ID)}
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(s.out, w.Draft)
		return nil
	})
}

type userCommand struct {
	LoginLink loginLinkCommand `cmd:"" help:"Print a link that signs a user in, once."`
	List      userListCommand  `cmd:"" help:"List users."`
}

type loginLinkCommand struct {
	Email string        `default:"owner@localhost" help:"Whom to sign in."`
	For   time.Duration `default:"1h" help:"How long the link is good."`
}

// Run prints a fresh link; earlier ones end.
func (c *loginLinkCommand) Run(ctx context.Context, s streams, cfg *config) error {
	return withApp(ctx, s, cfg, func(a *App, _ auth.Principal) error {
		u, err := a.db.UserByEmail(ctx, c.Email)
		if errors.Is(err, models.ErrNotFound) {
			return exitError{code: exitInvalid, message: fmt.Sprintf("there is no user %q", c.Email)}
		}
		if err != nil {
			return err
		}
		base := cfg.BaseURL
		if base == "" {
			base = "http://" + cfg.Addr
		}
		a.baseURL = base
		link, err := a.loginLink(ctx, u, c.For)
		if err != nil {
			return err
		}
		fmt.Fprintln(s.out, link)
		return nil
	})
}

type userListCommand struct{}

// Run lists the users.
func (*userListCommand) Run(ctx context.Context, s streams, cfg *config) error {
	return withApp(ctx, s, cfg, func(a *App, p auth.Principal) error {
		users, err := a.db.Users(ctx, p.AccountID)
		if err != nil {
			return err
		}
		for _, u := range users {
			fmt.Fprintf(s.out, "%-10s %-30s %s\n", u.Role, u.Email, u.Name)
		}
		return nil
	})
}

// runInDatabase stores the file as a workflow and runs it there, in this process.
func (c *runCommand) runInDatabase(ctx context.Context, s streams, cfg *config, data, input, variables []byte) error {
	return withApp(ctx, s, cfg, func(a *App, p auth.Principal) error {
		if _, err := c.checkFile(data, input, a.service.Registry, s); err != nil {
			return err
		}
		w, err := a.service.Create(ctx, p, data, "")
		if err != nil {
			return exitError{code: exitInvalid, message: err.Error()}
		}
		run, err := a.service.Prepare(ctx, p, w.Workflow, input, variables)
		if err != nil {
			return err
		}
		run.StartedBy.Kind, run.StartedBy.Name = "cli", cfg.userName()
		return c.drive(ctx, s, a.engine, a.store, run)
	})
}

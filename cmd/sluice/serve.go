package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"sluice/engine"
	"sluice/engine/examples"
	"sluice/models"
	"sluice/web/app"
	"sluice/web/auth"
)

type serveCommand struct{}

// firstLink is how long the link of the first start is good.
const firstLink = 24 * time.Hour

// Run starts the server and stops it when ctx ends.
func (*serveCommand) Run(ctx context.Context, s streams, cfg *config) (err error) {
	log := logger(cfg, s.err)
	a, err := openApp(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close(context.WithoutCancel(ctx))) }()
	if err := a.Listen(ctx); err != nil {
		return err
	}
	if err := a.firstStart(ctx, s.out); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "Sluice %s is ready at %s\n", version, a.baseURL)
	return a.Run(ctx)
}

// firstStart makes the owner, the examples and the bootstrap token where they are
// absent, and prints a sign-in link if nobody has signed in yet.
func (a *App) firstStart(ctx context.Context, out io.Writer) error {
	owner, created, err := a.db.Bootstrap(ctx)
	if err != nil {
		return err
	}
	if created {
		if err := a.loadExamples(ctx, owner); err != nil {
			return err
		}
	}
	if a.cfg.BootstrapToken != "" {
		if err := a.db.EnsureAPIToken(ctx, owner, "bootstrap", a.cfg.BootstrapToken); err != nil {
			return err
		}
	}
	fresh, err := a.db.NeverSignedIn(ctx, owner)
	if err != nil || !fresh || !a.cfg.web() {
		return err
	}
	link, err := a.loginLink(ctx, owner, firstLink)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\nOpen this link to sign in. It works once, for a day:\n\n    %s\n\n", link)
	return err
}

func (a *App) loginLink(ctx context.Context, u models.User, ttl time.Duration) (string, error) {
	token, err := a.db.CreateLoginToken(ctx, u, ttl)
	return a.baseURL + "/login/" + token, err
}

// loadExamples stores the embedded recipes and workflows.
func (a *App) loadExamples(ctx context.Context, owner models.User) error {
	p := auth.Principal{AccountID: owner.AccountID, UserID: owner.ID, Name: "Sluice", Role: owner.Role}
	recipes, err := examples.Recipes()
	if err != nil {
		return fmt.Errorf("read the built-in recipes: %w", err)
	}
	for _, r := range recipes {
		d := app.RecipeDraft{
			Name: r.Name, Description: r.Description, Notes: "Comes with Sluice", System: r.System, Prompt: r.Prompt,
			InputSchema: r.InputSchema, OutputSchema: r.OutputSchema, Parameters: parametersOf(r.Parameters),
		}
		if _, _, err := a.service.SaveRecipe(ctx, p, d); err != nil {
			return fmt.Errorf("store recipe %s: %w", r.Name, err)
		}
	}
	all, err := examples.All()
	if err != nil {
		return fmt.Errorf("read the examples: %w", err)
	}
	// The last stored is the first in the list.
	for _, a0 := range slices.Backward(all) {
		c, err := a.service.Create(ctx, p, a0.Definition, "")
		if err != nil {
			return fmt.Errorf("store example %s: %w", a0.Slug, err)
		}
		if c.Issues.HasErrors() {
			return fmt.Errorf("example %s: %w", a0.Slug, &engine.InvalidError{Message: c.Issues[0].Message, Issues: c.Issues})
		}
	}
	return nil
}

func parametersOf(p examples.Parameters) []byte {
	switch {
	case p.Temperature != nil && p.MaxTokens > 0:
		return fmt.Appendf(nil, `{"temperature":%g,"max_tokens":%d}`, *p.Temperature, p.MaxTokens)
	case p.Temperature != nil:
		return fmt.Appendf(nil, `{"temperature":%g}`, *p.Temperature)
	case p.MaxTokens > 0:
		return fmt.Appendf(nil, `{"max_tokens":%d}`, p.MaxTokens)
	default:
		return nil
	}
}

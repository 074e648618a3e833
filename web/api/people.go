package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/models"
	"sluice/web/auth"
)

// Token is an API token without its text.
type Token struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Hint       string     `json:"hint" doc:"the token's last characters"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
	CreatedAt  time.Time  `json:"created_at"`
	// Token is the text itself, in the answer to its creation only.
	Token string `json:"token,omitempty"`
}

func tokenOf(t models.APIToken) Token {
	return Token{ID: t.ID, Name: t.Name, Hint: t.Hint, LastUsedAt: timeOf(t.LastUsedAt), CreatedAt: t.CreatedAt.Time}
}

func (h *handlers) tokens(api huma.API) {
	huma.Register(api, op("GET", "/tokens", "list-tokens", "List API tokens", 200), func(ctx context.Context, _ *struct{}) (*body[list[Token]], error) {
		p, _ := auth.From(ctx)
		rows, err := h.App.DB.APITokens(ctx, p.AccountID)
		if err != nil {
			return nil, h.fail(ctx, err)
		}
		out := list[Token]{Items: make([]Token, len(rows))}
		for i, t := range rows {
			out.Items[i] = tokenOf(t)
		}
		return answer(out), nil
	})
	huma.Register(api, op("POST", "/tokens", "create-token", "Make an API token; its text is shown once", 201), func(ctx context.Context, in *struct {
		Body struct {
			Name string `json:"name" minLength:"1" maxLength:"100"`
		}
	},
	) (*body[Token], error) {
		p, _ := auth.From(ctx)
		t, text, err := h.App.CreateToken(ctx, p, in.Body.Name)
		if err != nil {
			return nil, h.fail(ctx, err)
		}
		out := tokenOf(t)
		out.Token = text
		return answer(out), nil
	})
	huma.Register(api, op("DELETE", "/tokens/{id}", "delete-token", "End an API token", 204), func(ctx context.Context, in *IDPath) (*struct{}, error) {
		p, _ := auth.From(ctx)
		if err := h.App.DeleteToken(ctx, p, in.ID); err != nil {
			return nil, h.fail(ctx, err)
		}
		return nil, nil
	})
}

// User is a person in the account.
type User struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
	Role  string `json:"role"`
}

func (h *handlers) people(api huma.API) {
	huma.Register(api, op("GET", "/users", "list-users", "List the account's users", 200), func(ctx context.Context, _ *struct{}) (*body[list[User]], error) {
		p, _ := auth.From(ctx)
		rows, err := h.App.DB.Users(ctx, p.AccountID)
		if err != nil {
			return nil, h.fail(ctx, err)
		}
		out := list[User]{Items: make([]User, len(rows))}
		for i, u := range rows {
			out.Items[i] = User{ID: u.ID, Name: u.Name, Email: u.Email, Role: u.Role}
		}
		return answer(out), nil
	})
}

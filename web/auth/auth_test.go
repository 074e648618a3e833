package auth_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/models"
	"sluice/models/modelstest"
	"sluice/web/auth"
)

// who answers with the name of whoever sends the request.
func who(w http.ResponseWriter, r *http.Request) {
	p, ok := auth.From(r.Context())
	if !ok {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_, _ = w.Write([]byte(p.Name + " " + p.Role))
}

func TestTokensNameTheirUser(t *testing.T) {
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		owner, _, err := db.Bootstrap(t.Context())
		require.NoError(t, err)
		row, token, err := db.CreateAPIToken(t.Context(), owner, "test")
		require.NoError(t, err)
		h := auth.New(db, false).Middleware(http.HandlerFunc(who))
		ask := func(header string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
			if header != "" {
				r.Header.Set("Authorization", header)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		require.Equal(t, "Owner owner", ask("Bearer "+token).Body.String())
		require.Equal(t, "Owner owner", ask("bearer  "+token).Body.String())
		for _, header := range []string{"", "Bearer", "Bearer ", "Bearer " + token + "x", "Basic " + token, token} {
			require.Equal(t, http.StatusUnauthorized, ask(header).Code, header)
		}
		rows, err := db.APITokens(t.Context(), owner.AccountID)
		require.NoError(t, err)
		require.False(t, rows[0].LastUsedAt.IsZero())
		require.NoError(t, db.DeleteAPIToken(t.Context(), owner.AccountID, row.ID))
		require.Equal(t, http.StatusUnauthorized, ask("Bearer "+token).Code)
	})
}

func TestSessionsEndWithTheirUser(t *testing.T) {
	t.Parallel()
	db := modelstest.SQLite(t)
	owner, _, err := db.Bootstrap(t.Context())
	require.NoError(t, err)
	for name, test := range map[string]struct {
		user   models.User
		secure bool
		want   int
	}{
		"known":           {owner, true, http.StatusOK},
		"unknown user":    {models.User{ID: models.NewID(), AccountID: owner.AccountID}, false, http.StatusUnauthorized},
		"another account": {models.User{ID: owner.ID, AccountID: models.NewID()}, false, http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			a := auth.New(db, test.secure)
			in := httptest.NewRecorder()
			a.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				require.NoError(t, a.SignIn(r.Context(), test.user))
			})).ServeHTTP(in, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody))
			cookies := in.Result().Cookies()
			require.Len(t, cookies, 1)
			c := cookies[0]
			require.True(t, c.HttpOnly)
			require.Equal(t, http.SameSiteLaxMode, c.SameSite)
			require.Equal(t, test.secure, c.Secure)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
			r.AddCookie(c)
			w := httptest.NewRecorder()
			a.Middleware(http.HandlerFunc(who)).ServeHTTP(w, r)
			require.Equal(t, test.want, w.Code)
		})
	}
}

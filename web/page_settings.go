package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"sluice/views/page"
)

func (s *Server) showSettings(c echo.Context) error { return s.settings(c, http.StatusOK, "", "") }

func (s *Server) settings(c echo.Context, status int, newToken, problem string) error {
	p := principal(c)
	shell, err := s.shell(c, "Settings", "settings")
	if err != nil {
		return err
	}
	vm := page.Settings{Shell: shell, Email: p.Email, Role: p.Role, NewToken: newToken, Error: problem}
	rows, err := s.app.DB.APITokens(c.Request().Context(), p.AccountID)
	if err != nil {
		return err
	}
	for _, t := range rows {
		vm.Tokens = append(vm.Tokens, page.TokenRow{ID: t.ID, Name: t.Name, Hint: t.Hint, CreatedAt: t.CreatedAt.Time, LastUsedAt: t.LastUsedAt.Time})
	}
	return s.render(c, status, page.SettingsPage(vm))
}

// createToken answers with the page itself: the token is shown once and must not
// travel through a redirect.
func (s *Server) createToken(c echo.Context) error {
	_, text, err := s.app.CreateToken(c.Request().Context(), principal(c), c.FormValue("name"))
	if err != nil {
		f := explain(err)
		if f.status != http.StatusUnprocessableEntity {
			return err
		}
		return s.settings(c, f.status, "", f.message)
	}
	return s.settings(c, http.StatusCreated, text, "")
}

func (s *Server) deleteToken(c echo.Context) error {
	if err := s.app.DeleteToken(c.Request().Context(), principal(c), c.Param("id")); err != nil {
		return err
	}
	flash(c, "The token was revoked")
	return c.Redirect(http.StatusSeeOther, "/settings")
}

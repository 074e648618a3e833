package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"sluice/models"
	"sluice/views/page"
	"sluice/web/auth"
)

func (s *Server) showLogin(c echo.Context) error {
	if _, ok := auth.From(c.Request().Context()); ok {
		return c.Redirect(http.StatusSeeOther, "/workflows")
	}
	return s.render(c, http.StatusOK, page.Login())
}

// showLoginToken only asks: mail scanners and previews follow links.
func (s *Server) showLoginToken(c echo.Context) error {
	usable, err := s.app.DB.LoginTokenUsable(c.Request().Context(), c.Param("token"))
	if err != nil {
		return err
	}
	status := http.StatusOK
	if !usable {
		status = http.StatusGone
	}
	return s.render(c, status, page.LoginToken(usable))
}

func (s *Server) useLoginToken(c echo.Context) error {
	ctx := c.Request().Context()
	u, err := s.app.DB.UseLoginToken(ctx, c.Param("token"))
	if errors.Is(err, models.ErrNotFound) {
		return s.render(c, http.StatusGone, page.LoginToken(false))
	}
	if err != nil {
		return err
	}
	if err := s.auth.SignIn(ctx, u); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/workflows")
}

func (s *Server) logout(c echo.Context) error {
	if err := s.auth.SignOut(c.Request().Context()); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/login")
}

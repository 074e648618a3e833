package web

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// routes is every page. API, websocket, metrics and static files are joined in New.
func (s *Server) routes(e *echo.Echo) {
	e.GET("/login", s.showLogin)
	e.GET("/login/:token", s.showLoginToken)
	e.POST("/login/:token", s.useLoginToken)
	e.POST("/logout", s.logout)

	g := e.Group("", s.requireUser)
	g.GET("/", func(c echo.Context) error { return c.Redirect(http.StatusSeeOther, "/workflows") })

	g.GET("/workflows", s.showWorkflows)
	g.POST("/workflows", s.createWorkflow)
	g.POST("/workflows/import", s.importWorkflow)
	g.GET("/workflows/:id", s.showBuilder)
	g.GET("/workflows/:id/export", s.exportWorkflow)
	g.POST("/workflows/:id/duplicate", s.duplicateWorkflow)
	g.POST("/workflows/:id/delete", s.deleteWorkflow)

	g.GET("/runs", s.showRuns)
	g.GET("/runs/:id", s.showInspector)

	g.GET("/approvals", s.showApprovals)
	g.GET("/approvals/:id", s.showApprovals)
	g.POST("/approvals/:id/decisions", s.decideApproval)

	g.GET("/recipes", s.showRecipes)
	g.GET("/recipes/new", s.newRecipe)
	g.POST("/recipes", s.saveRecipe)
	g.GET("/recipes/:id", s.showRecipe)
	g.POST("/recipes/:id", s.saveRecipe)

	g.GET("/settings", s.showSettings)
	g.POST("/settings/tokens", s.createToken)
	g.POST("/settings/tokens/:id/delete", s.deleteToken)
}

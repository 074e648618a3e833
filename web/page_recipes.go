package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/models"
	"sluice/views/page"
	"sluice/web/app"
)

func (s *Server) showRecipes(c echo.Context) error {
	shell, err := s.shell(c, "Recipes", "recipes")
	if err != nil {
		return err
	}
	vm := page.Recipes{Shell: shell, Search: c.QueryParam("q")}
	rows, next, err := s.app.DB.Recipes(c.Request().Context(), models.RecipeQuery{AccountID: principal(c).AccountID, Search: vm.Search, Cursor: c.QueryParam("cursor")})
	if err != nil {
		return err
	}
	vm.Next = next
	for _, r := range rows {
		vm.Items = append(vm.Items, page.RecipeRow{ID: r.ID, Name: r.Name, Description: r.Description, Version: r.LatestVersion, UpdatedAt: r.UpdatedAt.Time})
	}
	return s.render(c, http.StatusOK, page.RecipesPage(vm))
}

func (s *Server) newRecipe(c echo.Context) error {
	shell, err := s.shell(c, "New recipe", "recipes")
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, page.RecipePage(page.Recipe{Shell: shell}))
}

func (s *Server) showRecipe(c echo.Context) error {
	vm, err := s.recipe(c, c.Param("id"))
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, page.RecipePage(vm))
}

// recipe is the editor with a version's text: the newest, or the one asked for.
func (s *Server) recipe(c echo.Context, id string) (page.Recipe, error) {
	ctx, p := c.Request().Context(), principal(c)
	r, err := s.app.DB.Recipe(ctx, p.AccountID, id)
	if err != nil {
		return page.Recipe{}, err
	}
	version := 0
	if text := c.QueryParam("version"); text != "" {
		if version, err = strconv.Atoi(text); err != nil {
			return page.Recipe{}, echo.NewHTTPError(http.StatusNotFound)
		}
	}
	v, err := s.app.DB.RecipeVersion(ctx, r, version)
	if err != nil {
		return page.Recipe{}, err
	}
	versions, err := s.app.DB.RecipeVersions(ctx, p.AccountID, r.ID)
	if err != nil {
		return page.Recipe{}, err
	}
	shell, err := s.shell(c, r.Name, "recipes")
	if err != nil {
		return page.Recipe{}, err
	}
	vm := page.Recipe{Shell: shell, ID: r.ID, Version: v.Version, Latest: r.LatestVersion, Values: recipeValues(r, v)}
	for _, old := range versions {
		vm.Versions = append(vm.Versions, page.RecipeVersionRow{Version: old.Version, Notes: old.Notes, By: old.CreatedBy, At: old.CreatedAt.Time})
	}
	return vm, nil
}

func recipeValues(r models.Recipe, v models.RecipeVersion) page.RecipeValues {
	var params struct {
		Temperature *float64 `json:"temperature"`
		MaxTokens   int      `json:"max_tokens"`
	}
	if v.Parameters != "" && json.Unmarshal([]byte(v.Parameters), &params) != nil {
		params.Temperature = nil
	}
	out := page.RecipeValues{Name: r.Name, Description: r.Description, System: v.System, Prompt: v.Prompt, Model: v.Model}
	out.InputSchema, _ = readable(v.InputSchema)
	out.OutputSchema, _ = readable(v.OutputSchema)
	if params.Temperature != nil {
		out.Temperature = strconv.FormatFloat(*params.Temperature, 'g', -1, 64)
	}
	if params.MaxTokens > 0 {
		out.MaxTokens = strconv.Itoa(params.MaxTokens)
	}
	return out
}

// saveRecipe makes a recipe or a new version. Mistakes are shown at their fields,
// with everything that was typed.
func (s *Server) saveRecipe(c echo.Context) error {
	v := page.RecipeValues{
		Name: c.FormValue("name"), Description: c.FormValue("description"), System: c.FormValue("system"), Prompt: c.FormValue("prompt"),
		InputSchema: c.FormValue("input_schema"), OutputSchema: c.FormValue("output_schema"), Model: c.FormValue("model"),
		Temperature: c.FormValue("temperature"), MaxTokens: c.FormValue("max_tokens"), Notes: c.FormValue("notes"),
	}
	r, _, err := s.app.SaveRecipe(c.Request().Context(), principal(c), recipeDraft(c.Param("id"), v))
	if err == nil {
		flash(c, "Saved as version "+strconv.Itoa(r.LatestVersion))
		return c.Redirect(http.StatusSeeOther, "/recipes/"+r.ID)
	}
	problems := map[string]string{}
	var bad *engine.InvalidError
	switch {
	case errors.As(err, &bad):
		for _, i := range bad.Issues {
			problems[i.Field] = i.Message
		}
	case errors.Is(err, models.ErrNameTaken):
		problems["name"] = "Another recipe has this name."
	default:
		return err
	}
	vm := page.Recipe{}
	if id := c.Param("id"); id != "" {
		if vm, err = s.recipe(c, id); err != nil {
			return err
		}
	} else if vm.Shell, err = s.shell(c, "New recipe", "recipes"); err != nil {
		return err
	}
	vm.Values, vm.Errors = v, problems
	return s.render(c, http.StatusUnprocessableEntity, page.RecipePage(vm))
}

func recipeDraft(id string, v page.RecipeValues) app.RecipeDraft {
	d := app.RecipeDraft{
		ID: id, Name: v.Name, Description: v.Description, Notes: v.Notes, System: v.System, Prompt: v.Prompt, Model: v.Model,
		InputSchema: trimmed(v.InputSchema), OutputSchema: trimmed(v.OutputSchema),
	}
	var fields []string
	if t := strings.TrimSpace(v.Temperature); t != "" {
		fields = append(fields, `"temperature":`+t)
	}
	if t := strings.TrimSpace(v.MaxTokens); t != "" {
		fields = append(fields, `"max_tokens":`+t)
	}
	if len(fields) > 0 {
		d.Parameters = json.RawMessage("{" + strings.Join(fields, ",") + "}")
	}
	return d
}

func trimmed(s string) json.RawMessage {
	if s = strings.TrimSpace(s); s == "" {
		return nil
	}
	return json.RawMessage(s)
}

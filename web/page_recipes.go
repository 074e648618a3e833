package web

import (
	"encoding/json"
	"errors"
	"math"
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
	v := typedRecipe(c)
	d, problems := recipeDraft(c.Param("id"), v)
	if len(problems) == 0 {
		r, _, err := s.app.SaveRecipe(c.Request().Context(), principal(c), d)
		if err == nil {
			flash(c, "Saved as version "+strconv.Itoa(r.LatestVersion))
			return c.Redirect(http.StatusSeeOther, "/recipes/"+r.ID)
		}
		if problems = recipeProblems(err); problems == nil {
			return err
		}
	}
	var vm page.Recipe
	var err error
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

func typedRecipe(c echo.Context) page.RecipeValues {
	typed := func(name string) string { return unixLines(c.FormValue(name)) }
	return page.RecipeValues{
		Name: typed("name"), Description: typed("description"), System: typed("system"), Prompt: typed("prompt"),
		InputSchema: typed("input_schema"), OutputSchema: typed("output_schema"), Model: typed("model"),
		Temperature: typed("temperature"), MaxTokens: typed("max_tokens"), Notes: typed("notes"),
	}
}

// recipeProblems says what is wrong at which field, or is nil for an error that no
// field is the cause of.
func recipeProblems(err error) map[string]string {
	if bad, ok := errors.AsType[*engine.InvalidError](err); ok {
		problems := map[string]string{}
		for _, i := range bad.Issues {
			problems[i.Field] = i.Message
		}
		return problems
	}
	if errors.Is(err, models.ErrNameTaken) {
		return map[string]string{"name": "Another recipe has this name."}
	}
	return nil
}

// recipeDraft reads what was typed; problems are those of the fields that the form
// alone knows.
func recipeDraft(id string, v page.RecipeValues) (d app.RecipeDraft, problems map[string]string) {
	problems = map[string]string{}
	params := map[string]any{}
	if t := strings.TrimSpace(v.Temperature); t != "" {
		n, err := strconv.ParseFloat(t, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			problems["temperature"] = "The temperature is a number, such as 0.7."
		}
		params["temperature"] = n
	}
	if t := strings.TrimSpace(v.MaxTokens); t != "" {
		n, err := strconv.Atoi(t)
		if err != nil || n < 1 {
			problems["max_tokens"] = "This is a whole number, at least 1."
		}
		params["max_tokens"] = n
	}
	d = app.RecipeDraft{
		ID: id, Name: v.Name, Description: v.Description, Notes: v.Notes, System: v.System, Prompt: v.Prompt, Model: v.Model,
		InputSchema: trimmed(v.InputSchema), OutputSchema: trimmed(v.OutputSchema),
	}
	if len(params) > 0 && len(problems) == 0 {
		raw, err := json.Marshal(params)
		if err != nil {
			problems["temperature"] = err.Error()
		}
		d.Parameters = raw
	}
	return d, problems
}

func trimmed(s string) json.RawMessage {
	if s = strings.TrimSpace(s); s == "" {
		return nil
	}
	return json.RawMessage(s)
}

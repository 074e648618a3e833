package page

import (
	"net/url"
	"strconv"
	"time"

	"sluice/views/layout"
)

// Recipes is the recipe list.
type Recipes struct {
	Shell  layout.Shell
	Search string
	Items  []RecipeRow
	Next   string
}

// MoreURL is the next part of the list.
func (r Recipes) MoreURL() string {
	return "/recipes?" + url.Values{"q": {r.Search}, "cursor": {r.Next}}.Encode()
}

// RecipeRow is a line of it.
type RecipeRow struct {
	ID, Name, Description string
	Version               int
	UpdatedAt             time.Time
}

// URL is where the recipe is edited.
func (r RecipeRow) URL() string { return "/recipes/" + r.ID }

// Recipe is the editor of one recipe.
type Recipe struct {
	Shell    layout.Shell
	ID       string // empty for a new one
	Version  int    // shown
	Latest   int
	Values   RecipeValues
	Errors   map[string]string
	Versions []RecipeVersionRow
}

// RecipeValues are the fields of the form.
type RecipeValues struct {
	Name, Description, System, Prompt, InputSchema, OutputSchema, Model, Temperature, MaxTokens, Notes string
}

// RecipeVersionRow is a line of the history.
type RecipeVersionRow struct {
	Version   int
	Notes, By string
	At        time.Time
}

// Action is where the form goes.
func (r Recipe) Action() string {
	if r.ID == "" {
		return "/recipes"
	}
	return "/recipes/" + r.ID
}

// Old tells that an earlier version is shown.
func (r Recipe) Old() bool { return r.Version != r.Latest }

// VersionURL shows a version.
func (r Recipe) VersionURL(v int) string { return "/recipes/" + r.ID + "?version=" + strconv.Itoa(v) }

package models

import (
	"context"
	"errors"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Recipe is a stored, reusable prompt template with immutable versions.
type Recipe struct {
	ID            string
	AccountID     string
	Name          string
	Description   string
	Search        string
	LatestVersion int
	CreatedAt     Time
	UpdatedAt     Time
}

// RecipeVersion is one version's text.
type RecipeVersion struct {
	ID           string
	AccountID    string
	RecipeID     string
	Version      int
	System       string
	Prompt       string
	InputSchema  string
	OutputSchema string
	Model        string
	Parameters   string // JSON: temperature, max_tokens
	Notes        string
	CreatedBy    string
	CreatedAt    Time
}

// ErrNameTaken is returned where a name must be unique and is not.
var ErrNameTaken = errors.New("the name is taken")

// clean is the recipe as every database can keep it.
func (r Recipe) clean() Recipe {
	r.Name, r.Description = Clean(r.Name), Clean(r.Description)
	return r
}

func (v RecipeVersion) clean() RecipeVersion {
	for _, field := range []*string{&v.System, &v.Prompt, &v.InputSchema, &v.OutputSchema, &v.Model, &v.Parameters, &v.Notes, &v.CreatedBy} {
		*field = Clean(*field)
	}
	return v
}

// CreateRecipe stores a recipe with its first version.
func (d *DB) CreateRecipe(ctx context.Context, r Recipe, v RecipeVersion) (Recipe, RecipeVersion, error) {
	r, v = r.clean(), v.clean()
	r.ID, r.CreatedAt, r.UpdatedAt, r.LatestVersion = NewID(), Now(), Now(), 1
	r.Search = searchText(r.Name, r.Description)
	v.ID, v.AccountID, v.RecipeID, v.Version, v.CreatedAt = NewID(), r.AccountID, r.ID, 1, Now()
	err := d.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Create(&r).Error; err != nil {
			return err
		}
		return tx.Create(&v).Error
	})
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		err = ErrNameTaken
	}
	return r, v, one(err, "create recipe %s", r.Name)
}

// AddRecipeVersion stores a further version, and the recipe's name and description.
func (d *DB) AddRecipeVersion(ctx context.Context, r Recipe, v RecipeVersion) (Recipe, RecipeVersion, error) {
	r, v = r.clean(), v.clean()
	err := d.Write(ctx, func(tx *gorm.DB) error {
		var old Recipe
		// The lock makes versions that are added at the same time wait for each other.
		if err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where("account_id = ? AND id = ?", r.AccountID, r.ID).Take(&old).Error; err != nil {
			return err
		}
		old.Name, old.Description, old.Search = r.Name, r.Description, searchText(r.Name, r.Description)
		old.LatestVersion++
		old.UpdatedAt = Now()
		if err := tx.Save(&old).Error; err != nil {
			return err
		}
		r = old
		v.ID, v.AccountID, v.RecipeID, v.Version, v.CreatedAt = NewID(), r.AccountID, r.ID, r.LatestVersion, Now()
		return tx.Create(&v).Error
	})
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		err = ErrNameTaken
	}
	return r, v, one(err, "save recipe %s", r.ID)
}

// RecipeQuery filters the recipe list.
type RecipeQuery struct {
	AccountID string
	Search    string
	Cursor    string
	Limit     int
}

// Recipes lists recipes, the latest changed first.
func (d *DB) Recipes(ctx context.Context, q RecipeQuery) ([]Recipe, string, error) {
	db := matching(d.Read(ctx).Model(&Recipe{}).Where("account_id = ?", q.AccountID), q.Search)
	db, limit, err := paged(db, "updated_at", q.Cursor, q.Limit)
	if err != nil {
		return nil, "", err
	}
	var rows []Recipe
	if err := db.Find(&rows).Error; err != nil {
		return nil, "", one(err, "list recipes")
	}
	next := ""
	if len(rows) > limit {
		rows = rows[:limit]
		next = cursorOf(rows[limit-1].UpdatedAt, rows[limit-1].ID)
	}
	return rows, next, nil
}

// Recipe finds a recipe by id, or else by name.
func (d *DB) Recipe(ctx context.Context, accountID, idOrName string) (Recipe, error) {
	var r Recipe
	err := d.Read(ctx).Where("account_id = ? AND (id = ? OR name = ?)", accountID, idOrName, idOrName).
		Order(clause.Expr{SQL: "CASE WHEN id = ? THEN 0 ELSE 1 END", Vars: []any{idOrName}}).Take(&r).Error
	return r, one(err, "recipe %s", idOrName)
}

// RecipeVersion finds a version of a recipe; 0 is the latest.
func (d *DB) RecipeVersion(ctx context.Context, r Recipe, version int) (RecipeVersion, error) {
	if version == 0 {
		version = r.LatestVersion
	}
	var v RecipeVersion
	err := d.Read(ctx).Where("account_id = ? AND recipe_id = ? AND version = ?", r.AccountID, r.ID, version).Take(&v).Error
	return v, one(err, "version %d of recipe %s", version, r.Name)
}

// RecipeVersions lists a recipe's versions, the newest first.
func (d *DB) RecipeVersions(ctx context.Context, accountID, recipeID string) ([]RecipeVersion, error) {
	var out []RecipeVersion
	err := d.Read(ctx).Where("account_id = ? AND recipe_id = ?", accountID, recipeID).Order("version DESC").Find(&out).Error
	return out, one(err, "versions of recipe %s", recipeID)
}

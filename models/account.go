package models

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"gorm.io/gorm"
)

// Account is a tenant.
type Account struct {
	ID        string
	Name      string
	CreatedAt Time
}

// NewID returns a fresh id.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Bootstrap makes the first account and its owner if there is none. created tells
// whether it did.
func (d *DB) Bootstrap(ctx context.Context) (owner User, created bool, err error) {
	err = d.Write(ctx, func(tx *gorm.DB) error {
		if err := d.alone(tx, bootstrapLock); err != nil {
			return err
		}
		found := tx.Where("role = ?", RoleOwner).Order("created_at").Limit(1).Find(&owner)
		if found.Error != nil || found.RowsAffected > 0 {
			return found.Error
		}
		account := Account{ID: NewID(), Name: "Sluice", CreatedAt: Now()}
		if err := tx.Create(&account).Error; err != nil {
			return err
		}
		owner = User{ID: NewID(), AccountID: account.ID, Email: "owner@localhost", Name: "Owner", Role: RoleOwner, CreatedAt: Now()}
		created = true
		return tx.Create(&owner).Error
	})
	if err != nil {
		return User{}, false, fmt.Errorf("make the first account: %w", err)
	}
	return owner, created, nil
}

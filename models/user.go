package models

import "context"

// Roles, from the most to the least able.
const (
	RoleOwner    = "owner"
	RoleAdmin    = "admin"
	RoleEditor   = "editor"
	RoleApprover = "approver"
	RoleViewer   = "viewer"
)

// User is a person in an account.
type User struct {
	ID        string
	AccountID string
	Email     string
	Name      string
	Role      string
	CreatedAt Time
}

// User finds a user of an account.
func (d *DB) User(ctx context.Context, accountID, id string) (User, error) {
	var u User
	err := d.Read(ctx).Where("account_id = ? AND id = ?", accountID, id).Take(&u).Error
	return u, one(err, "user %s", id)
}

// UserByEmail finds a user of any account, for the command line.
func (d *DB) UserByEmail(ctx context.Context, email string) (User, error) {
	var u User
	err := d.Read(ctx).Where("email = ?", email).Take(&u).Error
	return u, one(err, "user %s", email)
}

// Users lists an account's users by name.
func (d *DB) Users(ctx context.Context, accountID string) ([]User, error) {
	var users []User
	err := d.Read(ctx).Where("account_id = ?", accountID).Order("name, id").Find(&users).Error
	return users, one(err, "list users")
}

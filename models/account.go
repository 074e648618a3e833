package models

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
)

// Account is a tenant.
type Account struct {
	ID        string
	Name      string
	CreatedAt Time
}

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

// LoginToken is a one-time sign-in link; its token is kept as a hash.
type LoginToken struct {
	Hash      string
	AccountID string
	UserID    string
	ExpiresAt Time
	UsedAt    Time
	CreatedAt Time
}

// NewID returns a fresh id.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// secretToken is 192 random bits in hex behind a prefix.
func secretToken(prefix string) string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // never fails: it aborts the program instead
	return prefix + hex.EncodeToString(b[:])
}

// hashToken is how tokens are stored. They are random, so a plain hash suffices.
func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Bootstrap makes the first account and its owner if there is none. created tells
// whether it did.
func (d *DB) Bootstrap(ctx context.Context) (owner User, created bool, err error) {
	err = d.Write(ctx, func(tx *gorm.DB) error {
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

// CreateLoginToken makes a one-time sign-in token that is good for ttl, and ends
// the user's earlier ones.
func (d *DB) CreateLoginToken(ctx context.Context, u User, ttl time.Duration) (string, error) {
	token := secretToken("")
	err := d.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("user_id = ? AND used_at IS NULL", u.ID).Delete(&LoginToken{}).Error; err != nil {
			return err
		}
		return tx.Create(&LoginToken{
			Hash: hashToken(token), AccountID: u.AccountID, UserID: u.ID, ExpiresAt: At(time.Now().Add(ttl)), CreatedAt: Now(),
		}).Error
	})
	return token, one(err, "make login token")
}

// LoginTokenUsable reports whether a sign-in token would be accepted, without using it.
func (d *DB) LoginTokenUsable(ctx context.Context, token string) (bool, error) {
	var n int64
	err := d.Read(ctx).Model(&LoginToken{}).Where("hash = ? AND used_at IS NULL AND expires_at > ?", hashToken(token), Now()).Count(&n).Error
	return n > 0, one(err, "look up login token")
}

// UseLoginToken signs a user in, once. A used, expired or unknown token is
// ErrNotFound.
func (d *DB) UseLoginToken(ctx context.Context, token string) (User, error) {
	var u User
	err := d.Write(ctx, func(tx *gorm.DB) error {
		var t LoginToken
		if err := tx.Where("hash = ?", hashToken(token)).Take(&t).Error; err != nil {
			return err
		}
		used := tx.Model(&LoginToken{}).Where("hash = ? AND used_at IS NULL AND expires_at > ?", t.Hash, Now()).Update("used_at", Now())
		if used.Error != nil {
			return used.Error
		}
		if used.RowsAffected == 0 {
			return gorm.ErrRecordNotFound
		}
		return tx.Where("id = ?", t.UserID).Take(&u).Error
	})
	return u, one(err, "use login token")
}

// NeverSignedIn reports whether no sign-in link of the user was ever used.
func (d *DB) NeverSignedIn(ctx context.Context, u User) (bool, error) {
	var n int64
	err := d.Read(ctx).Model(&LoginToken{}).Where("user_id = ? AND used_at IS NOT NULL", u.ID).Count(&n).Error
	return n == 0, one(err, "look up login tokens")
}

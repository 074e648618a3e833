package models

import (
	"context"
	"time"

	"gorm.io/gorm"
)

// LoginToken is a one-time sign-in link; its token is kept as a hash.
type LoginToken struct {
	Hash      string
	AccountID string
	UserID    string
	ExpiresAt Time
	UsedAt    Time
	CreatedAt Time
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

package models

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"gorm.io/gorm"
)

// APIToken lets a program act as a user; its token is kept as a hash.
type APIToken struct {
	ID         string
	AccountID  string
	UserID     string
	Name       string
	Hash       string
	Hint       string // its last characters
	LastUsedAt Time
	CreatedAt  Time
}

// TableName implements GORM's naming.
func (APIToken) TableName() string { return "api_tokens" }

// CreateAPIToken makes a token. The text is returned once and not stored.
func (d *DB) CreateAPIToken(ctx context.Context, u User, name string) (APIToken, string, error) {
	text := secretToken("slt_")
	t, err := d.addToken(ctx, u, name, text)
	return t, text, err
}

func (d *DB) addToken(ctx context.Context, u User, name, text string) (APIToken, error) {
	t := APIToken{
		ID: NewID(), AccountID: u.AccountID, UserID: u.ID, Name: Clean(name), Hash: hashToken(text), Hint: text[max(0, len(text)-4):], CreatedAt: Now(),
	}
	err := d.Write(ctx, func(tx *gorm.DB) error { return tx.Create(&t).Error })
	return t, one(err, "make API token")
}

// EnsureAPIToken makes a token with a given text where it is absent.
func (d *DB) EnsureAPIToken(ctx context.Context, u User, name, text string) error {
	if _, _, err := d.UserByAPIToken(ctx, text); !errors.Is(err, ErrNotFound) {
		return err
	}
	_, err := d.addToken(ctx, u, name, text)
	return err
}

// UserByAPIToken finds whom a token acts for.
func (d *DB) UserByAPIToken(ctx context.Context, text string) (User, APIToken, error) {
	var t APIToken
	if err := d.Read(ctx).Where("hash = ?", hashToken(text)).Take(&t).Error; err != nil {
		return User{}, t, one(err, "API token")
	}
	u, err := d.User(ctx, t.AccountID, t.UserID)
	return u, t, err
}

// TouchAPIToken notes that a token was used.
func (d *DB) TouchAPIToken(ctx context.Context, id string) error {
	err := d.Write(ctx, func(tx *gorm.DB) error {
		return tx.Model(&APIToken{}).Where("id = ?", id).Update("last_used_at", Now()).Error
	})
	return one(err, "note use of API token")
}

// APITokens lists an account's tokens, the newest first.
func (d *DB) APITokens(ctx context.Context, accountID string) ([]APIToken, error) {
	var out []APIToken
	err := d.Read(ctx).Where("account_id = ?", accountID).Order("created_at DESC").Find(&out).Error
	return out, one(err, "list API tokens")
}

// APITokenExists returns ErrNotFound for a token that is not there any more.
func (d *DB) APITokenExists(ctx context.Context, accountID, id string) error {
	err := d.Read(ctx).Select("id").Where("account_id = ? AND id = ?", accountID, id).Take(&APIToken{}).Error
	return one(err, "API token %s", id)
}

// DeleteAPIToken ends a token.
func (d *DB) DeleteAPIToken(ctx context.Context, accountID, id string) error {
	err := d.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Where("account_id = ? AND id = ?", accountID, id).Delete(&APIToken{})
		if res.Error == nil && res.RowsAffected == 0 {
			return gorm.ErrRecordNotFound
		}
		return res.Error
	})
	return one(err, "API token %s", id)
}

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

package models

import (
	"context"
	"encoding/base64"
	"errors"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Session is a signed-in browser; the token is kept as a hash.
type Session struct {
	Token     string `gorm:"primaryKey"`
	Data      string
	ExpiresAt Time
}

// Sessions stores browser sessions in the database. It implements the store
// interface of the session library.
type Sessions struct{ db *DB }

// Sessions returns the session store.
func (d *DB) Sessions() *Sessions { return &Sessions{d} }

// FindCtx reads a session.
func (s *Sessions) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	var row Session
	err := s.db.Read(ctx).Where("token = ? AND expires_at > ?", hashToken(token), Now()).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, one(err, "read session")
	}
	data, err := base64.StdEncoding.DecodeString(row.Data)
	return data, err == nil, err
}

// CommitCtx writes a session.
func (s *Sessions) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	row := Session{Token: hashToken(token), Data: base64.StdEncoding.EncodeToString(data), ExpiresAt: At(expiry)}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("expires_at <= ?", Now()).Delete(&Session{}).Error; err != nil {
			return err
		}
		return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "token"}}, DoUpdates: clause.AssignmentColumns([]string{"data", "expires_at"})}).Create(&row).Error
	})
	return one(err, "write session")
}

// DeleteCtx ends a session.
func (s *Sessions) DeleteCtx(ctx context.Context, token string) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error { return tx.Where("token = ?", hashToken(token)).Delete(&Session{}).Error })
	return one(err, "delete session")
}

// Find implements the store interface.
func (s *Sessions) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

// Commit implements the store interface.
func (s *Sessions) Commit(token string, data []byte, expiry time.Time) error {
	return s.CommitCtx(context.Background(), token, data, expiry)
}

// Delete implements the store interface.
func (s *Sessions) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }

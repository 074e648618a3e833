package models

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"

	"gorm.io/gorm"
)

// Sizes of a page of any list.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// ErrCursor is returned for a cursor that was not given out by the list.
var ErrCursor = errors.New("the cursor is not one of this list")

// cursorOf points behind a row in a list that is ordered by a time, newest first.
func cursorOf(at Time, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(at.UnixMicro(), 10) + " " + id))
}

// paged orders a query by a time column, newest first, after the cursor, and asks
// for one row more than the limit.
func paged(db *gorm.DB, column, cursor string, limit int) (*gorm.DB, int, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = min(limit, MaxLimit)
	if cursor != "" {
		raw, err := base64.RawURLEncoding.DecodeString(cursor)
		at, id, ok := strings.Cut(string(raw), " ")
		micros, numErr := strconv.ParseInt(at, 10, 64)
		if err != nil || numErr != nil || !ok || Clean(id) != id {
			return nil, 0, ErrCursor
		}
		db = db.Where("("+column+" < ? OR ("+column+" = ? AND id < ?))", micros, micros, id)
	}
	return db.Order(column + " DESC, id DESC").Limit(limit + 1), limit, nil
}

// splitWords are the folded words of a search, at most ten.
func splitWords(search string) []string {
	words := strings.Fields(Fold(search))
	return words[:min(len(words), 10)]
}

// matching keeps rows whose search column holds every word.
func matching(db *gorm.DB, search string) *gorm.DB {
	for _, word := range splitWords(search) {
		db = db.Where(`search LIKE ? ESCAPE '\'`, like(word))
	}
	return db
}

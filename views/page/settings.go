package page

import (
	"time"

	"sluice/views/layout"
)

// Settings is the account's settings.
type Settings struct {
	Shell  layout.Shell
	Email  string
	Role   string
	Tokens []TokenRow
	// NewToken is shown once, after its creation.
	NewToken string
	Error    string
}

// TokenRow is an API token.
type TokenRow struct {
	ID, Name, Hint string
	CreatedAt      time.Time
	LastUsedAt     time.Time
}

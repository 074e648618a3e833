package models

import (
	"database/sql/driver"
	"fmt"
	"time"
)

// Time is an instant in UTC with the precision of a microsecond. The zero time is
// NULL.
type Time struct{ time.Time }

// At is the instant t.
func At(t time.Time) Time {
	if t.IsZero() {
		return Time{}
	}
	return Time{t.UTC().Truncate(time.Microsecond)}
}

// Now is the present instant.
func Now() Time { return At(time.Now()) }

// Value implements [driver.Valuer].
func (t Time) Value() (driver.Value, error) {
	if t.IsZero() {
		return nil, nil
	}
	return t.UnixMicro(), nil
}

// Scan implements [database/sql.Scanner].
func (t *Time) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*t = Time{}
	case int64:
		*t = Time{time.UnixMicro(v).UTC()}
	default:
		return fmt.Errorf("read a time from %T", v)
	}
	return nil
}

// GormDataType implements GORM's schema interface.
func (Time) GormDataType() string { return "bigint" }

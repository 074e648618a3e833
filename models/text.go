package models

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// Clean is s as every database keeps it: PostgreSQL has no text with NUL or broken
// UTF-8, so each is replaced by U+FFFD, on SQLite too.
func Clean(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// maxSearch bounds a search column, in bytes.
const maxSearch = 4_000

// Fold brings text into the form that searches compare: compatibility forms and
// width unified, case and accents folded. Vietnamese đ counts as d. Marks that
// carry meaning of their own, such as Japanese voicing marks, are kept.
func Fold(s string) string {
	marks := runes.Predicate(func(r rune) bool { return r >= 0x0300 && r <= 0x036f && unicode.Is(unicode.Mn, r) })
	t := transform.Chain(norm.NFKD, runes.Remove(marks), norm.NFC)
	folded, _, err := transform.String(t, cases.Fold().String(Clean(s)))
	if err != nil {
		folded = strings.ToLower(Clean(s))
	}
	folded = strings.NewReplacer("đ", "d", "ı", "i").Replace(folded)
	return strings.Join(strings.Fields(folded), " ")
}

// searchText joins what a row is found by.
func searchText(parts ...string) string {
	s := Fold(strings.Join(parts, " "))
	if len(s) > maxSearch {
		s = strings.ToValidUTF8(s[:maxSearch], "")
	}
	return s
}

// like is a LIKE pattern that finds a word anywhere; escape with '\'.
func like(word string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(word) + "%"
}

package expr

import (
	"errors"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/file"
)

// explain turns the library's error into one about the author's own text.
func explain(err error, s *speller) *SyntaxError {
	var fe *file.Error
	if !errors.As(err, &fe) {
		return syntaxf(0, "%s", err.Error())
	}
	offset := s.source(fe.From)
	if strings.Contains(s.src, "{{") && !strings.ContainsAny(s.src, "'\"`") {
		return syntaxf(strings.Index(s.src, "{{"), "an expression is written without {{ }}")
	}
	message := plainly(fe.Message, s.src, offset)
	switch {
	case s.unclosed >= 0:
		message, offset = "a quote is never closed", s.unclosed
	case strings.Contains(message, "ends too early"):
		offset = len(s.src)
	}
	return syntaxf(offset, "%s in %q", message, excerpt(s.src))
}

// plainly says a message of the library in the words of an author.
func plainly(message, src string, offset int) string {
	has := func(part string) bool { return strings.Contains(message, part) }
	switch {
	case has("token EOF"), has("unexpected end"):
		return "the expression ends too early"
	case has(`token Operator("#")`), has("pointer accessor outside"):
		return `"#" and ".name" work only inside of a function such as filter or map`
	case has("unexpected token"):
		return tokenAt(src, offset) + " is not expected here"
	case has("literal not terminated"):
		return "a quote is never closed on its line"
	case has("unclosed comment"):
		return "a comment is never closed"
	case has("char escape"), has("unable to unescape"):
		return `a string has an unknown escape; write \\ for a backslash`
	case has("unrecognized character"):
		return tokenAt(src, offset) + " has no meaning here"
	case has("cannot be mixed"):
		return "put parentheses around the part with ??"
	case has("expected name"):
		return "a name is missing after the dot"
	case has("maximum allowed nodes"):
		return "the expression is too long"
	case has("literal"), has("number syntax"):
		return tokenAt(src, offset) + " is no number"
	case has("predicate with brackets"):
		return "put { } around a predicate with several parts"
	case has("map key must be"):
		return "a key of an object must be a name, a text, a number, or an expression in parentheses"
	case has("arguments"):
		return "the function needs more values"
	case has("unknown pointer"):
		return "after # only index and acc have a meaning"
	default:
		return message
	}
}

// tokenAt quotes what stands in the source at an offset.
func tokenAt(src string, offset int) string {
	rest := src[min(offset, len(src)):]
	token := regexp.MustCompile(`^([\pL\pM\pN_]+|.)`).FindString(rest)
	if token == "" {
		return "the end"
	}
	return `"` + excerpt(token) + `"`
}

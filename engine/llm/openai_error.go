package llm

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// apiError is the body of a refused call, and of an error inside of a stream.
type apiError struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"`
}

// statusError says what a status other than 200 means.
func (o *OpenAI) statusError(res *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10)) // what came is enough
	e := &Error{Status: res.StatusCode, RetryAfter: RetryAfter(res.Header, time.Now())}
	detail, quota := describe(b)
	switch s := res.StatusCode; {
	case s == http.StatusTooManyRequests && quota:
		e.Code = CodeRateLimited // no wait helps against an empty account
	case s == http.StatusTooManyRequests:
		e.Code, e.Retryable = CodeRateLimited, true
	case s == http.StatusRequestTimeout, s == http.StatusConflict, s >= 500:
		e.Code, e.Retryable = CodeUnavailable, true
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		e.Code = CodeAuth
	case s == http.StatusNotFound:
		e.Code = CodeUnknown
	default:
		e.Code = CodeRefused
	}
	e.Message = o.redact(fmt.Sprintf("the model server answered %d %s", res.StatusCode, http.StatusText(res.StatusCode)))
	if detail != "" {
		e.Message = o.redact(e.Message + ": " + detail)
	}
	return e
}

// describe is a short text of an error body, and whether it says that the account
// is out of money.
func describe(b []byte) (detail string, quota bool) {
	var w struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(b, &w) == nil {
		var e apiError
		var text string
		switch {
		case json.Unmarshal(w.Error, &e) == nil && e.Message != "":
			quota = e.Type == "insufficient_quota" || string(e.Code) == `"insufficient_quota"`
			return Excerpt(e.Message), quota
		case json.Unmarshal(w.Error, &text) == nil && text != "":
			return Excerpt(text), false
		case w.Message != "":
			return Excerpt(w.Message), false
		}
	}
	if looksLikeHTML(b) {
		return "a web page: " + pageTitle(b), false
	}
	return Excerpt(string(b)), false
}

var (
	titleTag = regexp.MustCompile(`(?is)<(?:title|h1)[^>]*>(.*?)</(?:title|h1)>`)
	anyTag   = regexp.MustCompile(`(?s)<[^>]*>`)
)

func looksLikeHTML(b []byte) bool {
	s := strings.ToLower(strings.TrimSpace(string(b)))
	return strings.HasPrefix(s, "<!doctype html") || strings.HasPrefix(s, "<html")
}

// pageTitle names a web page by its title.
func pageTitle(b []byte) string {
	m := titleTag.FindSubmatch(b)
	if m == nil {
		return "(without a title)"
	}
	return Excerpt(html.UnescapeString(anyTag.ReplaceAllString(string(m[1]), " ")))
}

// RetryAfter reads how long a server asks to wait: "retry-after-ms", or
// "Retry-After" as seconds or as a date. 0 if it does not say. At most a day.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	var d time.Duration
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		d = time.Duration(min(ms, 1e9) * float64(time.Millisecond))
	} else if v := strings.TrimSpace(h.Get("Retry-After")); v != "" {
		if s, err := strconv.ParseFloat(v, 64); err == nil {
			d = time.Duration(min(s, 1e6) * float64(time.Second))
		} else if at, err := http.ParseTime(v); err == nil {
			d = at.Sub(now)
		}
	}
	return min(max(d, 0), 24*time.Hour)
}

package expr

import (
	"fmt"
	"strings"
	"time"
)

// timeFunction finds the functions of instants. An instant is a text in RFC 3339,
// in UTC.
func timeFunction(name string) (builtinFunction, bool) {
	switch name {
	case "now":
		return takes(0, 0, now)
	case "date":
		return takes(1, 1, date)
	case "formatDate":
		return takes(2, 3, formatDate)
	case "addDuration":
		return takes(2, 2, addDuration)
	case "secondsBetween":
		return takes(2, 2, secondsBetween)
	default:
		return noFunction()
	}
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// now is one instant for all of an evaluation.
func now(r *evaluation, _ []any) (any, error) { return instant(r.started), nil }

// date reads an instant: RFC 3339, a date, or a date and a time in UTC.
func date(_ *evaluation, args []any) (any, error) {
	t, err := timeArg("date", args[0])
	if err != nil {
		return nil, err
	}
	return instant(t), nil
}

func timeArg(name string, v any) (time.Time, error) {
	s, err := textArg(name, v)
	if err != nil {
		return time.Time{}, err
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly, time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%s: the text %q is no instant such as 2027-01-31T09:00:00Z", name, excerpt(s))
}

// formatDate writes an instant as a pattern of YYYY, YY, MM, DD, HH, mm, ss, MMM,
// MMMM, ddd and dddd says, in UTC or in a time zone.
func formatDate(r *evaluation, args []any) (any, error) {
	t, err := timeArg("formatDate", args[0])
	if err != nil {
		return nil, err
	}
	pattern, err := textArg("formatDate", args[1])
	if err != nil {
		return nil, err
	}
	t = t.UTC()
	if len(args) == 3 {
		zone, err := textArg("formatDate", args[2])
		if err != nil {
			return nil, err
		}
		place, err := time.LoadLocation(zone)
		if err != nil || zone == "Local" {
			return nil, fmt.Errorf("formatDate: there is no time zone %q", excerpt(zone))
		}
		t = t.In(place)
	}
	return r.text(strings.NewReplacer(
		"YYYY", t.Format("2006"), "YY", t.Format("06"),
		"MMMM", t.Format("January"), "MMM", t.Format("Jan"), "MM", t.Format("01"),
		"DD", t.Format("02"), "dddd", t.Format("Monday"), "ddd", t.Format("Mon"),
		"HH", t.Format("15"), "mm", t.Format("04"), "ss", t.Format("05"),
	).Replace(pattern))
}

// addDuration moves an instant: "36h", "-15m", "1h30m".
func addDuration(_ *evaluation, args []any) (any, error) {
	t, err := timeArg("addDuration", args[0])
	if err != nil {
		return nil, err
	}
	s, err := textArg("addDuration", args[1])
	if err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return nil, fmt.Errorf("addDuration: the text %q is no duration such as 36h or 1h30m", excerpt(s))
	}
	return instant(t.Add(d)), nil
}

// secondsBetween is how long after the first instant the second is.
func secondsBetween(_ *evaluation, args []any) (any, error) {
	from, err := timeArg("secondsBetween", args[0])
	if err != nil {
		return nil, err
	}
	to, err := timeArg("secondsBetween", args[1])
	if err != nil {
		return nil, err
	}
	return normalise(to.Sub(from).Seconds()), nil
}

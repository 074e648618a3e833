package nodes

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxWait bounds durations: ten years.
const maxWait = 10 * 365 * 24 * time.Hour

var (
	unitDuration = regexp.MustCompile(`^(?:(\d+(?:\.\d+)?)(d|h|ms|m|s)\s*)+$`)
	unitPart     = regexp.MustCompile(`(\d+(?:\.\d+)?)(d|h|ms|m|s)`)
	isoDuration  = regexp.MustCompile(`^P(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$`)
	units        = map[string]time.Duration{
		"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second, "ms": time.Millisecond,
	}
	isoUnits = []time.Duration{7 * 24 * time.Hour, 24 * time.Hour, time.Hour, time.Minute, time.Second}
)

// ParseDuration reads "90s", "1h30m", "2d", an ISO-8601 duration such as "P1DT2H"
// (weeks, days and time; months and years have no fixed length), or a number of
// seconds. Durations are not negative and at most ten years.
func ParseDuration(s string) (time.Duration, error) {
	s = strings.TrimSpace(s)
	var d float64
	switch iso := isoDuration.FindStringSubmatch(s); {
	case iso != nil && strings.Trim(s, "PT") != "":
		for i, unit := range isoUnits {
			if iso[i+1] != "" {
				n, _ := strconv.ParseFloat(iso[i+1], 64)
				d += n * float64(unit)
			}
		}
	case unitDuration.MatchString(s):
		for _, part := range unitPart.FindAllStringSubmatch(s, -1) {
			n, _ := strconv.ParseFloat(part[1], 64)
			d += n * float64(units[part[2]])
		}
	default:
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(n) || n < 0 {
			return 0, fmt.Errorf("%q is not a duration such as 90s, 1h30m, 2d or P1DT2H", s)
		}
		d = n * float64(time.Second)
	}
	if d > float64(maxWait) {
		return 0, fmt.Errorf("%q is longer than ten years", s)
	}
	return time.Duration(math.Round(d)), nil
}

// durationValue reads a config field that holds a duration as text or as seconds.
// Absent, null and "" are 0.
func durationValue(raw json.RawMessage) (time.Duration, error) {
	text := scalarText(raw)
	if text == "" {
		return 0, nil
	}
	return ParseDuration(text)
}

// scalarText is a JSON string's text, another value's JSON, and "" for null.
func scalarText(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// fence finds a fenced block: the fence must begin a line, and so must its end,
// so that a fence inside of a JSON string (where a line break is \n) is no fence.
var fence = regexp.MustCompile("(?ms)^[ \t]*```[ \t]*([A-Za-z0-9_+-]*)[ \t]*\r?$\n(.*?)^[ \t]*```[ \t]*\r?$")

// ParseJSON finds the one JSON value in a model's answer: the whole text, one
// fenced block, or one object or list with words around it. Two candidates, or
// none, are an error with a short excerpt. Digits are kept as they are.
func ParseJSON(text string) (json.RawMessage, error) {
	t := strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF"))
	if v, err := single(t); err == nil {
		return v, nil
	}
	if blocks := fenced(t); len(blocks) > 0 {
		if len(blocks) > 1 {
			return nil, fmt.Errorf("the answer has %d blocks of JSON, not one: %s", len(blocks), Excerpt(t))
		}
		return blocks[0], nil
	}
	return embedded(t)
}

// single reads a text that is one JSON value and nothing else.
func single(t string) (json.RawMessage, error) {
	d := json.NewDecoder(strings.NewReader(t))
	var v json.RawMessage
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return bytes.TrimSpace(v), nil
}

// fenced are the fenced blocks that hold JSON.
func fenced(t string) []json.RawMessage {
	var out []json.RawMessage
	for _, m := range fence.FindAllStringSubmatch(t, -1) {
		if v, err := single(strings.TrimSpace(m[2])); err == nil {
			out = append(out, v)
		}
	}
	return out
}

// embedded finds the one object or list among words.
func embedded(t string) (json.RawMessage, error) {
	var found json.RawMessage
	for i := 0; i < len(t); {
		next := strings.IndexAny(t[i:], "{[")
		if next < 0 {
			break
		}
		i += next
		d := json.NewDecoder(strings.NewReader(t[i:]))
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			// Broken JSON holds whole values inside of it; none of them is the answer.
			return nil, fmt.Errorf("the answer is not JSON: %s", Excerpt(t))
		}
		if found != nil {
			return nil, fmt.Errorf("the answer has more than one JSON value: %s", Excerpt(t))
		}
		found = v
		i += int(d.InputOffset())
	}
	if found == nil {
		return nil, fmt.Errorf("the answer is not JSON: %s", Excerpt(t))
	}
	return found, nil
}

// Excerpt shortens a text to one line for messages.
func Excerpt(s string) string {
	const limit = 160
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

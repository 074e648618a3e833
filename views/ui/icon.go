// Package ui has the small parts that pages are made of.
package ui

import (
	"context"
	"fmt"
	"io"

	"github.com/a-h/templ"
)

// Icon draws an icon of the set. It is decoration: text beside it says the same.
// An unknown name draws a dashed circle.
func Icon(name string, size int, class ...string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		set := icons()
		shape, ok := set[name]
		if !ok {
			shape = set["circle-dashed"]
		}
		c := ""
		if len(class) > 0 {
			c = ` class="` + templ.EscapeString(class[0]) + `"`
		}
		_, err := fmt.Fprintf(w, `<svg%s width="%d" height="%d" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">%s</svg>`, c, size, size, shape)
		return err
	})
}

package nodes

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"sluice/engine"
)

// maxSchemas bounds the compiled schemas kept in memory.
const maxSchemas = 1_024

// Schemas checks values against JSON Schemas and keeps what it compiled. Safe for
// concurrent use. Schemas never load anything from outside of themselves.
type Schemas struct {
	mu       sync.Mutex
	compiled map[[sha256.Size]byte]*jsonschema.Schema
	printer  *message.Printer
}

var _ engine.SchemaChecker = (*Schemas)(nil)

// NewSchemas returns an empty checker.
func NewSchemas() *Schemas {
	return &Schemas{compiled: map[[sha256.Size]byte]*jsonschema.Schema{}, printer: message.NewPrinter(language.English)}
}

// Check implements [engine.SchemaChecker]. The error tells of a schema or a value
// that can't be read; what does not fit is a problem.
func (s *Schemas) Check(schema, value json.RawMessage, lenient bool) ([]engine.SchemaProblem, error) {
	compiled, err := s.compile(schema)
	if err != nil {
		return nil, err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return nil, fmt.Errorf("read the value: %w", err)
	}
	var failed *jsonschema.ValidationError
	switch err := compiled.Validate(v); {
	case err == nil:
		return nil, nil
	case !errors.As(err, &failed):
		return nil, fmt.Errorf("check against the schema: %w", err)
	}
	w := &walker{root: v, lenient: lenient, printer: s.printer, seen: map[engine.SchemaProblem]bool{}}
	w.walk(failed)
	// The library goes over maps: without an order of our own, the same value would
	// have another list at every call.
	slices.SortFunc(w.problems, func(a, b engine.SchemaProblem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	return w.problems, nil
}

// CompileError tells what is wrong with a schema itself, or nil.
func (s *Schemas) CompileError(schema json.RawMessage) error {
	_, err := s.compile(schema)
	return err
}

func (s *Schemas) compile(schema json.RawMessage) (*jsonschema.Schema, error) {
	key := sha256.Sum256(schema)
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.compiled[key]; ok {
		return c, nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	const url = "schema.json"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	compiled, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("compile the schema: %w", err)
	}
	if len(s.compiled) >= maxSchemas {
		clear(s.compiled)
	}
	s.compiled[key] = compiled
	return compiled, nil
}

// noLoader refuses references to other documents.
type noLoader struct{}

// Load implements [jsonschema.URLLoader].
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s: a schema can't refer to another document", url)
}

// walker turns the tree of a failed validation into a flat list.
type walker struct {
	root     any
	lenient  bool
	printer  *message.Printer
	seen     map[engine.SchemaProblem]bool
	problems []engine.SchemaProblem
}

// walk reports the leaves below e, and whether anything was reported.
func (w *walker) walk(e *jsonschema.ValidationError) {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		w.alternatives(e)
		return
	case *kind.Not:
		w.add(e, "is not allowed")
		return
	}
	if len(e.Causes) == 0 {
		w.leaf(e)
		return
	}
	for _, c := range e.Causes {
		w.walk(c)
	}
}

// alternatives reports the alternative that came nearest: the one with the
// fewest problems. In lenient mode an alternative without problems fits.
func (w *walker) alternatives(e *jsonschema.ValidationError) {
	var best []engine.SchemaProblem
	for i, c := range e.Causes {
		sub := &walker{root: w.root, lenient: w.lenient, printer: w.printer, seen: map[engine.SchemaProblem]bool{}}
		sub.walk(c)
		if len(sub.problems) == 0 {
			return
		}
		if i == 0 || len(sub.problems) < len(best) {
			best = sub.problems
		}
	}
	if len(e.Causes) == 0 {
		w.add(e, "fits more than one of the alternatives")
		return
	}
	for _, p := range best {
		w.keep(p)
	}
}

func (w *walker) leaf(e *jsonschema.ValidationError) {
	if w.lenient && w.runtime(e) {
		return
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			w.keep(engine.SchemaProblem{Path: w.path(append(slices.Clip(e.InstanceLocation), name)), Message: "is missing"})
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			w.keep(engine.SchemaProblem{Path: w.path(append(slices.Clip(e.InstanceLocation), name)), Message: "is not a known field"})
		}
	default:
		w.add(e, w.words(e.ErrorKind))
	}
}

// runtime tells that the value at fault holds a template somewhere: it is judged
// when it is known. Only the value itself counts, not what else is in an object.
func (w *walker) runtime(e *jsonschema.ValidationError) bool {
	v, ok := w.at(e.InstanceLocation)
	if !ok {
		return false
	}
	switch v := v.(type) {
	case string:
		return templated(v)
	case []any:
		switch e.ErrorKind.(type) {
		case *kind.UniqueItems, *kind.Contains, *kind.Enum, *kind.Const:
			return anyTemplated(v)
		}
	case map[string]any:
		switch e.ErrorKind.(type) {
		case *kind.Enum, *kind.Const:
			return anyTemplated(v)
		}
	}
	return false
}

func anyTemplated(v any) bool {
	switch v := v.(type) {
	case string:
		return templated(v)
	case []any:
		if slices.ContainsFunc(v, anyTemplated) {
			return true
		}
	case map[string]any:
		for _, x := range v {
			if anyTemplated(x) {
				return true
			}
		}
	}
	return false
}

func (w *walker) at(location []string) (any, bool) {
	v := w.root
	for _, key := range location {
		switch c := v.(type) {
		case map[string]any:
			next, ok := c[key]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(c) {
				return nil, false
			}
			v = c[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// path writes a location with dots, and brackets where the container is a list.
func (w *walker) path(location []string) string {
	var b strings.Builder
	for i, key := range location {
		if parent, ok := w.at(location[:i]); ok {
			if _, list := parent.([]any); list {
				b.WriteString("[" + key + "]")
				continue
			}
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(key)
	}
	return b.String()
}

func (w *walker) add(e *jsonschema.ValidationError, message string) {
	w.keep(engine.SchemaProblem{Path: w.path(e.InstanceLocation), Message: message})
}

func (w *walker) keep(p engine.SchemaProblem) {
	if !w.seen[p] {
		w.seen[p] = true
		w.problems = append(w.problems, p)
	}
}

// words says a mismatch plainly.
func (w *walker) words(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		want := make([]string, len(k.Want))
		for i, t := range k.Want {
			want[i] = typeWord(t)
		}
		return fmt.Sprintf("must be %s, not %s", strings.Join(want, " or "), typeWord(k.Got))
	case *kind.Enum:
		return "must be one of " + listed(k.Want)
	case *kind.Const:
		return "must be " + listed([]any{k.Want})
	case *kind.Minimum:
		return "must be at least " + decimal(k.Want)
	case *kind.Maximum:
		return "must be at most " + decimal(k.Want)
	case *kind.ExclusiveMinimum:
		return "must be more than " + decimal(k.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + decimal(k.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + decimal(k.Want)
	case *kind.MinLength:
		if k.Got == 0 {
			return "must not be empty"
		}
		return fmt.Sprintf("must have at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %d characters, not %d", k.Want, k.Got)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d entries, not %d", k.Want, k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d entries, not %d", k.Want, k.Got)
	case *kind.UniqueItems:
		return fmt.Sprintf("has the same entry twice (%d and %d)", k.Duplicates[0], k.Duplicates[1])
	case *kind.Pattern:
		return "must match " + k.Want
	case *kind.FalseSchema:
		return "is not allowed"
	}
	return k.LocalizedString(w.printer)
}

func typeWord(t string) string {
	switch t {
	case "string":
		return "text"
	case "integer":
		return "a whole number"
	case "number":
		return "a number"
	case "boolean":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	}
	return t
}

func listed(values []any) string {
	out := make([]string, len(values))
	for i, v := range values {
		b, err := json.Marshal(v)
		if err != nil {
			b = fmt.Append(nil, v)
		}
		out[i] = string(b)
	}
	return strings.Join(out, ", ")
}

func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

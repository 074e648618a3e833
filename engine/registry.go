package engine

import "fmt"

// Registry holds the kinds by type. It is filled once, by an explicit list, and
// read only afterwards.
type Registry struct {
	kinds   map[string]Kind
	order   []Spec
	schemas SchemaChecker
}

// NewRegistry returns a registry of the kinds, in palette order. A type given
// twice is an error.
func NewRegistry(schemas SchemaChecker, kinds ...Kind) (*Registry, error) {
	r := &Registry{kinds: make(map[string]Kind, len(kinds)), schemas: schemas}
	for _, k := range kinds {
		s := k.Spec()
		if _, dup := r.kinds[s.Type]; dup {
			return nil, fmt.Errorf("register kind %q: registered twice", s.Type)
		}
		r.kinds[s.Type] = k
		r.order = append(r.order, s)
	}
	return r, nil
}

// Kind returns the kind of a type.
func (r *Registry) Kind(typ string) (Kind, bool) {
	k, ok := r.kinds[typ]
	return k, ok
}

// Specs returns every spec in palette order.
func (r *Registry) Specs() []Spec { return r.order }

// Schemas returns the checker given to NewRegistry.
func (r *Registry) Schemas() SchemaChecker { return r.schemas }

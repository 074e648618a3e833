package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// maxPrograms bounds the compiled versions kept in memory.
const maxPrograms = 512

// programCache holds compiled versions by definition hash.
type programCache struct {
	mu      sync.Mutex
	entries map[string]*program
	order   []string
}

func (c *programCache) get(hash string) *program {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[hash]
}

func (c *programCache) put(hash string, p *program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[string]*program{}
	}
	if _, ok := c.entries[hash]; ok {
		return
	}
	if len(c.order) >= maxPrograms {
		delete(c.entries, c.order[0])
		c.order = c.order[1:]
	}
	c.entries[hash] = p
	c.order = append(c.order, hash)
}

// Definition is a version's definition. It is shared: do not change it.
func (e *Engine) Definition(ctx context.Context, hash string) (*Definition, error) {
	p, err := e.program(ctx, hash)
	if err != nil {
		return nil, err
	}
	return p.Definition, nil
}

// errUnread is a definition that could not be read now, which says nothing about it.
var errUnread = errors.New("it could not be read")

// program finds or compiles a version.
func (e *Engine) program(ctx context.Context, hash string) (*program, error) {
	if p := e.plans.get(hash); p != nil {
		return p, nil
	}
	raw, err := e.cfg.Definitions.Definition(ctx, hash)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("load definition %s: %w: %w", hash, errUnread, err)
	}
	if err != nil {
		return nil, fmt.Errorf("load definition %s: %w", hash, err)
	}
	var def Definition
	if err := json.Unmarshal(raw, &def); err != nil {
		return nil, fmt.Errorf("read definition %s: %w", hash, err)
	}
	plan, issues := Compile(&def, e.cfg.Registry)
	if plan == nil {
		return nil, &InvalidError{Message: "the workflow does not compile: " + firstError(issues), Issues: issues}
	}
	p := newProgram(plan)
	e.plans.put(hash, p)
	return p, nil
}

func firstError(issues Issues) string {
	for _, i := range issues {
		if i.Severity == SeverityError {
			if i.NodeID != "" {
				return i.NodeID + ": " + i.Message
			}
			return i.Message
		}
	}
	return "unknown reason"
}

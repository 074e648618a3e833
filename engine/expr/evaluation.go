package expr

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
)

// runName is the variable that hands the evaluation to the functions of a program.
const runName = "__run"

// run is a struct, not a pointer, because the library dereferences pointers.
type run struct{ *evaluation }

// evaluation is the state of one run of a program. Idle ones are kept for reuse.
type evaluation struct {
	ctx      context.Context //nolint:containedctx // lives exactly as long as the evaluation
	env      Env
	machine  vm.VM
	vars     map[string]any
	deadline time.Time
	started  time.Time
	ticks    int
	made     int
	// failed is the first error of ours; the library would flatten it to text.
	failed   error
	patterns map[string]pattern
}

func newEvaluation() *evaluation {
	r := &evaluation{}
	r.machine.MemoryBudget = maxMemory
	r.vars = map[string]any{runName: run{r}}
	return r
}

func (r *evaluation) begin(ctx context.Context, env Env) {
	r.ctx, r.env = ctx, env
	r.started = time.Now()
	r.deadline = r.started.Add(maxEvaluation)
}

// end drops what an idle evaluation must not hold on to.
func (r *evaluation) end() {
	r.ctx, r.env, r.failed, r.patterns = nil, nil, nil, nil
	r.ticks, r.made = 0, 0
	clear(r.machine.Stack[:cap(r.machine.Stack)])
	clear(r.machine.Variables)
	if cap(r.machine.Stack) > 1024 {
		r.machine.Stack = nil
	}
	if len(r.machine.Scopes) > 0 {
		r.machine = vm.VM{MemoryBudget: maxMemory}
	}
}

// run keeps the library's panics inside of the package.
func (r *evaluation) run(p *vm.Program) (out any, err error) {
	defer func() {
		if x := recover(); x != nil {
			out, err = nil, fmt.Errorf("%v", x)
		}
	}()
	out, err = r.machine.Run(p, r.vars)
	if fe, ok := errors.AsType[*file.Error](err); ok {
		return nil, errors.New(fe.Message) // without the excerpt of the rewritten source
	}
	return out, err
}

// tick holds the evaluation to its time. It reads the clock now and then only.
func (r *evaluation) tick() error {
	if r.ticks++; r.ticks%64 != 0 {
		return nil
	}
	return r.checkTime()
}

func (r *evaluation) checkTime() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if time.Now().After(r.deadline) {
		return fmt.Errorf("the expression takes longer than %s", maxEvaluation)
	}
	return nil
}

// make counts what a function is about to make, in bytes.
func (r *evaluation) make(bytes int) error {
	if bytes < 0 || bytes > maxMade-r.made {
		return fmt.Errorf("the expression makes more than %d MiB of values", maxMade>>20)
	}
	r.made += bytes
	return nil
}

// itemSize is what an item of a list counts.
const itemSize = 16

// text is a text that a function made.
func (r *evaluation) text(s string) (any, error) {
	if len(s) > maxOutput {
		return nil, errTooLarge
	}
	return s, r.make(len(s) + itemSize)
}

// list is a list that a function made.
func (r *evaluation) list(items []any) (any, error) {
	return items, r.make(itemSize * (len(items) + 1))
}

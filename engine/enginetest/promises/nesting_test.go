package promises_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/engine"
	"sluice/engine/enginetest"
)

// nest builds the document of two approvals inside of wrappers, outermost first. The
// first, second or last step of the body is the approval that is asked about.
type nest struct {
	nodes, edges []string
	prefix       string // of addresses inside
	parent       string
	n            int
}

func (n *nest) add(kind, config, from, handle string) string {
	id := fmt.Sprintf("k%d", n.n)
	n.n++
	parent := ""
	if n.parent != "" {
		parent = fmt.Sprintf(`,"parent":%q`, n.parent)
	}
	n.nodes = append(n.nodes, fmt.Sprintf(`{"id":%q,"type":%q,"config":%s%s}`, id, kind, config, parent))
	if from != "" {
		h := ""
		if handle != "" {
			h = fmt.Sprintf(`,"handle":%q`, handle)
		}
		n.edges = append(n.edges, fmt.Sprintf(`{"source":%q,"target":%q%s}`, from, id, h))
	}
	return id
}

// wrap goes into a wrapper and returns what the next node hangs on.
func (n *nest) wrap(kind, from, handle string) (source, out string) {
	inside := func(id, index string) {
		n.parent = id
		n.prefix += id + index + "/"
	}
	switch kind {
	case "then", "else":
		return n.add("condition", fmt.Sprintf(`{"expression":"%t"}`, kind == "then"), from, handle), kind
	case "loop":
		inside(n.add("loop", `{"times":2,"concurrency":2}`, from, handle), "[1]")
	case "branch":
		id := n.add("parallel", `{"require":"all"}`, from, handle)
		inside(id, "")
		inside(n.add("branch", `{}`, "", ""), "")
	}
	return "", ""
}

// addresses answers every approval that is open.
func approveAll(h *enginetest.Harness, wrappers []string) (asked map[string]bool, drive enginetest.Drive) {
	asked = map[string]bool{}
	pauses := 0
	drive.Decide = func(p engine.Park) string {
		asked[p.Address] = true
		return "approve"
	}
	drive.Paused = func(snap engine.Snapshot) {
		if pauses++; pauses%2 == len(wrappers)%2 {
			h.Crash()
		} else {
			h.Restart()
		}
	}
	return asked, drive
}

// TestPromise09AnApprovalWorksAtAnyDepth promises that an approval pauses and resumes
// a run in every nesting of conditions, loops and parallel branches, as the first, a
// middle or the last step, with others open beside it and a restart at each pause.
func TestPromise09AnApprovalWorksAtAnyDepth(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		h := b.harness(t, true, engine.Config{}, &enginetest.Probe{Quiet: true})
		kinds := []string{"then", "else", "loop", "branch"}
		var all [][]string
		for _, x := range kinds {
			all = append(all, []string{x})
			for _, y := range kinds {
				all = append(all, []string{x, y})
				for _, z := range kinds {
					all = append(all, []string{x, y, z})
				}
			}
		}
		require.Len(t, all, 84)
		for i, wrappers := range all {
			if b.db != nil && i%7 != int(*seedFlag%7) && *durationFlag == 0 {
				continue
			}
			for position := range 3 {
				n := &nest{nodes: []string{`{"id":"start","type":"trigger"}`}}
				from, handle := "start", ""
				for _, w := range wrappers {
					from, handle = n.wrap(w, from, handle)
				}
				last := ""
				for at := range 3 {
					kind := "probe"
					if at == position {
						kind = "approval"
					}
					last = n.add(kind, `{}`, from, handle)
					from, handle = last, ""
				}
				n.add("approval", `{}`, "", "") // beside it, in the same body
				if n.parent == "" {
					n.edges = append(n.edges, fmt.Sprintf(`{"source":"start","target":"k%d"}`, n.n-1))
				}
				doc := document(strings.Join(n.nodes, ","), strings.Join(n.edges, ","))
				asked, drive := approveAll(h, wrappers)
				run := h.Drive(h.Start(doc, `{}`).ID, drive)
				require.Equal(t, engine.RunSucceeded, run.Status, "%v at %d: %v\n%s", wrappers, position, run.Error, doc)
				require.Equal(t, engine.StepSucceeded, h.Step(run.ID, n.prefix+last).Status, "%v at %d", wrappers, position)
				loops := strings.Count(strings.Join(wrappers, " "), "loop")
				require.Len(t, asked, 2<<loops, "%v at %d", wrappers, position)
			}
		}
	})
}

// TestPromise10APauseIsNoError promises that a pause is never taken for an error, by
// retries, timeouts, error policies, loops or parallel branches around it.
func TestPromise10APauseIsNoError(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		h := b.harness(t, true, engine.Config{}, &enginetest.Probe{Quiet: true})
		for name, extra := range map[string]string{
			"retry": `"retry":{"max_attempts":3,"base_ms":1}`, "timeout": `"timeout_ms":1`,
			"continue": `"on_error":"continue"`, "branch": `"on_error":"branch"`, "interrupt": `"on_interrupt":"fail"`,
		} {
			for _, box := range []string{"", `{"id":"box","type":"loop","config":{"times":1,"on_item_error":"continue"}}`, `{"id":"par","type":"parallel"},{"id":"box","type":"branch","parent":"par"}`} {
				ask, edges, at := `{"id":"ask","type":"approval",`+extra+`}`, `{"source":"start","target":"ask"}`, "ask"
				switch {
				case strings.Contains(box, "loop"):
					ask, edges, at = box+`,{"id":"ask","type":"approval","parent":"box",`+extra+`}`, `{"source":"start","target":"box"}`, "box[0]/ask"
				case box != "":
					ask, edges, at = box+`,{"id":"ask","type":"approval","parent":"box",`+extra+`}`, `{"source":"start","target":"par"}`, "par/box/ask"
				}
				run := h.Start(document(`{"id":"start","type":"trigger"},`+ask, edges), `{}`)
				paused := 0
				run = h.Drive(run.ID, enginetest.Drive{Paused: func(snap engine.Snapshot) {
					if paused++; paused > 1 {
						return
					}
					for _, r := range snap.Records {
						require.Nil(t, r.Error, "%s: %s", name, r.Address)
						require.LessOrEqual(t, r.Attempt, 1, "%s: %s", name, r.Address)
					}
					h.Restart()
				}})
				require.Equal(t, engine.RunSucceeded, run.Status, "%s: %v", name, run.Error)
				step := h.Step(run.ID, at)
				require.Equal(t, engine.StepSucceeded, step.Status)
				require.Equal(t, 1, step.Attempt)
				require.Nil(t, step.Error)
			}
		}
	})
}

// TestPromise11ARunEndsOnTheVersionItBeganWith promises that what is saved, published
// or deleted while a run pauses does not change what the run does.
func TestPromise11ARunEndsOnTheVersionItBeganWith(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b base) {
		h := b.harness(t, true, engine.Config{}, &enginetest.Probe{Quiet: true})
		nodes := `{"id":"start","type":"trigger"},{"id":"ask","type":"approval"},{"id":"p","type":"probe","config":{"value":%q}}`
		edges := `{"source":"start","target":"ask"},{"source":"ask","target":"p"}`
		run := h.Start(document(fmt.Sprintf(nodes, "old"), edges), `{}`)
		run = h.Drive(run.ID, enginetest.Drive{Paused: func(engine.Snapshot) {
			h.Define(document(fmt.Sprintf(nodes, "new"), edges))
			h.Define(document(`{"id":"start","type":"trigger"},{"id":"p","type":"set"}`, `{"source":"start","target":"p"}`))
			if b.db != nil {
				exec(t, b.db, "UPDATE workflows SET deleted_at = 1")
			}
			h.Restart()
		}})
		require.Equal(t, engine.RunSucceeded, run.Status, "%v", run.Error)
		require.JSONEq(t, `{"value":"old"}`, string(h.Step(run.ID, "p").Output))
		retried, err := h.Engine.Fork(context.Background(), engine.ForkRequest{AccountID: enginetest.Account, RunID: run.ID, From: "p", By: enginetest.Person})
		require.NoError(t, err)
		retried = h.Drive(retried.ID, enginetest.Drive{})
		require.JSONEq(t, `{"value":"old"}`, string(h.Step(retried.ID, "p").Output))
	})
}

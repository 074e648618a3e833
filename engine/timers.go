package engine

import (
	"container/heap"
	"time"
)

// timerHeap orders the waits of one run by time. Entries of steps that have
// settled meanwhile are dropped when they come up.
type timerHeap struct{ entries timerEntries }

type timerEntry struct {
	at   time.Time
	step *step
	seq  int
}

type timerEntries []timerEntry

func (h timerEntries) Len() int { return len(h) }
func (h timerEntries) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].seq < h[j].seq
	}
	return h[i].at.Before(h[j].at)
}
func (h timerEntries) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *timerEntries) Push(x any)   { *h = append(*h, x.(timerEntry)) }
func (h *timerEntries) Pop() any {
	old := *h
	e := old[len(old)-1]
	*h = old[:len(old)-1]
	return e
}

func (t *timerHeap) add(st *step, at time.Time) {
	heap.Push(&t.entries, timerEntry{at: at, step: st, seq: len(t.entries)})
}

// next is the earliest live timer.
func (t *timerHeap) next() (time.Time, bool) {
	for len(t.entries) > 0 {
		e := t.entries[0]
		if waits(e.step) {
			return e.at, true
		}
		heap.Pop(&t.entries)
	}
	return time.Time{}, false
}

// due takes the earliest timer off if its time has come.
func (t *timerHeap) due(now time.Time) (*step, bool) {
	at, ok := t.next()
	if !ok || at.After(now) {
		return nil, false
	}
	return heap.Pop(&t.entries).(timerEntry).step, true
}

func waits(st *step) bool {
	return st.rec != nil && (st.rec.Status == StepRetrying || st.rec.Status == StepParked)
}

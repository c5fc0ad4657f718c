package main

import (
	"container/heap"
	"context"
	"slices"
)

// table is the table of transactions. All that write to it at a time share its capacity evenly, up to what one function
// can write. Some time after a table of on-demand capacity was used in full, it takes twice as much.
type table struct {
	s        *simulation
	capacity float64
	// shared is the number of lines that a writer which began at the beginning would have stored by then.
	shared  float64
	at      float64
	writers writerQueue
	number  int64
	// generation counts the changes of the set of writers; the end of a writer is computed for one of them.
	generation int
	isGrowing  bool
	// isReporting means that somebody looks every few seconds whether writes are refused.
	isReporting bool
}

// writer is one function that stores lines.
type writer struct {
	// until is the value of table.shared at which all its lines are stored.
	until  float64
	number int64
	done   func(left float64)
	isDone bool
}

type writerQueue []*writer

func (q writerQueue) Len() int { return len(q) }
func (q writerQueue) Less(i, j int) bool {
	return q[i].until < q[j].until || q[i].until == q[j].until && q[i].number < q[j].number
}
func (q writerQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *writerQueue) Push(x any)   { *q = append(*q, x.(*writer)) }
func (q *writerQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// rate returns the lines a second that each of the writers stores now.
func (t *table) rate() float64 {
	if len(t.writers) == 0 {
		return 0
	}
	return min(t.s.WriteSpeed, t.capacity/t.s.lineUnits/float64(len(t.writers)))
}

// store stores lines for a function until all are stored or its budget of seconds is over, and passes on how many are
// left.
func (t *table) store(lines, budget float64, done func(left float64)) {
	t.settle()
	t.number++
	w := &writer{until: t.shared + lines, number: t.number, done: done}
	heap.Push(&t.writers, w)
	t.changed()
	t.s.after(budget, func() {
		if w.isDone {
			return
		}
		t.settle()
		heap.Remove(&t.writers, slices.Index(t.writers, w))
		t.changed()
		w.isDone = true
		done(max(w.until-t.shared, 0))
	})
}

// settle brings shared up to now.
func (t *table) settle() {
	elapsed := t.s.now - t.at
	rate := t.rate()
	t.shared += elapsed * rate
	units := elapsed * rate * float64(len(t.writers)) * t.s.lineUnits
	t.s.result.spread(t.at, elapsed, func(u *use, share float64) { u.units += share * units })
	t.s.result.writingSeconds += elapsed * float64(len(t.writers))
	t.at = t.s.now
}

// changed computes when the next writer ends, and whether the table begins to grow.
func (t *table) changed() {
	t.generation++
	generation := t.generation
	isFull := float64(len(t.writers))*t.s.WriteSpeed*t.s.lineUnits >= t.capacity
	if isFull && !t.isGrowing && t.capacity < t.s.MaxUnits {
		t.isGrowing = true
		t.s.after(t.s.WarmUp, t.grow)
	}
	if !t.isReporting && t.refuses() {
		t.isReporting = true
		t.report()
	}
	if len(t.writers) == 0 {
		return
	}
	delay := max(t.writers[0].until-t.shared, 0) / t.rate()
	t.s.after(delay, func() {
		if generation != t.generation {
			return
		}
		t.settle()
		var ended []*writer
		for len(t.writers) > 0 && t.writers[0].until <= t.shared+1e-6 {
			w := heap.Pop(&t.writers).(*writer)
			w.isDone = true
			ended = append(ended, w)
		}
		t.changed()
		for _, w := range ended {
			w.done(0)
		}
	})
}

// refuses reports whether the table refuses more than a tenth of the writes.
func (t *table) refuses() bool {
	return float64(len(t.writers))*t.s.WriteSpeed*t.s.lineUnits*0.9 > t.capacity
}

// report tells the slots every five seconds, as functions do, that writes are refused.
func (t *table) report() {
	if t.isReporting = t.refuses(); t.isReporting {
		t.s.check(t.s.slots.ReportRefused(context.Background()))
		t.s.after(5, t.report)
	}
}

// grow doubles what the table takes.
func (t *table) grow() {
	t.settle()
	t.capacity, t.isGrowing = min(2*t.capacity, t.s.MaxUnits), false
	t.changed()
}

package main

import (
	"container/heap"
	"math"
	"math/rand/v2"
)

// simulation is the state of an account while batches run in it.
type simulation struct {
	assumptions
	rng    *rand.Rand
	now    float64
	events eventQueue
	number int64
	// running is the number of executions of functions.
	running int
	table   table
	// validation and ingestion are the stages at which batches wait.
	validation, ingestion stage
	batches               []*batch
	result                result
}

// event is something that happens at a time. Events of one time happen in the order of their numbers.
type event struct {
	at     float64
	number int64
	do     func()
}

type eventQueue []event

func (q eventQueue) Len() int { return len(q) }
func (q eventQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].number < q[j].number
}
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *eventQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// after makes something happen later.
func (s *simulation) after(delay float64, do func()) {
	s.number++
	heap.Push(&s.events, event{s.now + delay, s.number, do})
}

// batch is one batch on its way.
type batch struct {
	id, tenant int
	bytes      float64
	lines      float64
	chunks     int
	arrived    float64
	// admitted is when validation began, verdict when it ended, ingested when ingestion began, and ended the end.
	admitted, verdict, ingested, ended float64
	failed                             bool
	// slots are the stages at which the batch has a slot.
	slots map[*stage]bool
}

// simulate runs all batches to their ends.
func simulate(a assumptions) result {
	s := &simulation{assumptions: a, rng: rand.New(rand.NewPCG(a.Seed, 1))}
	s.table = table{s: s, capacity: min(a.StartUnits, a.MaxUnits)}
	s.validation = stage{s: s, slots: a.ValidationSlots, perTenant: a.ValidationPerTenant, held: map[int]int{}}
	s.ingestion = stage{s: s, slots: a.IngestionSlots, perTenant: a.IngestionPerTenant, held: map[int]int{}}
	s.result = newResult(a)
	for i := range a.Batches {
		b := &batch{id: i, tenant: i % a.Tenants, arrived: s.rng.Float64() * a.Hours * 3600}
		b.bytes = a.Bytes * (1 + a.Spread*(2*s.rng.Float64()-1))
		b.lines = b.bytes / a.LineBytes
		b.chunks = int(math.Ceil(b.bytes / max(minChunkBytes, b.bytes/defaultChunks)))
		s.batches = append(s.batches, b)
		s.after(b.arrived+b.bytes/a.ScanSpeed, func() { s.begin(b) })
	}
	for len(s.events) > 0 {
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		e.do()
	}
	s.result.batches = s.batches
	s.result.finalUnits = s.table.capacity
	return s.result
}

// begin takes a scanned batch through the states of its execution.
func (s *simulation) begin(b *batch) {
	s.result.note(s.now, func(u *use) { u.starts++ })
	ranges := int(min(max(math.Ceil(b.bytes/bytesPerRange), 1), partitions))
	sections := float64(b.chunks*partitions) / float64(ranges)
	validate := s.task(b, b.bytes/float64(b.chunks)/s.ReadSpeed, 1)
	reconcile := s.task(b, sections*s.GetLatency/readsAtATime, sections)
	settle := s.task(b, s.GetLatency, 1)
	verdict := s.task(b, float64(b.chunks)*s.GetLatency/readsAtATime, 0)
	s.validation.enter(b, func() {
		b.admitted = s.now
		s.runMap(b.chunks, s.Validate, 1, validate, func() {
			s.runMap(ranges, s.Reconcile, 1, reconcile, func() {
				s.runMap(b.chunks, s.Settle, 1, settle, func() {
					verdict(func() { s.ingest(b) })
				})
			})
		})
	})
}

// ingest ends the validation of a batch, and ingests it.
func (s *simulation) ingest(b *batch) {
	b.verdict = s.now
	s.validation.leave(b)
	s.ingestion.enter(b, func() {
		b.ingested = s.now
		store := func(then func()) { s.store(b, b.lines/float64(b.chunks), then) }
		s.runMap(b.chunks, s.Ingest, 3, store, func() {
			b.ended = s.now
			s.ingestion.leave(b)
		})
	})
}

// store stores the lines of a chunk. A function that has worked for its budget ends, and is invoked again for the rest.
func (s *simulation) store(b *batch, lines float64, then func()) {
	rest := 0.0
	s.invoke(b, 0, func(done func()) {
		s.table.store(lines, s.Budget, func(left float64) { rest = left; done() })
	}, func() {
		if rest > 0 {
			s.result.resumed++
			s.after(2*s.Transition, func() { s.store(b, rest, then) })
			return
		}
		then()
	})
}

// fail ends a batch whose invocations were throttled for too long.
func (s *simulation) fail(b *batch) {
	if b.failed {
		return
	}
	b.failed, b.ended = true, s.now
	s.validation.leave(b)
	s.ingestion.leave(b)
}

// task returns a function that runs one execution, and goes on after it. It takes as long whatever else runs, and reads
// so many objects.
func (s *simulation) task(b *batch, seconds, gets float64) func(then func()) {
	return func(then func()) {
		s.invoke(b, 0, func(done func()) {
			s.result.spread(s.now, seconds, func(u *use, share float64) { u.gets += share * gets })
			s.after(seconds, done)
		}, then)
	}
}

// runMap runs a number of items, some at a time, and goes on after the last. An iteration has a number of transitions.
func (s *simulation) runMap(items, width, transitions int, item func(then func()), then func()) {
	next, left := 0, items
	var iterate func()
	iterate = func() {
		if next == items {
			return
		}
		next++
		s.after(s.Transition, func() {
			s.result.note(s.now, func(u *use) { u.transitions += float64(transitions) })
			item(func() {
				if left--; left == 0 {
					s.after(s.Transition, then)
					return
				}
				// The next item begins after the transitions that end this one.
				s.after(float64(transitions-1)*s.Transition, iterate)
			})
		})
	}
	for range min(width, items) {
		iterate()
	}
}

// invoke does work, which calls done at its end, as one execution of a function. If the account has no room, it tries
// again after a pause, and the batch fails after too many attempts.
func (s *simulation) invoke(b *batch, attempt int, work func(done func()), then func()) {
	if b.failed {
		return
	}
	if s.running >= s.Executions-s.Base {
		s.result.throttled++
		if attempt >= s.Attempts {
			s.fail(b)
			return
		}
		pause := s.rng.Float64() * min(math.Pow(2, float64(attempt)), 30)
		s.after(pause, func() { s.invoke(b, attempt+1, work, then) })
		return
	}
	s.running++
	s.result.note(s.now, func(u *use) { u.executions = max(u.executions, float64(s.running)) })
	s.after(s.Overhead, func() {
		started := s.now
		work(func() {
			s.running--
			s.result.busySeconds += s.now - started + s.Overhead
			if !b.failed {
				then()
			}
		})
	})
}

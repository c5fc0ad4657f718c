package main

// stage is a stage of admission: batches wait for one of its slots, in the order of their arrival within a tenant, and
// the tenant with the fewest slots is next, of several the one whose turn it is.
type stage struct {
	s                *simulation
	slots, perTenant int
	total            int
	// held is the number of slots of each tenant.
	held    map[int]int
	waiting []waiting
	// turn is the tenant that was served last.
	turn int
}

// waiting is a batch that waits for a slot, and what it does with it.
type waiting struct {
	b    *batch
	then func()
}

// enter makes a batch wait for a slot, unless there is no admission.
func (st *stage) enter(b *batch, then func()) {
	if !st.s.Admission {
		then()
		return
	}
	st.waiting = append(st.waiting, waiting{b, then})
	st.s.result.longestQueue = max(st.s.result.longestQueue, len(st.waiting))
	st.grant()
}

// leave gives the slot of a batch back, if it has one.
func (st *stage) leave(b *batch) {
	if !st.s.Admission || !b.holds(st) {
		return
	}
	delete(b.slots, st)
	st.total--
	st.held[b.tenant]--
	st.grant()
}

// grant gives slots to waiting batches while there are any.
func (st *stage) grant() {
	for st.total < st.slots {
		i := st.next()
		if i < 0 {
			return
		}
		w := st.waiting[i]
		st.waiting = append(st.waiting[:i:i], st.waiting[i+1:]...)
		st.total++
		st.held[w.b.tenant]++
		st.turn = w.b.tenant
		w.b.hold(st)
		st.s.after(st.s.Transition, w.then)
	}
}

// next returns the index of the waiting batch that is next; -1 if none may have a slot.
func (st *stage) next() int {
	best := -1
	distance := func(tenant int) int { return (tenant - st.turn - 1 + st.s.Tenants) % st.s.Tenants }
	for i, w := range st.waiting {
		held := st.held[w.b.tenant]
		if held >= st.perTenant {
			continue
		}
		if best < 0 {
			best = i
			continue
		}
		other := st.waiting[best].b.tenant
		if h := st.held[other]; held < h || held == h && distance(w.b.tenant) < distance(other) {
			best = i
		}
	}
	return best
}

// hold records that a batch has a slot.
func (b *batch) hold(st *stage) {
	if b.slots == nil {
		b.slots = map[*stage]bool{}
	}
	b.slots[st] = true
}

// holds reports whether a batch has a slot.
func (b *batch) holds(st *stage) bool { return b.slots[st] }

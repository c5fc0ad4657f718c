package admission

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/shared/ingest/batch"
)

// Order returns the batches that wait at some places, without those that have a slot, in the order in which they would
// get the next slots if nobody left one and each tenant might have any number of them. places are ordered as
// Queue.Waiting returns them.
func (g Gate) Order(places []Place) []batch.ID {
	waiting := map[string][]batch.ID{}
	for _, p := range places {
		if _, isHolder := g.Holders[p.Batch]; !isHolder {
			waiting[p.Tenant] = append(waiting[p.Tenant], p.Batch)
		}
	}
	// byCount has the tenants by their numbers of slots: those with the fewest come next, each once, and have one more
	// then.
	byCount := map[int][]string{}
	counts := g.counts()
	for tenant := range waiting {
		byCount[counts[tenant]] = append(byCount[counts[tenant]], tenant)
	}
	var order []batch.ID
	turn := g.Turn
	for n := 0; len(waiting) > 0; n++ {
		for _, tenant := range inTurn(byCount[n], turn) {
			order, turn = append(order, waiting[tenant][0]), tenant
			if waiting[tenant] = waiting[tenant][1:]; len(waiting[tenant]) == 0 {
				delete(waiting, tenant)
				continue
			}
			byCount[n+1] = append(byCount[n+1], tenant)
		}
	}
	return order
}

// inTurn returns the tenants in the order of their IDs, beginning after the one whose turn was last.
func inTurn(tenants []string, last string) []string {
	slices.SortFunc(tenants, func(a, b string) int {
		if (a > last) != (b > last) {
			if a > last {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return tenants
}

// Positions answers how many batches precede a waiting one. It reads a pool once in Age, whatever the number of
// batches that ask. It is safe for concurrent use.
type Positions struct {
	Queue interface {
		Gate(ctx context.Context, pool Pool) (Gate, error)
		Waiting(ctx context.Context, pool Pool, atMost int) ([]Place, error)
	}
	Now func() time.Time
	// Age is how old a position may be.
	Age time.Duration
	// SmallBytes is the length of the file of the largest small batch.
	SmallBytes int64

	mu    sync.Mutex
	known map[Pool]positions
}

// positions are those of one pool as of a time, from 1.
type positions struct {
	at   time.Time
	byID map[batch.ID]int64
}

// Position returns how many batches get a slot before a batch, and itself: 1 if it is the next one. It returns false if
// the batch does not wait.
func (p *Positions) Position(ctx context.Context, b batch.Batch) (position int64, isWaiting bool, err error) {
	stage, needsSlot := StageOf(b.Status)
	if !needsSlot {
		return 0, false, nil
	}
	pool := PoolOf(stage, b, p.SmallBytes)
	p.mu.Lock()
	defer p.mu.Unlock()
	known, isKnown := p.known[pool]
	if now := p.Now(); !isKnown || now.Sub(known.at) >= p.Age {
		if known, err = p.read(ctx, pool, now); err != nil {
			return 0, false, err
		}
		if p.known == nil {
			p.known = map[Pool]positions{}
		}
		p.known[pool] = known
	}
	position, isWaiting = known.byID[b.ID]
	return position, isWaiting, nil
}

// read returns the positions of a pool.
func (p *Positions) read(ctx context.Context, pool Pool, now time.Time) (positions, error) {
	// The gate is read after the tickets: a batch that gets its slot in between has no position.
	places, err := p.Queue.Waiting(ctx, pool, 0)
	if err != nil {
		return positions{}, err
	}
	if len(places) == 0 {
		return positions{at: now}, nil
	}
	gate, err := p.Queue.Gate(ctx, pool)
	if err != nil {
		return positions{}, err
	}
	known := positions{now, map[batch.ID]int64{}}
	for i, id := range gate.Order(places) {
		known.byID[id] = int64(i + 1)
	}
	return known, nil
}

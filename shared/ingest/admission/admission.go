// Package admission decides which batches are worked on. A batch holds a slot while it is validated, and another one
// while it is ingested; until one is free, its execution waits, without a function, for a task token. Small batches
// have pools of slots of their own, so that none waits for a large one. The slots of a pool are limited in all and for
// each tenant. The batches of a tenant get them in the order of their receipt, the tenants in turn. A large batch is
// ingested in rounds: after each one it gives its slot back and waits for the next.
//
// No process assigns the slots. Every call that enters or leaves a stage, and the sweep, assigns those that are free
// (Slots), each by one conditional write of the stage's gate (Queue). docs/decisions/0026-admission-slots.md has the
// reasons.
package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice/shared/ingest/batch"
)

// Stage is a part of a batch's life for which it needs a slot.
type Stage string

const (
	// Validation begins before the file is planned and ends with the verdict.
	Validation Stage = "validation"
	// Ingestion begins after the verdict and ends with the batch.
	Ingestion Stage = "ingestion"
)

// Stages returns all stages in the order in which a batch passes through them.
func Stages() []Stage { return []Stage{Validation, Ingestion} }

// needing are the statuses of batches that need a slot of a stage.
var needing = map[Stage][]batch.Status{
	Validation: {batch.Uploaded, batch.ValidationStarted},
	Ingestion:  {batch.PendingIngestion, batch.Initialized, batch.InProgress},
}

// IsNeededBy reports whether a batch needs a slot of the stage. One that is past the stage, or has ended, does not. A
// batch that is processed whole needs its slot of validation until its end.
func (s Stage) IsNeededBy(b batch.Batch) bool {
	stage, _ := StageOf(b.Status)
	return s == stage || s == Validation && stage == Ingestion && b.IsProcessedWhole()
}

// StageOf returns the stage in which a batch in a status needs a slot.
func StageOf(status batch.Status) (stage Stage, needsSlot bool) {
	for _, s := range Stages() {
		if slices.Contains(needing[s], status) {
			return s, true
		}
	}
	return "", false
}

// Pool is the slots of one stage for the batches of one size.
type Pool string

// The pools of both stages. Those for large batches have the names of the stages.
const (
	LargeValidation Pool = "validation"
	SmallValidation Pool = "validation-small"
	LargeIngestion  Pool = "ingestion"
	SmallIngestion  Pool = "ingestion-small"
)

// Pools returns all pools, in the order in which batches pass through them.
func Pools() []Pool { return []Pool{LargeValidation, SmallValidation, LargeIngestion, SmallIngestion} }

const smallSuffix = "-small"

// PoolOf returns the pool of a stage for a batch, whose file has been received. A small one has at most smallBytes.
func PoolOf(s Stage, b batch.Batch, smallBytes int64) Pool {
	if b.Source().Size <= smallBytes {
		return Pool(s) + smallSuffix
	}
	return Pool(s)
}

// Stage returns the stage to which the pool belongs.
func (p Pool) Stage() Stage { return Stage(strings.TrimSuffix(string(p), smallSuffix)) }

// Place is where a batch waits: among the batches of its tenant, in the order of their receipt. It is the same for
// every attempt, so that a batch whose token was lost does not lose its place.
type Place struct {
	Tenant     string
	ReceivedAt time.Time
	Batch      batch.ID
}

// PlaceOf returns the place of a batch, which has been received.
func PlaceOf(b batch.Batch) Place { return Place{b.Tenant, b.ReceivedAt, b.ID} }

// Attempt is one run of a waiting state. Each has a token of its own, and only the latest one is waited for.
type Attempt struct {
	// Entered is when the execution entered the state, to the millisecond. An execution that a local cloud begins anew
	// enters it again.
	Entered time.Time
	// Retry is the number of retries of the state before this attempt.
	Retry int
}

// String returns the attempt in a form of constant length; of two attempts, the later one's is greater.
func (a Attempt) String() string {
	return fmt.Sprintf("%s#%06d", a.Entered.UTC().Format("2006-01-02T15:04:05.000Z"), a.Retry)
}

// Ticket is the request of the execution of a batch for a slot.
type Ticket struct {
	Pool Pool
	Place
	Attempt Attempt
	// Round is the number of rounds that the batch has completed in this stage. One that holds a slot for an earlier
	// round gives it back.
	Round int
	// Token is the task token by which the execution goes on once the batch has its slot.
	Token string
}

// HolderOf returns the holder of a slot that the batch of a ticket gets at a time.
func HolderOf(t Ticket, at time.Time) Holder {
	return Holder{Place: t.Place, Round: t.Round, Since: at, LookAt: at}
}

// Holder is a batch that has a slot. One that still has a ticket has not been notified yet.
type Holder struct {
	Place
	// Round is that of the ticket for which it got the slot.
	Round int
	// Since is when it got the slot.
	Since time.Time
	// LookAt is the time from which the sweep looks at whether the batch still needs the slot.
	LookAt time.Time
}

// Gate has the holders of the slots of a pool.
type Gate struct {
	Pool Pool
	// Version is the version of the stored gate, 0 for one that is not stored yet. Every decision increments it; a
	// holder that leaves does not.
	Version int64
	Holders map[batch.ID]Holder
	// Turn is the tenant that got a slot last.
	Turn string
	// Slots is the number of slots to which the pool was last adapted, at AdaptedAt; 0 if it never was.
	Slots     int
	AdaptedAt time.Time
	// RefusedAt is when the table of transactions last refused writes of batches that have slots.
	RefusedAt time.Time
}

// counts returns the number of slots of each tenant that has one.
func (g Gate) counts() map[string]int {
	counts := map[string]int{}
	for _, h := range g.Holders {
		counts[h.Tenant]++
	}
	return counts
}

// WithHolders returns the next version of the gate, with holders, the last one's tenant having had the last turn.
func (g Gate) WithHolders(holders ...Holder) Gate {
	g = g.next()
	for _, h := range holders {
		g.Holders[h.Batch], g.Turn = h, h.Tenant
	}
	return g
}

// WithoutHolder returns the next version of the gate, without a holder.
func (g Gate) WithoutHolder(id batch.ID) Gate {
	g = g.next()
	delete(g.Holders, id)
	return g
}

// WithSlots returns the next version of the gate, adapted to a number of slots.
func (g Gate) WithSlots(slots int, at time.Time) Gate {
	g = g.next()
	g.Slots, g.AdaptedAt = slots, at
	return g
}

// next returns the next version of the gate, which shares nothing with this one.
func (g Gate) next() Gate {
	g.Version++
	if g.Holders = maps.Clone(g.Holders); g.Holders == nil {
		g.Holders = map[batch.ID]Holder{}
	}
	return g
}

// Limits bounds the slots of one pool.
type Limits struct {
	// Slots is how many batches may have one, of all tenants, and PerTenant of one tenant.
	Slots, PerTenant int
	// Most is how many slots an adapted pool may have at most, where Slots is how many it has at first; 0 if the number
	// is fixed.
	Most int
}

// Tasks completes the tasks at which executions wait.
type Tasks interface {
	// Complete ends the task that waits for a token. It returns false if no task waits for it: the task was completed
	// before, has run out of time, or its execution has ended.
	Complete(ctx context.Context, token string) (isWaiting bool, err error)
}

// Load is how much of one pool batches use and wait for.
type Load struct {
	// Waiting is the number of batches that wait for a slot, and Since when the first of them was received.
	Waiting int
	Since   time.Time
	// IsCut means that more batches may wait than were counted, and that one of them may have been received before.
	IsCut bool
	// Used is the number of slots that batches have.
	Used int
	// Slots is the number to which the pool was last adapted; 0 if it never was.
	Slots int
}

// Load returns the load of a pool, and reads at most atMost of the tickets unless that is 0. It may miss the latest
// writes.
func (s *Slots) Load(ctx context.Context, pool Pool, atMost int) (Load, error) {
	places, err := s.Queue.Waiting(ctx, pool, atMost)
	if err != nil {
		return Load{}, err
	}
	gate, err := s.Queue.Gate(ctx, pool)
	if err != nil {
		return Load{}, err
	}
	l := Load{Used: len(gate.Holders), Slots: gate.Slots, IsCut: atMost > 0 && len(places) == atMost}
	for _, p := range places {
		if _, isHolder := gate.Holders[p.Batch]; isHolder {
			continue // it is about to be notified
		}
		if l.Waiting++; l.Waiting == 1 || p.ReceivedAt.Before(l.Since) {
			l.Since = p.ReceivedAt
		}
	}
	return l, nil
}

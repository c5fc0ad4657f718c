package admission

import (
	"context"
	"errors"
	"time"

	"sluice/shared/ingest/batch"
)

// ErrSuperseded means that a later attempt of the same batch waits.
var ErrSuperseded = errors.New("admission: a later attempt waits")

// ErrContended means that somebody else has changed the gate since it was read.
var ErrContended = errors.New("admission: the gate has changed")

// MaxAdmitted is the largest number of batches that get slots by one write.
const MaxAdmitted = 25

// Queue keeps the tickets and the gates of all pools.
//
// Every method may be called concurrently. A write is one conditional write of one item and is durable when the method
// returns. A read returns the effect of every write acknowledged before it began, unless the method says otherwise. An
// error that is not named here means that the outcome is unknown: the call can be repeated, which Admit, EndRound and
// Adapt show by ErrContended. Package admissiontest tests an implementation against these promises.
type Queue interface {
	// Put stores a ticket at its place, in place of one of an earlier attempt. It returns ErrSuperseded, and changes
	// nothing, if the ticket of a later attempt is there.
	Put(ctx context.Context, t Ticket) error
	// Remove removes the ticket of an attempt. It does nothing if there is none, or one of another attempt.
	Remove(ctx context.Context, t Ticket) error
	// Withdraw removes the ticket at a place, whatever its attempt.
	Withdraw(ctx context.Context, pool Pool, p Place) error
	// After returns the tickets that follow a place, atMost of them, in the order of Waiting. A place that has only a
	// tenant is after all of the tenant's, and the zero one before all.
	After(ctx context.Context, pool Pool, p Place, atMost int) ([]Ticket, error)
	// Tickets returns those tickets that are at some places, in no particular order.
	Tickets(ctx context.Context, pool Pool, places []Place) ([]Ticket, error)
	// Waiting returns the places of all tickets, including those of holders that were not notified yet, ordered by
	// tenant, receipt and batch, or the first atMost of them unless that is 0. It may miss the latest writes.
	Waiting(ctx context.Context, pool Pool, atMost int) ([]Place, error)

	// Gate returns the gate of a pool, and an empty one with version 0 if none is stored.
	Gate(ctx context.Context, pool Pool) (Gate, error)
	// Admit gives slots to the batches of some tickets, MaxAdmitted at most, and makes the tenant of the last one the
	// one whose turn was last. It returns the gate after that, or ErrContended if the stored gate does not have the
	// version of the given one. Batches whose slots were released since are holders of the returned gate, not of the
	// stored one.
	Admit(ctx context.Context, g Gate, at time.Time, tickets ...Ticket) (Gate, error)
	// EndRound takes the slot from a batch. It returns the gate after that, or ErrContended if the stored gate does not
	// have the version of the given one, or the batch has no slot.
	EndRound(ctx context.Context, g Gate, id batch.ID) (Gate, error)
	// Adapt sets the number of slots of the pool. It returns the gate after that, or ErrContended if the stored gate
	// does not have the version of the given one.
	Adapt(ctx context.Context, g Gate, slots int, at time.Time) (Gate, error)
	// SetRefused sets RefusedAt of a stored gate, and leaves its version. It does nothing if none is stored.
	SetRefused(ctx context.Context, pool Pool, at time.Time) error
	// Release takes the slot from a batch, and leaves the version of the gate: whoever decides by an older gate gives
	// out too few slots, and none to a batch that had one. If the batch has no slot, it increments the version, so that
	// no Admit that is under way gives it one afterwards.
	Release(ctx context.Context, pool Pool, id batch.ID) error
	// Postpone sets the time from which a holder is to be looked at. It does nothing if the batch has no slot.
	Postpone(ctx context.Context, pool Pool, id batch.ID, at time.Time) error
}

package batch

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Filter selects batches of a tenant. The zero value selects all.
type Filter struct {
	// Statuses are the statuses that a batch may have; empty for any.
	Statuses []Status
	// States are the states in one of which a batch is; empty for any.
	States []State `json:",omitempty"`
	// CreatedAfter and CreatedBefore are times between which a batch is created, without these times themselves; zero
	// for no bound.
	CreatedAfter, CreatedBefore time.Time
	// Client is the client that created the batch; empty for any.
	Client string
	// NamePrefix is the beginning of the name of the batch.
	NamePrefix string
	// Metadata are pairs that the metadata of the batch have.
	Metadata map[string]string
}

// SelectsAll reports whether the filter selects every batch.
func (f Filter) SelectsAll() bool {
	return len(f.Statuses) == 0 && len(f.States) == 0 && f.CreatedAfter.IsZero() && f.CreatedBefore.IsZero() &&
		f.Client == "" && f.NamePrefix == "" && len(f.Metadata) == 0
}

// Matches reports whether a batch is selected.
func (f Filter) Matches(b Batch) bool {
	for key, value := range f.Metadata {
		if have, exists := b.Metadata[key]; !exists || have != value {
			return false
		}
	}
	return (len(f.Statuses) == 0 || slices.Contains(f.Statuses, b.Status)) &&
		(len(f.States) == 0 || slices.ContainsFunc(f.States, func(s State) bool { return s.includes(b.Status) })) &&
		(f.CreatedAfter.IsZero() || b.CreatedAt.After(f.CreatedAfter)) &&
		(f.CreatedBefore.IsZero() || b.CreatedAt.Before(f.CreatedBefore)) &&
		(f.Client == "" || b.Client == f.Client) && strings.HasPrefix(b.Name, f.NamePrefix)
}

// State is a part of the life of a batch by which lists select, by the name that requests have.
type State string

// The states. InOpen includes InAwaitingUpload.
const (
	InAwaitingUpload State = "awaiting_upload"
	InOpen           State = "open"
	InEnded          State = "ended"
)

// States returns all states.
func States() []State { return []State{InAwaitingUpload, InOpen, InEnded} }

func (s State) includes(status Status) bool {
	switch s {
	case InAwaitingUpload:
		return status == AwaitingUpload
	case InOpen:
		return !status.IsTerminal()
	}
	return status.IsTerminal()
}

// idSlack is how far the time in the ID of a batch may be from the time of its creation.
const idSlack = 10 * time.Minute

// IDs returns the bounds of the IDs of the batches that are selected, which may be among them.
func (f Filter) IDs() (first, last ID) {
	first, last = firstIDAt(time.UnixMilli(0)), "g" // no ID is as great
	if !f.CreatedAfter.IsZero() {
		first = firstIDAt(f.CreatedAfter.Add(-idSlack))
	}
	if !f.CreatedBefore.IsZero() {
		last = firstIDAt(f.CreatedBefore.Add(idSlack))
	}
	return first, last
}

// firstIDAt returns an ID that precedes those that are made at a time, and follows those that are made in an earlier
// millisecond. A time that no ID can have counts as the nearest one that can.
func firstIDAt(t time.Time) ID {
	const maxMilliseconds = 1<<48 - 1
	var u uuid.UUID
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(min(max(t.UnixMilli(), 0), maxMilliseconds)))
	copy(u[:6], ms[2:])
	return ID(u.String())
}

// Time returns the time at which an ID was made, to the millisecond; zero if the ID does not contain it.
func (id ID) Time() time.Time {
	u, err := uuid.Parse(string(id))
	if err != nil || u.Version() != 7 {
		return time.Time{}
	}
	var ms [8]byte
	copy(ms[2:], u[:6])
	return time.UnixMilli(int64(binary.BigEndian.Uint64(ms[:]))).UTC()
}

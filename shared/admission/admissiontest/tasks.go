package admissiontest

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"sluice/shared/admission"
)

// Tasks are tasks that wait for tokens. Each waits for its token until it is told.
type Tasks struct {
	mu   sync.Mutex
	told []string
}

var _ admission.Tasks = (*Tasks)(nil)

// Complete implements admission.Tasks.
func (t *Tasks) Complete(_ context.Context, token string) (isWaiting bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.Contains(t.told, token) {
		return false, nil
	}
	t.told = append(t.told, token)
	return true, nil
}

// Told returns the tokens of the tasks that were told, in the order in which they were.
func (t *Tasks) Told() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.told)
}

// NewSlots returns slots for everyone, with a queue in memory.
func NewSlots() *admission.Slots {
	plenty := admission.Limits{Slots: 1000, PerTenant: 1000}
	return &admission.Slots{
		Queue: NewMemory(), Tasks: &Tasks{}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Limits: map[admission.Stage]admission.Limits{admission.Validation: plenty, admission.Ingestion: plenty},
	}
}

package admissiontest

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"sluice/shared/ingest/admission"
)

// Tasks are tasks that wait for tokens. Each waits until it is completed.
type Tasks struct {
	mu        sync.Mutex
	completed []string
}

var _ admission.Tasks = (*Tasks)(nil)

// Complete implements admission.Tasks.
func (t *Tasks) Complete(_ context.Context, token string) (isWaiting bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.Contains(t.completed, token) {
		return false, nil
	}
	t.completed = append(t.completed, token)
	return true, nil
}

// Completed returns the tokens of the completed tasks, in the order in which they were completed.
func (t *Tasks) Completed() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.completed)
}

// NewSlots returns slots for everyone, with a queue in memory.
func NewSlots() *admission.Slots {
	plenty := admission.Limits{Slots: 1000, PerTenant: 1000}
	return &admission.Slots{
		Queue: NewMemory(), Tasks: &Tasks{}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Sequential: true,
		Limits: map[admission.Pool]admission.Limits{
			admission.LargeValidation: plenty, admission.SmallValidation: plenty,
			admission.LargeIngestion: plenty, admission.SmallIngestion: plenty,
		},
	}
}

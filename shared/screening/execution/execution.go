// Package execution runs the searches of screening batches: a state machine of its own
// (statemachine/screening.asl.json), whose executions have the IDs of their batches as names. It has a branch for each
// provider. The step of the built-in provider searches the pinned lists, some entities at a time (Search); that of any
// other one sends a question to the provider's adapter (Ask) and waits for the answer, which the receptor records
// (Answers). A branch that fails, and an execution that is stopped, end their searches as failed (Conduct), which also
// starts executions whose start was lost.
//
// All of them can run any number of times, also at the same time: the IDs of matches follow from their contents,
// and a search ends by a conditional write.
package execution

import (
	"context"
	"time"

	"sluice/shared/screening"
)

// Input is the input of an execution, and of each of its states.
type Input struct {
	Tenant  string `json:"tenant"`
	BatchID string `json:"batch_id"`
	Run     int    `json:"run"`
}

// margin is the time that a step leaves at the end of its invocation to report an error.
const margin = 2 * time.Second

// Transient asks the state machine to run the step again later. It is returned bare: Retry matches the name of the
// type.
type Transient struct{ Message string }

// Error implements error.
func (e *Transient) Error() string { return e.Message }

// Adapters sends messages to the adapters of providers.
type Adapters interface {
	// Screen asks the adapter of a provider to search for the entities of a batch. It returns nil once the adapter has
	// accepted the question, a *Refusal if it has not, and any other error if the service itself is at fault.
	Screen(ctx context.Context, b screening.Batch, p screening.ProviderRun, entities []screening.Entity) error
}

// Refusal is the reason why the adapter of a provider did not accept a message.
type Refusal struct {
	screening.ProviderError
	// MayPass means that the same message may be accepted later: the adapter was not reached, was busy, or has failed.
	MayPass bool
}

// Error implements error. It returns the code and the message.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

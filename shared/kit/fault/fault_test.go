package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"sluice/shared/kit/errtest"
	"sluice/shared/kit/fault"
)

func TestAs(t *testing.T) {
	notFound := fault.New(fault.NotFound, "thing_not_found", "No thing.")
	cause := errors.New("secret")
	for name, tt := range map[string]struct {
		err     error
		kind    fault.Kind
		message string
	}{
		"a fault":         {notFound, fault.NotFound, "No thing."},
		"a wrapped fault": {fmt.Errorf("read: %w", notFound), fault.NotFound, "No thing."},
		"a foreign error": {cause, fault.Internal, "Internal server error."},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fault.As(tt.err); got.Kind != tt.kind || got.Message != tt.message {
				t.Errorf("got the kind %d with %q, want %d with %q", got.Kind, got.Message, tt.kind, tt.message)
			}
		})
	}
	errtest.Is(t, "the internal error of a foreign error has lost its cause", fault.As(cause), cause)
}

// WithCause and WithDetails return copies, which are the same fault for errors.Is.
func TestCopies(t *testing.T) {
	original := fault.NewInvalid(fault.Detail{Code: "a"})
	cause := errors.New("cause")
	changed := original.WithDetails(fault.Detail{Code: "b"}).WithCause(cause)
	if len(original.Details) != 1 || errors.Is(original, cause) {
		t.Errorf("got the original %+v changed", original)
	}
	if len(changed.Details) != 2 || !errors.Is(changed, cause) || !errors.Is(changed, original) {
		t.Errorf("got %+v, want two details, the cause, and the same fault as the original", changed)
	}
	if errors.Is(changed, fault.New(fault.BadRequest, "invalid_request", "")) {
		t.Error("faults of the same code but different kinds are the same")
	}
}

package documenthttp

import (
	"errors"
	"testing"

	"sluice/shared/platform/document"
)

// A command that meets changes by others is repeated, but not for ever; other failures are not repeated.
func TestRetryIfChanged(t *testing.T) {
	other := errors.New("no answer")
	for _, test := range []struct {
		name string
		errs []error
		want error
		// calls is how often the command runs.
		calls int
	}{
		{"no change", []error{nil}, nil, 1},
		{"changes", []error{document.ErrChanged, document.ErrChanged, nil}, nil, 3},
		{"too many changes", []error{document.ErrChanged, document.ErrChanged, document.ErrChanged, nil},
			document.ErrChanged, 3},
		{"another error", []error{other, nil}, other, 1},
	} {
		calls := 0
		err := retryIfChanged(func() error {
			calls++
			return test.errs[calls-1]
		})
		if !errors.Is(err, test.want) || calls != test.calls {
			t.Errorf("%s: %v after %d calls, want %v after %d", test.name, err, calls, test.want, test.calls)
		}
	}
}

package difftest_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// recorder is a test that notes its failures.
type recorder struct {
	testing.TB
	failures int
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failures++ }

// Each check of this package and of errtest fails a test exactly if its values are not the wanted ones.
func TestChecks(t *testing.T) {
	t.Parallel()
	wrapped := fmt.Errorf("read a: %w", io.EOF)
	for name, check := range map[string]struct{ right, wrong func(testing.TB) }{
		"Equal": {func(t testing.TB) { difftest.Equal(t, "", []int{1}, []int{1}) },
			func(t testing.TB) { difftest.Equal(t, "", []int{1}, []int{2}) }},
		"Len": {func(t testing.TB) { difftest.Len(t, "", 1, map[string]int{"a": 1}) },
			func(t testing.TB) { difftest.Len(t, "", 0, []int{1}) }},
		"Contains": {func(t testing.TB) { difftest.Contains(t, "", "abc", "a", "c") },
			func(t testing.TB) { difftest.Contains(t, "", "abc", "a", "d") }},
		"Reply": {func(t testing.TB) { difftest.Reply(t, "", 404, "no batch")(404, "no batch a") },
			func(t testing.TB) { difftest.Reply(t, "", 404)(403, "") }},
		"Reply without a part": {func(t testing.TB) { difftest.Reply(t, "", 404, "1")(404, map[string]int{"a": 1}) },
			func(t testing.TB) { difftest.Reply(t, "", 404, "no batch")(404, "no file") }},
		"Is": {func(t testing.TB) { errtest.Is(t, "", wrapped, io.EOF) },
			func(t testing.TB) { errtest.Is(t, "", nil, io.EOF) }},
		"Is nil": {func(t testing.TB) { errtest.Is(t, "", nil, nil) },
			func(t testing.TB) { errtest.Is(t, "", errors.New("a"), nil) }},
		"Fails": {func(t testing.TB) { errtest.Fails(t, "", wrapped, "read", "EOF") },
			func(t testing.TB) { errtest.Fails(t, "", nil) }},
		"Fails without a part": {func(t testing.TB) { errtest.Fails(t, "", wrapped) },
			func(t testing.TB) { errtest.Fails(t, "", wrapped, "write") }},
	} {
		var right, wrong recorder
		check.right(&right)
		check.wrong(&wrong)
		if right.failures != 0 || wrong.failures == 0 {
			t.Errorf("%s: %d and %d failures, want none for right values and some for wrong ones", name,
				right.failures, wrong.failures)
		}
	}
}

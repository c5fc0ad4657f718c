package validation

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// TestInOrder: with any number of workers every item is used in its turn, and nothing behind an error; an end from
// outside shows.
func TestInOrder(t *testing.T) {
	const n = 10
	for workers := range 4 {
		for stop := range n + 1 {
			for _, way := range []string{"get", "use", "cancel"} {
				ctx, cancel := context.WithCancel(t.Context())
				want := errFault
				var used []int
				err := forEachInOrder(ctx, n, workers, func(_ context.Context, i int) (int, error) {
					if i == stop && way == "get" {
						return 0, errFault
					}
					return i * i, nil
				}, func(i, item int) error {
					if item != i*i {
						t.Errorf("%d workers: item %d is %d", workers, i, item)
					}
					switch {
					case i == stop && way == "use":
						return errFault
					case i == stop && way == "cancel":
						cancel()
					}
					used = append(used, i)
					return nil
				})
				cancel()
				if way == "cancel" {
					want = context.Canceled
				}
				if stop == n {
					want = nil
				}
				if !errors.Is(err, want) {
					t.Errorf("%d workers, %s at %d: %v", workers, way, stop, err)
				}
				if way != "cancel" && !slices.Equal(used, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}[:stop]) {
					t.Errorf("%d workers, %s at %d: used %v", workers, way, stop, used)
				}
			}
		}
	}
}

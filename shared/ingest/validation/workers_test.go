package validation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestForEachInOrder ends a run in every way at every item, with any number of workers: items are consumed in order,
// and none after an error.
func TestForEachInOrder(t *testing.T) {
	const n = 10
	squares := []int{0, 1, 4, 9, 16, 25, 36, 49, 64, 81}
	for workers := range 4 {
		for _, end := range []string{"produce fails", "consume fails", "context is cancelled"} {
			for endAt := range n + 1 { // n: it does not end early
				t.Run(fmt.Sprintf("%d workers, %s at %d", workers, end, endAt), func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					var consumed []int
					err := forEachInOrder(ctx, n, workers, func(_ context.Context, i int) (int, error) {
						if i == endAt && end == "produce fails" {
							return 0, errFault
						}
						return i * i, nil
					}, func(i, square int) error {
						if i == endAt && end == "consume fails" {
							return errFault
						}
						if i == endAt && end == "context is cancelled" {
							cancel()
						}
						consumed = append(consumed, square)
						return nil
					})
					var wantErr error
					if endAt < n {
						wantErr = errFault
						if end == "context is cancelled" {
							wantErr = context.Canceled
						}
					}
					if !errors.Is(err, wantErr) {
						t.Errorf("error is %v, want %v", err, wantErr)
					}
					want := squares[:endAt]
					if end == "context is cancelled" {
						want = squares[:len(consumed)] // Results that are ready may still be consumed.
					}
					if !slices.Equal(consumed, want) {
						t.Errorf("consumed %v, want %v", consumed, want)
					}
				})
			}
		}
	}
}

package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"sluice/internal/command"
)

// listing is a list of the service that a command prints.
type listing[T any] struct {
	// page returns a page of at most limit items: the first one for the token "", and each with the token of the page
	// after it, which is "" for the last.
	page func(ctx context.Context, limit int, token string) (items []T, next string, err error)
	// none tells people that there is no item.
	none string
	// maxPage is how many items one request returns at most.
	maxPage int
	// print prints items for people, and record returns what --json prints of an item.
	print  func(stdout io.Writer, items []T) error
	record func(item T) any
}

// run prints at most limit items, page by page. What was printed before an error stays. That there is none goes to
// standard error.
func (l listing[T]) run(ctx context.Context, limit int, asJSON bool, stdout io.Writer) error {
	if limit < 1 {
		return command.Usagef("--limit must be at least 1")
	}
	printed := 0
	for token := ""; ; {
		items, next, err := l.page(ctx, min(limit-printed, l.maxPage), token)
		if err != nil {
			return err
		}
		if asJSON {
			records := make([]any, len(items))
			for i, item := range items {
				records[i] = l.record(item)
			}
			err = printJSONLines(stdout, records)
		} else {
			err = l.print(stdout, items)
		}
		if err != nil {
			return err
		}
		printed, token = printed+len(items), next
		if token == "" || printed >= limit {
			break
		}
	}
	if printed == 0 && !asJSON {
		fmt.Fprintln(os.Stderr, l.none)
	}
	return nil
}

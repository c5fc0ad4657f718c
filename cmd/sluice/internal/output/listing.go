package output

import (
	"context"
	"fmt"
	"io"
	"os"

	"sluice/internal/command"
)

// Listing is a list of the service that a command prints.
type Listing[T any] struct {
	// Page returns a page of at most limit items: the first one for the token "", and each with the token of the page
	// after it, which is "" for the last.
	Page func(ctx context.Context, limit int, token string) (items []T, next string, err error)
	// None tells people that there is no item.
	None string
	// MaxPage is how many items one request returns at most.
	MaxPage int
	// Print prints items for people, and record returns what --json prints of an item.
	Print  func(stdout io.Writer, items []T) error
	Record func(item T) any
}

// Run prints at most limit items, page by page. What was printed before an error stays. That there is none goes to
// standard error.
func (l Listing[T]) Run(ctx context.Context, limit int, asJSON bool, stdout io.Writer) error {
	if limit < 1 {
		return command.Usagef("--limit must be at least 1")
	}
	printed := 0
	for token := ""; ; {
		items, next, err := l.Page(ctx, min(limit-printed, l.MaxPage), token)
		if err != nil {
			return err
		}
		if asJSON {
			records := make([]any, len(items))
			for i, item := range items {
				records[i] = l.Record(item)
			}
			err = PrintJSONLines(stdout, records)
		} else {
			err = l.Print(stdout, items)
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
		fmt.Fprintln(os.Stderr, l.None)
	}
	return nil
}

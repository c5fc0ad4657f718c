// Package output prints replies of the service: as JSON, as lists and as names with values.
package output

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"sluice/internal/command"
	"sluice/internal/linefile"
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

// facts prints names and values below each other, of which those without a value are left out.
type facts struct{ table *tabwriter.Writer }

func NewFacts(w io.Writer) facts { return facts{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

// Add prints a name and its value, unless that is "".
func (f facts) Add(name, value string) {
	if value != "" {
		fmt.Fprintf(f.table, "%s\t%s\n", linefile.Printable(name), linefile.Printable(value))
	}
}

// AddTime prints a name and a time, unless that is nil.
func (f facts) AddTime(name string, t *time.Time) {
	if t != nil {
		f.Add(name, t.Format(time.RFC3339))
	}
}

// Print writes what was added.
func (f facts) Print() error { return f.table.Flush() }

// PrintJSONLines prints the elements of a list, one a line.
func PrintJSONLines[T any](stdout io.Writer, list []T) error {
	if r, isRecorded := stdout.(*recorder); isRecorded {
		r.isList = true
	}
	for _, v := range list {
		if err := EncodeLine(stdout, v); err != nil {
			return err
		}
	}
	return nil
}

// RepliesOf returns what the items of a list were decoded from.
func RepliesOf[T any](items []T, reply func(T) json.RawMessage) []json.RawMessage {
	replies := make([]json.RawMessage, len(items))
	for i, item := range items {
		replies[i] = reply(item)
	}
	return replies
}

// PrintReply prints a reply of the service as it came, but indented. Names, order, numbers and escapes stay the same.
func PrintReply(w io.Writer, reply []byte) error {
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(reply), "", "  "); err != nil {
		return fmt.Errorf("the reply is not JSON: %w", err)
	}
	out.WriteByte('\n')
	_, err := out.WriteTo(w)
	return err
}

// PrintJSON prints a value as indented JSON.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// EncodeLine writes a value as a line of JSON.
func EncodeLine(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

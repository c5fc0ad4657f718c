package output

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"sluice/internal/linefile"
)

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

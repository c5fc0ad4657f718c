package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// facts prints names and values below each other, of which those without a value are left out.
type facts struct{ table *tabwriter.Writer }

func newFacts(w io.Writer) facts { return facts{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

// add prints a name and its value, unless that is "".
func (f facts) add(name, value string) {
	if value != "" {
		fmt.Fprintf(f.table, "%s\t%s\n", printable(name), printable(value))
	}
}

// addTime prints a name and a time, unless that is nil.
func (f facts) addTime(name string, t *time.Time) {
	if t != nil {
		f.add(name, t.Format(time.RFC3339))
	}
}

// print writes what was added.
func (f facts) print() error { return f.table.Flush() }

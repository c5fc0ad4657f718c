package main

import "strings"

// listFlag is a flag that can be repeated: the values in the order of the command line.
type listFlag []string

// String returns the values, separated by commas.
func (l *listFlag) String() string { return strings.Join(*l, ",") }

// Set adds a value.
func (l *listFlag) Set(value string) error {
	*l = append(*l, value)
	return nil
}

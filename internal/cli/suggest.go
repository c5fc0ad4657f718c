package cli

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// invalidValue is how package flag reports a value that it cannot read.
var invalidValue = regexp.MustCompile(`(?s)^invalid (boolean )?value (".*") for (?:flag )?-([^:]+): (.*)$`)

// explainFlagError says in the words of the help what package flag found wrong with the flags.
func explainFlagError(err error, flags *flag.FlagSet) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		var names []string
		flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
		if other := Closest(name, names); other != "" {
			return fmt.Errorf("there is no option %s (did you mean %s?)", flagName(name), flagName(other))
		}
		return fmt.Errorf("there is no option %s", flagName(name))
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return fmt.Errorf("the option %s needs a value", flagName(name))
	}
	m := invalidValue.FindStringSubmatch(text)
	switch {
	case m == nil:
		return err
	case m[1] != "":
		return fmt.Errorf("%s is true or false, not %s", flagName(m[3]), m[2])
	case m[4] == "parse error":
		return fmt.Errorf("%s is %s, not %s", flagName(m[3]), kindOfValue(flags.Lookup(m[3])), m[2])
	case m[4] == "value out of range":
		return fmt.Errorf("the value %s of %s is out of range", m[2], flagName(m[3]))
	}
	return errors.New("the value " + m[2] + " of " + flagName(m[3]) + " is invalid: " + m[4])
}

// kindOfValue says what the value of a flag must be, for a type that package flag parses itself.
func kindOfValue(f *flag.Flag) string {
	value, _ := f.Value.(flag.Getter)
	if value == nil {
		return "another value"
	}
	switch value.Get().(type) {
	case time.Duration:
		return "a duration such as 90s, 10m or 2h"
	case int, int64:
		return "a whole number"
	case uint, uint64:
		return "a whole number from 0"
	}
	return "a number"
}

// Closest returns the candidate that a user who typed word most probably meant, or "" if none is near.
func Closest(word string, candidates []string) string {
	best, bestDistance := "", len(word)/3+1
	for _, candidate := range candidates {
		d := distance(strings.ToLower(word), candidate)
		if len(word) >= 3 && strings.HasPrefix(candidate, word) {
			d = 1
		}
		if d <= bestDistance && d < len(candidate) && (best == "" || d < bestDistance) {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// distance is the least number of insertions, deletions, replacements of a byte and swaps of neighbours that turn a
// into b (optimal string alignment).
func distance(a, b string) int {
	var beforeLast []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], beforeLast[j-2]+1)
			}
		}
		beforeLast, last = last, row
	}
	return last[len(b)]
}

// joinOr lists alternatives.
func joinOr(items []string) string {
	if len(items) == 1 {
		return items[0]
	}
	return strings.Join(items[:len(items)-1], ", ") + " or " + items[len(items)-1]
}

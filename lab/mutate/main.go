// Command mutate shows that the tests notice what keeps writes and retries right. In a copy of the repository it drops
// the condition of each conditional write, and removes each retry, one at a time, and runs tests against each such
// mutant. A mutant that no test notices must be listed in survivors.txt with the reason why it is harmless; a listed
// one that is noticed, or does not exist any more, must not.
//
//	make -C lab mutations                 all of them, which takes a long time
//	make -C lab mutations ONLY=batchdb    those whose names match a regular expression
//
// It runs in the root of the repository. With -list it prints the names of the mutants.
//
// The Go mutants of the copy are compiled once: a mutated place asks whether it is the one that is on.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// survivorsText lists the mutants that no test notices: a line has the name of one, a tab and the reason.
//
//go:embed survivors.txt
var survivorsText string

func main() {
	only := flag.String("only", "", "`REGEXP` that the names of the mutants match")
	list := flag.Bool("list", false, "print the names and end")
	seeds := flag.Int("seeds", 20, "how many seeds of faults a mutant of the pipeline meets that no other test has "+
		"noticed; 0 for none")
	keep := flag.String("copy", "", "`DIR` for the copy of the repository, which is kept; a temporary one by default")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	wanted, err := regexp.Compile(*only)
	if err == nil {
		err = run(ctx, os.Stdout, options{wanted, *list, *seeds, *keep})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// options are those of the command line.
type options struct {
	only  *regexp.Regexp
	list  bool
	seeds int
	copy  string
}

// run finds the mutants, tries them and compares the outcome with the list of survivors.
func run(ctx context.Context, out io.Writer, o options) error {
	reasons, err := parseSurvivors(survivorsText)
	if err != nil {
		return err
	}
	w, err := newWorkspace(ctx, o.copy)
	if err != nil {
		return err
	}
	defer w.remove()
	all, err := w.plant()
	if err != nil {
		return err
	}
	if err := checkSurvivors(reasons, all); err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(m mutant) bool { return !o.only.MatchString(m.name) })
	if o.list {
		for _, m := range all {
			fmt.Fprintln(out, m.name)
		}
		return nil
	}
	counts, problems := map[string]int{}, []string{}
	for _, m := range all {
		by, err := w.try(ctx, m, o.seeds)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		reason, isListed := reasons[m.name]
		outcome := "caught by " + by
		switch {
		case by == "" && isListed:
			outcome, by = "survives: "+reason, "survives, listed"
		case by == "":
			outcome, by = "SURVIVES and is not listed", "survives"
			problems = append(problems, m.name+" survives")
		case isListed:
			problems = append(problems, m.name+" is listed as a survivor and was caught by "+by)
		}
		counts[by]++
		fmt.Fprintf(out, "%-90s %s\n", m.name, outcome)
	}
	fmt.Fprintf(out, "\n%d mutants\n", len(all))
	for _, by := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(out, "%6d %s\n", counts[by], by)
	}
	if len(problems) > 0 {
		return fmt.Errorf("%d problems:\n%s", len(problems), strings.Join(problems, "\n"))
	}
	return nil
}

// parseSurvivors reads the list of survivors: their reasons by their names.
func parseSurvivors(text string) (map[string]string, error) {
	reasons := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, _ := strings.Cut(line, "\t")
		if reasons[name] != "" || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("survivors.txt: %q is listed twice or without a reason after a tab", name)
		}
		reasons[name] = strings.TrimSpace(reason)
	}
	return reasons, nil
}

// checkSurvivors returns an error for a survivor that does not name a mutant.
func checkSurvivors(reasons map[string]string, all []mutant) error {
	for name := range reasons {
		if !slices.ContainsFunc(all, func(m mutant) bool { return m.name == name }) {
			return fmt.Errorf("survivors.txt: there is no mutant %q", name)
		}
	}
	return nil
}

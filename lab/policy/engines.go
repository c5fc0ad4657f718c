package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// engine evaluates conditions.
type engine interface {
	// name is the title of the engine's columns, and explain what it is.
	name() string
	explain() string
	// compile compiles the condition of a case to what decides whether an entity meets it. One goroutine uses that.
	compile(benchCase) (func(*entity) (bool, error), error)
}

// engineCost is what one engine takes for one case.
type engineCost struct {
	compile, evaluate time.Duration
	// allocs is the number of allocations of one evaluation.
	allocs float64
}

// compareEngines measures all engines on all cases and prints the table. It fails if two engines disagree.
func compareEngines(w io.Writer, engines []engine, entities []*entity, rounds int) error {
	fmt.Fprintf(w, "Conditions on %d entities, all engines with the same answers. Best of %d rounds.\n\n",
		len(entities), rounds)
	for _, e := range engines {
		fmt.Fprintf(w, "  %-8s %s\n", e.name(), e.explain())
	}
	fmt.Fprintf(w, "\n%-18s %4s", "", "met")
	for _, e := range engines {
		fmt.Fprintf(w, "   %23s", e.name())
	}
	header := fmt.Sprintf("   %5s %6s %10s", "ns", "allocs", "compile µs")
	fmt.Fprintf(w, "\n%23s%s\n", "", strings.Repeat(header, len(engines)))
	for _, c := range benchCases() {
		met, costs, err := measureCase(c, engines, entities, rounds)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%-18s %4d", c.name, met)
		for _, cost := range costs {
			micros := float64(cost.compile.Nanoseconds()) / 1000
			fmt.Fprintf(w, "   %5d %6.1f %10.1f", cost.evaluate.Nanoseconds(), cost.allocs, micros)
		}
		fmt.Fprintln(w)
	}
	return nil
}

// measureCase measures one case, the engines in turn, and returns how many entities meet the condition.
func measureCase(c benchCase, engines []engine, entities []*entity, rounds int) (int, []engineCost, error) {
	const evaluations, compilations = 100_000, 200
	compiled := make([]func(*entity) (bool, error), len(engines))
	for i, e := range engines {
		var err error
		if compiled[i], err = e.compile(c); err != nil {
			return 0, nil, fmt.Errorf("%s compiles %q: %w", e.name(), c.name, err)
		}
	}
	met, err := checkAnswers(c, engines, compiled, entities)
	if err != nil {
		return 0, nil, err
	}
	costs := make([]engineCost, len(engines))
	for round := range rounds {
		for i, e := range engines {
			evaluate, allocs := measure(evaluations, func(n int) { compiled[i](entities[n%len(entities)]) })
			compile, _ := measure(compilations, func(int) { e.compile(c) })
			if best := &costs[i]; round == 0 {
				*best = engineCost{compile, evaluate, allocs}
			} else {
				*best = engineCost{min(best.compile, compile), min(best.evaluate, evaluate), allocs}
			}
		}
	}
	return met, costs, nil
}

// checkAnswers has every engine judge every entity, and returns how many meet the condition.
func checkAnswers(c benchCase, engines []engine, compiled []func(*entity) (bool, error), entities []*entity) (met int,
	err error) {
	for n, entity := range entities {
		var first bool
		for i, e := range engines {
			answer, err := compiled[i](entity)
			if err != nil {
				return 0, fmt.Errorf("%s evaluates %q: %w", e.name(), c.name, err)
			}
			if i == 0 {
				first = answer
			}
			if answer != first {
				return 0, fmt.Errorf("%q of entity %d %v is %v for %s and %v for %s", c.name, n, entity.values,
					first, engines[0].name(), answer, e.name())
			}
		}
		if first {
			met++
		}
	}
	return met, nil
}

// measure returns the CPU time and the number of allocations of one call of f, which is called n times.
func measure(n int, f func(i int)) (time.Duration, float64) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpuTime()
	for i := range n {
		f(i)
	}
	took := cpuTime() - start
	runtime.ReadMemStats(&after)
	return took / time.Duration(n), float64(after.Mallocs-before.Mallocs) / float64(n)
}

// withVersion returns the path of a module with the version of which this program is built.
func withVersion(module string) string {
	info, _ := debug.ReadBuildInfo() // it is there in programs that the go command builds
	for _, m := range info.Deps {
		if m.Path == module {
			return module + " " + m.Version
		}
	}
	return module
}

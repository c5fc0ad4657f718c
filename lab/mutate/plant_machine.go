package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// plantMachine returns the mutants of a state machine: each without one of its Retry entries.
func plantMachine(file string, text []byte) ([]mutant, error) {
	var definition map[string]any
	if err := json.Unmarshal(text, &definition); err != nil {
		return nil, err
	}
	var mutants []mutant
	var walk func(states map[string]any) error
	walk = func(states map[string]any) error {
		for name, s := range states {
			state, _ := s.(map[string]any)
			for _, key := range []string{"ItemProcessor", "Iterator"} {
				if inner, ok := state[key].(map[string]any); ok {
					if err := walk(inner["States"].(map[string]any)); err != nil {
						return err
					}
				}
			}
			branches, _ := state["Branches"].([]any)
			for _, branch := range branches {
				if err := walk(branch.(map[string]any)["States"].(map[string]any)); err != nil {
					return err
				}
			}
			retries, _ := state["Retry"].([]any)
			for i, r := range retries {
				state["Retry"] = slices.Delete(slices.Clone(retries), i, i+1)
				mutated, err := json.MarshalIndent(definition, "", "  ")
				state["Retry"] = retries
				if err != nil {
					return err
				}
				first := r.(map[string]any)["ErrorEquals"].([]any)[0]
				mutants = append(mutants, mutant{
					name: fmt.Sprintf("%s %s retry of %v", file, name, first), dir: filepath.Dir(file), machine: file,
					text: mutated,
				})
			}
		}
		return nil
	}
	err := walk(definition["States"].(map[string]any))
	slices.SortFunc(mutants, func(a, b mutant) int { return strings.Compare(a.name, b.name) })
	return mutants, err
}

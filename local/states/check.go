package states

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// check checks that all transitions lead to existing states, that each state can be reached and that one ends the
// definition. Step Functions refuses all of that when a machine is created (MISSING_TRANSITION_TARGET and
// MISSING_END_STATE in ValidateStateMachineDefinition).
func (d *Definition) check() error {
	if d.States[d.StartAt] == nil {
		return fmt.Errorf("starts at %q, which is not one of its states", d.StartAt)
	}
	hasEnd := false
	for _, s := range d.States {
		for _, n := range s.successors() {
			if d.States[n] == nil {
				return fmt.Errorf("has a state %s that leads to %q, which is not one of its states", s.name, n)
			}
		}
		hasEnd = hasEnd || s.End || s.Type == "Succeed" || s.Type == "Fail"
	}
	if !hasEnd {
		return fmt.Errorf("has no state that ends it")
	}
	reached := map[string]bool{d.StartAt: true}
	for queue := []string{d.StartAt}; len(queue) > 0; queue = queue[1:] {
		for _, n := range d.States[queue[0]].successors() {
			if !reached[n] {
				reached[n] = true
				queue = append(queue, n)
			}
		}
	}
	for name := range d.States {
		if !reached[name] {
			return fmt.Errorf("has a state %s to which no other state leads", name)
		}
	}
	return nil
}

// successors returns the states to which a state can lead.
func (s *state) successors() []string {
	all := []string{s.Next, s.Default}
	for _, c := range s.Catch {
		all = append(all, c.Next)
	}
	for _, c := range s.Choices {
		all = append(all, c.Next)
	}
	return slices.DeleteFunc(all, func(name string) bool { return name == "" })
}

// maxStateName is the greatest number of characters in the name of a state.
const maxStateName = 80

// checkNames checks that the names of all states, with those inside of Maps and Parallels, are valid and differ from
// each other and from the known ones, to which it adds them.
func (d *Definition) checkNames(known map[string]bool) error {
	for name, s := range d.States {
		if known[name] {
			return fmt.Errorf("has two states %s: names must be unique, also inside of Map and Parallel", name)
		}
		if n := utf8.RuneCountInString(name); n < 1 || n > maxStateName {
			return fmt.Errorf("has a state %s whose name does not have 1 to %d characters", name, maxStateName)
		}
		known[name] = true
		inner := make([]*Definition, 0, len(s.Branches)+1)
		if s.ItemProcessor != nil {
			inner = append(inner, s.ItemProcessor)
		}
		for _, b := range s.Branches {
			inner = append(inner, b.Definition)
		}
		for _, i := range inner {
			if err := i.checkNames(known); err != nil {
				return err
			}
		}
	}
	return nil
}

// check checks the fields of a state against each other.
func (s *state) check() error {
	switch s.Type {
	case "Task", "Map", "Parallel", "Pass", "Wait":
		if (s.Next == "") == !s.End {
			return fmt.Errorf("must have either Next or End")
		}
	case "Choice":
		if len(s.Choices) == 0 {
			return fmt.Errorf("has no Choices")
		}
	}
	switch s.Type {
	case "Task":
		if err := s.checkInvocation(); err != nil {
			return err
		}
		if s.TimeoutSeconds > 0 && s.TimeoutSecondsPath.isSet {
			return fmt.Errorf("must not have both TimeoutSeconds and TimeoutSecondsPath")
		}
	case "Map":
		if s.ItemProcessor == nil {
			return fmt.Errorf("has no ItemProcessor")
		}
	case "Parallel":
		if len(s.Branches) == 0 || slices.Contains(s.Branches, branch{}) {
			return fmt.Errorf("has no Branches, or one that is null")
		}
	case "Wait":
		if !s.SecondsPath.isSet {
			return fmt.Errorf("has no SecondsPath")
		}
	}
	return s.checkErrors()
}

// checkInvocation checks that a Task uses the Lambda integration, and its Parameters. Step Functions refuses those that
// the integration does not have; the others that it has would change what is invoked, and how.
func (s *state) checkInvocation() error {
	if strings.TrimSuffix(s.Resource, waitForTokenSuffix) != invokeResource {
		return fmt.Errorf("has the Resource %q, which the local cloud does not support", s.Resource)
	}
	parameters, _ := s.Parameters.value.(map[string]any)
	for name := range parameters {
		if name != "FunctionName" && name != "Payload" {
			return fmt.Errorf("has the parameter %s, which the local cloud does not support", name)
		}
	}
	if parameters["FunctionName"] == nil {
		return fmt.Errorf("has no FunctionName in its Parameters")
	}
	return nil
}

// checkErrors checks the names of errors in Retry and Catch.
func (s *state) checkErrors() error {
	lists := make([][]string, 0, len(s.Retry)+len(s.Catch))
	for i, r := range s.Retry {
		lists = append(lists, r.ErrorEquals)
		if r.JitterStrategy != "" && r.JitterStrategy != "FULL" && r.JitterStrategy != "NONE" {
			return fmt.Errorf("has the JitterStrategy %s", r.JitterStrategy)
		}
		if slices.Contains(r.ErrorEquals, "States.ALL") && i < len(s.Retry)-1 {
			return fmt.Errorf("has a Retry after the one for States.ALL")
		}
	}
	for i, c := range s.Catch {
		lists = append(lists, c.ErrorEquals)
		if c.Next == "" {
			return fmt.Errorf("has a Catch without Next")
		}
		if slices.Contains(c.ErrorEquals, "States.ALL") && i < len(s.Catch)-1 {
			return fmt.Errorf("has a Catch after the one for States.ALL")
		}
	}
	for _, names := range lists {
		if len(names) == 0 || len(names) > 1 && slices.Contains(names, "States.ALL") {
			return fmt.Errorf("must have in each ErrorEquals either States.ALL alone or names of errors")
		}
	}
	return nil
}

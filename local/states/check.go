package states

import (
	"fmt"
	"slices"
)

// check checks that all transitions lead to existing states.
func (d *Definition) check() error {
	if d.States[d.StartAt] == nil {
		return fmt.Errorf("starts at %q, which is not one of its states", d.StartAt)
	}
	for _, s := range d.States {
		next := []string{s.Next, s.Default}
		for _, c := range s.Catch {
			next = append(next, c.Next)
		}
		for _, c := range s.Choices {
			next = append(next, c.Next)
		}
		for _, n := range next {
			if n != "" && d.States[n] == nil {
				return fmt.Errorf("has a state %s that leads to %q, which is not one of its states", s.name, n)
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
		for _, c := range s.Choices {
			if c.Next == "" {
				return fmt.Errorf("has a choice without Next")
			}
		}
	}
	switch s.Type {
	case "Task":
		if _, _, err := s.taskTarget(); err != nil {
			return err
		}
		if s.TimeoutSeconds > 0 && s.TimeoutSecondsPath.isSet {
			return fmt.Errorf("must not have both TimeoutSeconds and TimeoutSecondsPath")
		}
		if s.HeartbeatSeconds > 0 && s.TimeoutSeconds > 0 && s.HeartbeatSeconds >= s.TimeoutSeconds {
			return fmt.Errorf("has HeartbeatSeconds that are not less than its TimeoutSeconds")
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
		if (s.Seconds == nil) == !s.SecondsPath.isSet {
			return fmt.Errorf("must have either Seconds or SecondsPath")
		}
	}
	return s.checkErrors()
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

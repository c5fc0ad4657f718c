package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// machine is a state machine, or the part of one that runs for an item of a Map or as a branch: the part of the Amazon
// States Language that statemachine/batch.asl.json uses.
type machine struct {
	Comment         string
	ProcessorConfig json.RawMessage
	// TimeoutSeconds is not simulated: executions may run for days.
	TimeoutSeconds float64
	StartAt        string
	States         map[string]*state
}

// state holds the fields of states of all types.
type state struct {
	Type, Resource, Next, Default, Error, Cause      string
	End                                              bool
	TimeoutSeconds                                   float64
	MaxConcurrency                                   int
	Parameters, ItemSelector, ResultSelector, Result any
	ItemsPath, MaxConcurrencyPath, OutputPath        string
	ResultPath                                       json.RawMessage
	ItemProcessor                                    *machine
	Branches                                         []*machine
	Choices                                          []struct {
		Variable, Next string
		BooleanEquals  bool
	}
	Retry []struct {
		ErrorEquals                                                []string
		IntervalSeconds, BackoffRate, MaxDelaySeconds, MaxAttempts float64
		JitterStrategy                                             string
	}
	Catch []struct {
		ErrorEquals []string
		ResultPath  json.RawMessage
		Next        string
	}
}

// readMachine reads a definition. It returns an error for what the simulation does not know.
func readMachine(definition []byte) (*machine, error) {
	m := &machine{}
	decoder := json.NewDecoder(bytes.NewReader(definition))
	decoder.DisallowUnknownFields()
	return m, decoder.Decode(m)
}

// contextObject has the values of the context object by their paths without "$$.".
type contextObject = map[string]any

// lookUp returns what is at a path in an input or in the context object.
func lookUp(path string, input any, c contextObject) any {
	if name, ok := strings.CutPrefix(path, "$$."); ok {
		return c[name]
	}
	for _, name := range strings.Split(path, ".")[1:] {
		value, exists := input.(map[string]any)[name]
		if !exists {
			panic(fmt.Sprintf("the input %v has nothing at %s", input, path))
		}
		input = value
	}
	return input
}

// fill returns a template with its paths replaced by what is there. No template is an input as it is.
func fill(template, input any, c contextObject) any {
	switch template := template.(type) {
	case nil:
		return input
	case map[string]any:
		out := make(map[string]any, len(template))
		for name, value := range template {
			if key, isPath := strings.CutSuffix(name, ".$"); isPath {
				out[key] = lookUp(value.(string), input, c)
			} else {
				out[name] = fill(value, input, c)
			}
		}
		return out
	}
	return template
}

// withResult returns an input with a result at a path of one name.
func withResult(path json.RawMessage, input, result any) any {
	switch string(path) {
	case "":
		return result
	case "null":
		return input
	}
	out := maps.Clone(input.(map[string]any))
	out[strings.Trim(string(path), `"$.`)] = result
	return out
}

// matches reports whether an error is among those of a Retry or Catch.
func matches(names []string, failure string) bool {
	return slices.Contains(names, failure) || slices.Contains(names, "States.ALL")
}

// pause returns how long a state waits before it is tried again after an error, and false if it is not. counts are the
// retries by each rule before, to which it adds this one. random returns a number below 1.
func (st *state) pause(failure string, counts []float64, random func() float64) (seconds float64, again bool) {
	for i, rule := range st.Retry {
		if !matches(rule.ErrorEquals, failure) {
			continue
		}
		seconds = rule.IntervalSeconds * math.Pow(rule.BackoffRate, counts[i])
		if rule.MaxDelaySeconds > 0 {
			seconds = min(seconds, rule.MaxDelaySeconds)
		}
		if rule.JitterStrategy == "FULL" {
			seconds *= random()
		}
		counts[i]++
		return seconds, counts[i] <= rule.MaxAttempts
	}
	return 0, false
}

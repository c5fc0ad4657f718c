package states

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Definition is a state machine in the supported part of the Amazon States Language.
type Definition struct {
	StartAt string
	States  map[string]*state
	// TimeoutSeconds limits the duration of an execution; 0 means no limit.
	TimeoutSeconds int
}

// state holds the fields of states of all types. allowedFields defines which of them a type can have.
type state struct {
	name string

	Type       string
	Next       string
	End        bool
	OutputPath optionalPath
	ResultPath optionalPath

	Parameters     payloadTemplate
	ResultSelector payloadTemplate
	Resource       string
	TimeoutSeconds int
	// TimeoutSecondsPath leads to the TimeoutSeconds in the input.
	TimeoutSecondsPath optionalPath
	Retry              []retrier
	Catch              []catcher

	ItemsPath     optionalPath
	ItemSelector  payloadTemplate
	ItemProcessor *Definition
	// MaxConcurrency bounds the iterations that run at a time; 0 means that only MaxConcurrencyPath does.
	MaxConcurrency     int
	MaxConcurrencyPath optionalPath

	Branches []branch

	Choices []choice
	Default string

	Result json.RawMessage

	SecondsPath optionalPath

	Error, Cause string
}

// retrier is an element of Retry.
type retrier struct {
	ErrorEquals     []string
	IntervalSeconds int
	BackoffRate     float64
	MaxAttempts     int
	MaxDelaySeconds int
	JitterStrategy  string
}

// UnmarshalJSON reads an element of Retry. Its errors continue a sentence that begins with the state.
func (r *retrier) UnmarshalJSON(text []byte) error {
	const known = "Comment ErrorEquals IntervalSeconds BackoffRate MaxAttempts MaxDelaySeconds JitterStrategy"
	if err := checkFields(text, known); err != nil {
		return fmt.Errorf("has a Retry that %w", err)
	}
	*r = retrier{IntervalSeconds: 1, BackoffRate: 2, MaxAttempts: 3, MaxDelaySeconds: maxDelaySeconds}
	type fieldsOnly retrier
	return json.Unmarshal(text, (*fieldsOnly)(r))
}

// catcher is an element of Catch.
type catcher struct {
	ErrorEquals []string
	ResultPath  optionalPath
	Next        string
}

// UnmarshalJSON reads an element of Catch. Its errors continue a sentence that begins with the state.
func (c *catcher) UnmarshalJSON(text []byte) error {
	if err := checkFields(text, "Comment ErrorEquals ResultPath Next"); err != nil {
		return fmt.Errorf("has a Catch that %w", err)
	}
	type fieldsOnly catcher
	return json.Unmarshal(text, (*fieldsOnly)(c))
}

// choice is one rule of a Choice state: a test of a truth value.
type choice struct {
	Next     string
	Variable optionalPath
	// BooleanEquals is what the variable is compared with.
	BooleanEquals *bool
}

// UnmarshalJSON reads a rule. Its errors continue a sentence that begins with the state.
func (c *choice) UnmarshalJSON(text []byte) error {
	if err := checkFields(text, "Comment Next Variable BooleanEquals"); err != nil {
		return fmt.Errorf("has a choice that %w", err)
	}
	type fieldsOnly choice
	if err := json.Unmarshal(text, (*fieldsOnly)(c)); err != nil {
		return err
	}
	if c.BooleanEquals == nil || !c.Variable.isSet || c.Next == "" {
		return fmt.Errorf("has a choice without Variable, BooleanEquals or Next")
	}
	return nil
}

// commonFields are the fields that every type but Fail has.
const commonFields = "Type Comment OutputPath "

// allowedFields holds the fields of each supported type.
var allowedFields = map[string]string{
	"Task": commonFields + "Next End ResultPath Parameters ResultSelector Resource TimeoutSeconds TimeoutSecondsPath " +
		"Retry Catch",
	"Map": commonFields + "Next End ResultPath ResultSelector ItemsPath ItemSelector ItemProcessor " +
		"MaxConcurrency MaxConcurrencyPath Retry Catch",
	"Parallel": commonFields + "Next End ResultPath ResultSelector Branches Retry Catch",
	"Choice":   commonFields + "Choices Default",
	"Pass":     commonFields + "Next End ResultPath Result",
	"Wait":     commonFields + "Next End SecondsPath",
	"Succeed":  commonFields,
	"Fail":     "Type Comment Error Cause",
}

// Parse reads and checks a definition. Anything that is not supported is an error: a sentence that names the state.
func Parse(text []byte) (*Definition, error) {
	d, err := parse(text, "Comment StartAt States TimeoutSeconds Version QueryLanguage")
	if err == nil {
		err = d.checkNames(map[string]bool{})
	}
	if err != nil {
		return nil, fmt.Errorf("the state machine %w", err)
	}
	return d, nil
}

// parse reads the definition of a machine, of a Map or of a branch of a Parallel, which can have the known fields.
func parse(text []byte, known string) (*Definition, error) {
	var raw struct {
		StartAt, QueryLanguage string
		TimeoutSeconds         int
		States                 map[string]json.RawMessage
		ProcessorConfig        processorConfig
	}
	if err := checkFields(text, known); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	if raw.QueryLanguage != "" && raw.QueryLanguage != "JSONPath" {
		return nil, fmt.Errorf("has the QueryLanguage %s, which the local cloud does not support", raw.QueryLanguage)
	}
	if mode := raw.ProcessorConfig.Mode; mode != "" && mode != "INLINE" {
		return nil, fmt.Errorf("has a Map of mode %s, which the local cloud does not support", mode)
	}
	d := &Definition{StartAt: raw.StartAt, States: map[string]*state{}, TimeoutSeconds: raw.TimeoutSeconds}
	for name, text := range raw.States {
		s, err := parseState(name, text)
		if err != nil {
			return nil, fmt.Errorf("has a state %s that %w", name, err)
		}
		d.States[name] = s
	}
	return d, d.check()
}

// processorConfig says how a Map runs its iterations.
type processorConfig struct{ Mode string }

// UnmarshalJSON reads the ProcessorConfig. Its errors continue a sentence that begins with the state.
func (c *processorConfig) UnmarshalJSON(text []byte) error {
	if err := checkFields(text, "Mode"); err != nil {
		return fmt.Errorf("has a ProcessorConfig that %w", err)
	}
	type fieldsOnly processorConfig
	return json.Unmarshal(text, (*fieldsOnly)(c))
}

// bounds are the least and the greatest value of a field.
type bounds struct{ least, greatest float64 }

// maxSeconds is the greatest value of most fields that are a number of seconds.
const maxSeconds = 99_999_999

// boundsOf holds the bounds of all fields that are numbers, as the Step Functions Developer Guide names them.
var boundsOf = map[string]bounds{
	"TimeoutSeconds":  {1, maxSeconds},
	"IntervalSeconds": {1, maxSeconds}, "MaxDelaySeconds": {1, maxDelaySeconds}, "MaxAttempts": {0, maxSeconds},
	"BackoffRate": {1, math.MaxFloat64},
}

// checkFields returns an error if a JSON object has other than the known fields, or a number that is out of bounds.
func checkFields(text []byte, known string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return fmt.Errorf("is not a JSON object")
	}
	names := strings.Fields(known)
	for field, value := range fields {
		if !slices.Contains(names, field) {
			return fmt.Errorf("has the field %s, which the local cloud does not support there", field)
		}
		b, isNumber := boundsOf[field]
		n, err := strconv.ParseFloat(string(value), 64)
		if isNumber && (err != nil || n < b.least || n > b.greatest) {
			return fmt.Errorf("has the %s %s, which is not a number from %.0f to %g", field, value, b.least, b.greatest)
		}
	}
	return nil
}

// parseState reads and checks a state. Its errors continue a sentence that begins with the state.
func parseState(name string, text []byte) (*state, error) {
	var kind struct{ Type string }
	if err := json.Unmarshal(text, &kind); err != nil {
		return nil, fmt.Errorf("is not a JSON object")
	}
	known, ok := allowedFields[kind.Type]
	if !ok {
		return nil, fmt.Errorf("is of type %q, which the local cloud does not support", kind.Type)
	}
	if err := checkFields(text, known); err != nil {
		return nil, err
	}
	s := &state{name: name}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, err
	}
	return s, s.check()
}

// UnmarshalJSON reads the definition inside a Map.
func (d *Definition) UnmarshalJSON(text []byte) error {
	inner, err := parse(text, "Comment StartAt States ProcessorConfig")
	if err == nil {
		*d = *inner
	}
	return err
}

// branch is one of the definitions that a Parallel runs at the same time.
type branch struct{ *Definition }

// UnmarshalJSON reads a branch of a Parallel.
func (b *branch) UnmarshalJSON(text []byte) (err error) {
	b.Definition, err = parse(text, "Comment StartAt States")
	return err
}

// The supported values of Resource.
const (
	invokeResource     = "arn:aws:states:::lambda:invoke"
	waitForTokenSuffix = ".waitForTaskToken"
)

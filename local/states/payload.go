package states

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// MaxPayload is the largest size in bytes of the input and output of a state.
const MaxPayload = 262_144

// decode reads one JSON value. Numbers are kept as json.Number, in the form in which they are written.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one JSON value")
	}
	return v, nil
}

// encode writes a value made of decoded JSON. HTML characters are not escaped, which would change the size.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("states: encode: %v", err)) // cannot happen with decoded JSON
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// toFloat returns the value of a JSON number.
func toFloat(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// jsonInt returns an integer as a decoded JSON number.
func jsonInt(n int) any { return json.Number(strconv.Itoa(n)) }

// Failure is the failure of a state or an execution. Errors that begin with "States." are those of the service itself.
type Failure struct {
	Error string `json:"Error"`
	Cause string `json:"Cause"`
}

// newFailure returns a failure with a formatted cause.
func newFailure(name, format string, args ...any) *Failure {
	return &Failure{name, fmt.Sprintf(format, args...)}
}

// encodeLimited encodes a value, and fails if it is larger than MaxPayload. The failure calls it what.
func encodeLimited(v any, what string) ([]byte, *Failure) {
	text := encode(v)
	if len(text) > MaxPayload {
		return nil, newFailure("States.DataLimitExceeded", "The %s has %d bytes; at most %d are allowed.", what,
			len(text), MaxPayload)
	}
	return text, nil
}

// payloadTemplate is the value of Parameters, ItemSelector or ResultSelector, in which fields whose names end in .$ are
// paths.
type payloadTemplate struct {
	isSet bool
	// value consists of maps and lists in which paths are of type referencePath.
	value any
}

// UnmarshalJSON reads the field. Its errors continue a sentence that begins with the state.
func (t *payloadTemplate) UnmarshalJSON(text []byte) error {
	t.isSet = true
	v, err := decode(text)
	if err != nil {
		return err
	}
	t.value, err = compileTemplate(v)
	return err
}

// compileTemplate replaces the fields that are paths by values of type referencePath.
func compileTemplate(v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			fieldName, isPath := strings.CutSuffix(name, ".$")
			var err error
			if !isPath {
				out[name], err = compileTemplate(item)
			} else if text, ok := item.(string); ok {
				out[fieldName], err = parsePath(text)
			} else {
				err = fmt.Errorf("has a field %s whose value is not a path", name)
			}
			if err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			var err error
			if out[i], err = compileTemplate(item); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// fill returns the template with the values to which its paths lead.
func (t payloadTemplate) fill(input, context any) (any, *Failure) {
	return fillTemplate(t.value, input, context)
}

// fillTemplate implements fill for a part of a template.
func fillTemplate(v, input, context any) (any, *Failure) {
	switch v := v.(type) {
	case referencePath:
		got, ok := v.lookup(input, context)
		if !ok {
			// The Developer Guide has States.ParameterPathFailure for this. What Step Functions reports is
			// States.Runtime, which no Catch matches, not even one for States.ALL.
			return nil, newFailure("States.Runtime", "The JSONPath %s could not be found in the input.", v.text)
		}
		return got, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			got, failure := fillTemplate(item, input, context)
			if failure != nil {
				return nil, failure
			}
			out[name] = got
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			got, failure := fillTemplate(item, input, context)
			if failure != nil {
				return nil, failure
			}
			out[i] = got
		}
		return out, nil
	}
	return v, nil
}

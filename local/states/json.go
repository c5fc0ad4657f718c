package states

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxPayload is the most bytes that the input or output of a state may have.
const MaxPayload = 262_144

// decode reads one JSON value; numbers keep their text.
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

// encode writes a value made of decoded JSON. Characters stay as they are: escaping them would change the size.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("states: %v cannot be written as JSON", err)) // nothing but decoded JSON comes here
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// Failure is the error of a state or an execution. Names that begin with States. are the service's own.
type Failure struct {
	Error string `json:"Error"`
	Cause string `json:"Cause"`
}

func newFailure(name, format string, args ...any) *Failure {
	return &Failure{name, fmt.Sprintf(format, args...)}
}

// encodeLimited writes a value and refuses one that is too large.
func encodeLimited(v any, what string) ([]byte, *Failure) {
	text := encode(v)
	if len(text) > MaxPayload {
		return nil, newFailure("States.DataLimitExceeded", "The %s has %d bytes; at most %d are allowed.", what, len(text), MaxPayload)
	}
	return text, nil
}

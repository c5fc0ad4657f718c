// Package output prints replies of the service: as JSON, as lists and as names with values.
package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// PrintJSONLines prints the elements of a list, one a line.
func PrintJSONLines[T any](stdout io.Writer, list []T) error {
	encoder := json.NewEncoder(stdout)
	encoder.SetEscapeHTML(false)
	for _, v := range list {
		if err := encoder.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// RepliesOf returns what the items of a list were decoded from.
func RepliesOf[T any](items []T, reply func(T) json.RawMessage) []json.RawMessage {
	replies := make([]json.RawMessage, len(items))
	for i, item := range items {
		replies[i] = reply(item)
	}
	return replies
}

// PrintReply prints a reply of the service as it came, but indented. Names, order, numbers and escapes stay the same.
func PrintReply(w io.Writer, reply []byte) error {
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(reply), "", "  "); err != nil {
		return fmt.Errorf("the reply is not JSON: %w", err)
	}
	out.WriteByte('\n')
	_, err := out.WriteTo(w)
	return err
}

// PrintJSON prints a value as indented JSON.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// EncodeLine writes a value as a line of JSON.
func EncodeLine(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Encode returns the message as it is sent: JSON without white space, in ASCII alone, with every other character as
// \uXXXX. Of a valid message, repeated calls return the same bytes. It returns an error if the payload is not a JSON
// object.
func (m Message) Encode() ([]byte, error) {
	if payload := bytes.TrimLeft(m.Payload, " \t\r\n"); len(payload) == 0 || payload[0] != '{' {
		return nil, fmt.Errorf("event %s: the payload is not a JSON object", m.ID)
	}
	m.When = m.When.UTC()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(m); err != nil {
		return nil, fmt.Errorf("event %s: %w", m.ID, err)
	}
	return escapeNonASCII(bytes.TrimSuffix(text.Bytes(), []byte("\n"))), nil
}

// escapeNonASCII returns a JSON text with every character outside ASCII as \uXXXX, which can only be part of a string.
// A byte that is not part of a character becomes the replacement character.
func escapeNonASCII(text []byte) []byte {
	isASCII := true
	for _, c := range text {
		isASCII = isASCII && c < utf8.RuneSelf
	}
	if isASCII {
		return text
	}
	escaped := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		switch high, low := utf16.EncodeRune(r); {
		case r < utf8.RuneSelf:
			escaped = append(escaped, byte(r))
		case r > 0xffff:
			escaped = fmt.Appendf(escaped, `\u%04x\u%04x`, high, low)
		default:
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		}
	}
	return escaped
}

// Decode reads a message that Encode has written.
func Decode(text []byte) (Message, error) {
	var m Message
	if err := json.Unmarshal(text, &m); err != nil {
		return Message{}, fmt.Errorf("read event: %w", err)
	}
	return m, nil
}

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sluice/client"
)

// wideLines returns lines that fill a file of a size: one transaction, and white space.
func wideLines(size int) []byte {
	line := append([]byte(validLine()), '\n')
	blank := append(bytes.Repeat([]byte(" "), 200_000), '\n')
	content := bytes.Clone(line)
	for len(content)+len(blank) <= size {
		content = append(content, blank...)
	}
	return append(content, bytes.Repeat([]byte("\n"), size-len(content))...)
}

// partsCall makes a call about an upload in parts that must have a status, and decodes its reply.
func (s *session) partsCall(method, path string, in any, status int, out any) {
	s.t.Helper()
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			s.t.Fatal(err)
		}
	}
	code, _, text := s.call(method, transactionsPath+"batch/"+path, "application/json", string(body))
	if code != status {
		s.t.Fatalf("%s %s: %d %s, want %d", method, path, code, text, status)
	}
	if err := json.Unmarshal(text, out); err != nil {
		s.t.Fatalf("%s %s: %s: %v", method, path, text, err)
	}
}

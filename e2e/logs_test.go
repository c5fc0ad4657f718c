package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// issuedSecrets are the secrets of the clients that tests have created.
var issuedSecrets secrets

type secrets struct {
	mu     sync.Mutex
	values []string
}

func (s *secrets) add(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values = append(s.values, secret)
}

func (s *secrets) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.values)
}

// secretsInLog match what no log may hold: a token, the signature of a URL, the credentials of a request. Each begins
// with a fixed text, for which a log is searched quickly.
var secretsInLog = []*regexp.Regexp{
	regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`),
	regexp.MustCompile(`X-Amz-(Signature|Credential|Security-Token)=`),
	regexp.MustCompile(`Signature=[0-9a-f]{64}`),
	regexp.MustCompile(`client_secret=`),
}

// checkLogs returns an error if a log of a local cloud holds a secret, a token, a signed URL, or the value of a line.
func (e *Environment) checkLogs() error {
	paths, err := filepath.Glob(filepath.Join(e.Data, "logs", "*"))
	if err != nil {
		return err
	}
	forbidden := slices.Clone(secretsInLog)
	for _, text := range append(issuedSecrets.all(), e.ClientSecret, e.SecretAccessKey, personal.name, personal.account,
		personal.city) {
		if text != "" {
			forbidden = append(forbidden, regexp.MustCompile(regexp.QuoteMeta(text)))
		}
	}
	var errs []error
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, f := range forbidden {
			for _, at := range f.FindAllIndex(text, -1) {
				errs = append(errs, fmt.Errorf("%s holds %q: %s", filepath.Base(path), text[at[0]:at[1]],
					lineAt(text, at[0])))
			}
		}
	}
	return errors.Join(errs...)
}

// lineAt returns the line of a text that has the byte at an index, without its line feed.
func lineAt(text []byte, i int) []byte {
	line, _, _ := bytes.Cut(text[bytes.LastIndexByte(text[:i], '\n')+1:], []byte("\n"))
	return line
}

// logsOf returns what the functions of a local cloud have logged about a request of the API, "" in other environments.
func (e *Environment) logsOf(requestID string) string {
	paths, err := filepath.Glob(filepath.Join(e.Data, "logs", "*"))
	if e.Data == "" || requestID == "" || err != nil {
		return ""
	}
	var found strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err.Error()
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, requestID) {
				found.WriteString(line)
			}
		}
	}
	return found.String()
}

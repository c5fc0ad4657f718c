package e2e

import (
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

// secretInLog matches what no log may hold: a token, the signature of a URL, the credentials of a request.
var secretInLog = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|X-Amz-(Signature|Credential|` +
	`Security-Token)=|Signature=[0-9a-f]{64}|client_secret=`)

// checkLogs returns an error if a log of a local cloud holds a secret, a token, a signed URL, or the value of a line.
func (e *Environment) checkLogs() error {
	paths, err := filepath.Glob(filepath.Join(e.Data, "logs", "*"))
	if err != nil {
		return err
	}
	forbidden := []string{personal.name, personal.account, personal.city}
	for _, secret := range append(issuedSecrets.all(), e.ClientSecret, e.SecretAccessKey) {
		if secret != "" {
			forbidden = append(forbidden, secret)
		}
	}
	var errs []error
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			found := secretInLog.FindString(line)
			for _, f := range forbidden {
				if strings.Contains(line, f) {
					found = f
				}
			}
			if found != "" {
				errs = append(errs, fmt.Errorf("%s holds %q: %s", filepath.Base(path), found, line))
			}
		}
	}
	return errors.Join(errs...)
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

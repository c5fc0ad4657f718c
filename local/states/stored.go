package states

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// definitionSuffix ends the names of the files with definitions, which are in the folders of the machines' executions.
const definitionSuffix = ".definition.json"

// digestOf names a definition.
func digestOf(definition []byte) string {
	sum := sha256.Sum256(definition)
	return hex.EncodeToString(sum[:16])
}

// definitionPath returns the path of a stored definition of a machine.
func (s *Service) definitionPath(machine, digest string) string {
	return filepath.Join(s.machineDir(machine), digest+definitionSuffix)
}

// storeDefinitions stores the definition of each machine, and removes those with which no execution runs any more.
func (s *Service) storeDefinitions() error {
	needed := map[string]bool{}
	for _, e := range s.executions {
		if e.Status == Running && e.Definition != "" {
			needed[e.Definition] = true
		}
	}
	for _, m := range s.machines {
		needed[m.digest] = true
		if err := os.MkdirAll(s.machineDir(m.Name), 0o700); err != nil {
			return err
		}
		path := s.definitionPath(m.Name, m.digest)
		if err := os.WriteFile(path+".tmp", m.Definition, 0o600); err != nil {
			return err
		}
		if err := os.Rename(path+".tmp", path); err != nil {
			return err
		}
	}
	stored, err := filepath.Glob(s.definitionPath("*", "*"))
	for _, path := range stored {
		if !needed[strings.TrimSuffix(filepath.Base(path), definitionSuffix)] {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return err
}

// machineOf returns the machine of an execution with the definition with which it began, as on AWS, where an update of
// a machine changes only the executions that start after it. What cannot be read any more is replaced by the definition
// of now.
func (s *Service) machineOf(e *execution) *machine {
	m := s.machines[e.MachineARN]
	if e.Definition == "" || e.Definition == m.digest {
		return m
	}
	text, err := os.ReadFile(s.definitionPath(m.Name, e.Definition))
	if err != nil {
		return m
	}
	d, err := Parse(text)
	if err != nil {
		return m
	}
	began := *m
	began.Definition, began.definition, began.digest = text, d, e.Definition
	return &began
}

// Definitions returns the definitions with which executions run or will be started.
func (s *Service) Definitions() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out [][]byte
	for _, m := range s.machines {
		out = append(out, m.Definition)
	}
	for _, e := range s.executions {
		if m := s.machines[e.MachineARN]; m != nil && e.snapshot().Status == Running {
			out = append(out, s.machineOf(e).Definition)
		}
	}
	return out
}

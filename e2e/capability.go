package e2e

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// capability is something that a test needs and not every home has. docs/homes.md says which home lacks what, and why.
type capability string

const (
	otherSettings capability = "other settings" // a second home, with other parameters, within a second
	processes     capability = "processes"      // functions and servers are processes of this machine
	authorizer401 capability = "authorizer 401" // a refused token gets 401
	samCLI        capability = "sam local invoke"
)

// lacks is what the homes lack.
var lacks = map[string][]capability{
	"local":      {samCLI},
	"sam":        {otherSettings, processes},
	"localstack": {otherSettings, processes, samCLI},
	"aws":        {otherSettings, processes, samCLI},
}

// needs is what whole tests need. A test not named here runs everywhere.
var needs = map[string]capability{
	"TestALargeBatch":          processes,
	"TestALineOf50MB":          otherSettings,
	"TestDemo":                 processes,
	"TestExpiredToken":         otherSettings,
	"TestGuardDuty":            otherSettings,
	"TestInterruptedDemo":      processes,
	"TestLimitsOfTheURL":       otherSettings,
	"TestNothingIsLeftRunning": processes,
	"TestRestart":              processes,
	"TestStartsThatCannotBe":   processes,
}

// left is what this run could not check, each with the capability that is missing.
var left struct {
	sync.Mutex
	list []string
}

// can tells whether the home has a capability. What cannot be checked without it is told at the end of the run.
func (h *Home) can(c capability, what string) bool {
	if !slices.Contains(lacks[h.Name], c) {
		return true
	}
	left.Lock()
	defer left.Unlock()
	left.list = append(left.list, fmt.Sprintf("%s (%s)", what, c))
	return false
}

// leaveOut keeps the tests from running that need what the home lacks.
func (h *Home) leaveOut() error {
	skip := flag.Lookup("test.skip").Value.String()
	var without []string
	if skip != "" {
		without = append(without, skip)
	}
	for _, test := range slices.Sorted(maps.Keys(needs)) {
		if !h.can(needs[test], test) {
			without = append(without, "^"+test+"$")
		}
	}
	return flag.Set("test.skip", strings.Join(without, "|"))
}

// tellLeft says what was not checked here.
func (h *Home) tellLeft() {
	for _, what := range left.list {
		fmt.Printf("not checked on %s: %s\n", h.Name, what)
	}
}

package e2e

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// capability is something that a test needs and not every home has. docs/homes.md says which home lacks what, and why.
type capability string

const (
	otherSettings capability = "other settings"     // a second home, with other parameters, within a second
	processes     capability = "processes"          // functions and servers are processes of this machine
	refused401    capability = "refused token: 401" // the gateway answers so when the authorizer refuses
	responses     capability = "gateway responses"  // those of the template
	encodedPaths  capability = "encoded paths"      // a path reaches a function as it was sent
	manyRequests  capability = "many requests"      // hundreds in a row
	samCLI        capability = "sam local invoke"
)

// lacks is what the homes lack.
var lacks = map[string][]capability{
	"local":      {samCLI},
	"sam":        {otherSettings, processes, refused401, responses, encodedPaths, manyRequests},
	"localstack": {otherSettings, processes, samCLI},
	"aws":        {otherSettings, processes, samCLI},
}

// needs is what whole tests need. A test not named here runs everywhere.
var needs = map[string]capability{
	"TestALargeBatch":          processes,
	"TestALineOf50MB":          otherSettings,
	"TestALongJourney":         manyRequests,
	"TestDemo":                 processes,
	"TestDocumentBodies":       manyRequests,
	"TestEntityBodies":         manyRequests,
	"TestExpiredToken":         otherSettings,
	"TestGuardDuty":            otherSettings,
	"TestImportedEntitiesLive": encodedPaths,
	"TestInterruptedDemo":      processes,
	"TestLimitsOfTheURL":       otherSettings,
	"TestNothingIsLeftRunning": processes,
	"TestRestart":              processes,
	"TestSAMInvoke":            samCLI,
	"TestStartsThatCannotBe":   processes,
	"TestTooManyTransactions":  otherSettings,
	"TestWhereThereIsNothing":  responses,
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
	if line := fmt.Sprintf("%s (%s)", what, c); !slices.Contains(left.list, line) {
		left.list = append(left.list, line)
	}
	return false
}

// refused tells whether a status is that of a refused token.
func (h *Home) refused(status int, what string) bool {
	if h.can(refused401, what) {
		return status == http.StatusUnauthorized
	}
	return status == http.StatusBadGateway
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

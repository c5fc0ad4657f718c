package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// unused are the grants that the suite need not use, each with the reason; on a slow machine it may use some. Any other one that nothing uses is too much: take it
// out of the template, or add the test that needs it.
var unused = map[string]string{
	"sluice-validate WriteWork s3:AbortMultipartUpload":     failing,
	"sluice-reconcile Work s3:AbortMultipartUpload":         failing,
	"sluice-settle Work s3:AbortMultipartUpload":            failing,
	"sluice-verdict WriteReports s3:AbortMultipartUpload":   failing,
	"sluice-scan DeadLetters sqs:SendMessage":               "a dead letter comes of an event that fails three times, and none does here",
	"sluice-scan WaitingScans dynamodb:Query":               "the sweep for results that do not come runs every five minutes",
	"sluice-scan ScanAgain guardduty:SendObjectMalwareScan": "the sweep for results that do not come runs every five minutes",
	"sluice-token SignWithRotatedKeys kms:Sign":             "a new key signs from five minutes after the rotation on",
}

const failing = "an upload is given up when storage fails under a step, and it does not here"

// refusals are the denials that tests bring about on purpose, by Sid of the statement.
var refusals = map[string]bool{"NobodyReadsRefusedUploads": true}

// policies gathers what the policies of all local clouds of this run were used for.
var policies = struct {
	sync.Mutex
	count  map[string]int // by "role Sid action"
	denied map[string]int // by "role action resource statement"
}{count: map[string]int{}, denied: map[string]int{}}

// gather adds what a local cloud recorded. One that has ended by itself has nothing to tell.
func (h *Home) gather() error {
	resp, err := http.Get(h.AWSEndpointURL + "/_sluice/policies")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var report struct {
		Statements []struct {
			Principal, Sid, Action string
			Count                  int
		}
		Denied []struct {
			Principal, Action, Resource, Statement string
			Count                                  int
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&report); err != nil {
		return err
	}
	policies.Lock()
	defer policies.Unlock()
	for _, s := range report.Statements {
		policies.count[s.Principal+" "+s.Sid+" "+s.Action] += s.Count
	}
	for _, d := range report.Denied {
		if !refusals[d.Statement] {
			policies.denied[strings.TrimSpace(d.Principal+" "+d.Action+" "+d.Resource+" "+d.Statement)] += d.Count
		}
	}
	return nil
}

// checkDenied fails if any local cloud denied what it should not.
func checkDenied() error {
	policies.Lock()
	defer policies.Unlock()
	var errs []error
	for _, d := range slices.Sorted(maps.Keys(policies.denied)) {
		errs = append(errs, fmt.Errorf("denied %d times: %s", policies.denied[d], d))
	}
	return errors.Join(errs...)
}

// checkUnused fails if a grant was not used and need be, or if one that need not be is not there at all.
func checkUnused() error {
	policies.Lock()
	defer policies.Unlock()
	var errs []error
	for _, grant := range slices.Sorted(maps.Keys(policies.count)) {
		if _, known := unused[grant]; policies.count[grant] == 0 && !known {
			errs = append(errs, fmt.Errorf("nothing uses the permission %s", grant))
		}
	}
	for grant := range unused {
		if _, exists := policies.count[grant]; !exists {
			errs = append(errs, fmt.Errorf("the template has no permission %s, which is listed as unused", grant))
		}
	}
	return errors.Join(errs...)
}

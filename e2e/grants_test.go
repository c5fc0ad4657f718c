package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"
)

// grantsAllowedUnused are the grants that the suite need not use, each with the reason; on a slow machine it may use
// some. Any other grant that nothing uses is too much: take it out of the template, or add the test that needs it.
var grantsAllowedUnused = map[string]string{
	"sluice-validate WriteWork s3:AbortMultipartUpload":     abortsAfterFailure,
	"sluice-process Work s3:AbortMultipartUpload":           abortsAfterFailure,
	"sluice-process WriteReports s3:AbortMultipartUpload":   abortsAfterFailure,
	"sluice-reconcile Work s3:AbortMultipartUpload":         abortsAfterFailure,
	"sluice-screennames Work s3:AbortMultipartUpload":       abortsAfterFailure,
	"sluice-settle Work s3:AbortMultipartUpload":            abortsAfterFailure,
	"sluice-verdict WriteReports s3:AbortMultipartUpload":   abortsAfterFailure,
	"sluice-policy Versions s3:AbortMultipartUpload":        abortsAfterFailure,
	"sluice-export WriteParquet s3:AbortMultipartUpload":    abortsAfterFailure,
	"sluice-export DeadLetters sqs:SendMessage":             noDeadLetters,
	"sluice-index Segments s3:AbortMultipartUpload":         abortsAfterFailure,
	"sluice-index DeadLetters sqs:SendMessage":              noDeadLetters,
	"sluice-scan DeadLetters sqs:SendMessage":               noDeadLetters,
	"sluice-close DeadLetters sqs:SendMessage":              noDeadLetters,
	"sluice-announce DeadLetters sqs:SendMessage":           noDeadLetters,
	"sluice-conduct DeadLetters sqs:SendMessage":            noDeadLetters,
	"sluice-deliver DeadLetters sqs:SendMessage":            noDeadLetters,
	"sluice-scan WaitingScans dynamodb:Query":               "the sweep for missing results runs every five minutes",
	"sluice-scan ScanAgain guardduty:SendObjectMalwareScan": "the sweep for missing results runs every five minutes",
	"sluice-scan DocumentFiles s3:PutObject": "an upload is emptied only if it ends while its " +
		"document is being deleted",
	"sluice-scan ReadAndTagUploads s3:AbortMultipartUpload": "the sweep aborts an upload in parts a day after its " +
		"last URL",
	"sluice-admit Slots dynamodb:BatchGetItem":              ticketsOfHolders,
	"sluice-process Slots dynamodb:BatchGetItem":            ticketsOfHolders,
	"sluice-verdict Slots dynamodb:BatchGetItem":            ticketsOfHolders,
	"sluice-ingest ReportRefusedWrites dynamodb:UpdateItem": "a table refuses writes only where they are limited",
	"sluice-admit Batches dynamodb:UpdateItem": "an execution of a release without slots has a state that makes a " +
		"transition",
	"sluice-find ReadBatches dynamodb:Query":             pendingIndex,
	"sluice-transaction ReadBatches dynamodb:Query":      pendingIndex,
	"sluice-find FirstPagingKey dynamodb:PutItem":        firstPagingKey,
	"sluice-transaction FirstPagingKey dynamodb:PutItem": firstPagingKey,
	"sluice-receipt SignWithRotatedKeys kms:Sign":        "a new key signs only five minutes after its rotation",
	"sluice-token SignWithRotatedKeys kms:Sign":          "a new key signs only five minutes after its rotation",
}

// Reasons that several grants have.
const (
	abortsAfterFailure = "a step aborts an upload when storage fails, and it does not fail here"
	pendingIndex       = "work files of a batch are searched for a second after its end, until it is indexed"
	firstPagingKey     = "the first list of all functions makes the key of its tokens"
	ticketsOfHolders   = "tickets of holders are read three seconds after they got their slots"
	noDeadLetters      = "an event becomes a dead letter after failing three times, and none does here"
)

// expectedDenials are the Sids of statements by which tests are denied something on purpose.
var expectedDenials = map[string]bool{
	"NobodyReadsRefusedUploads": true, "OnlyCleanUploadsAreRead": true,
}

// grants collects what the policies of all local clouds of this run were used for.
var grants = grantUse{uses: map[string]int{}, denials: map[string]int{}}

type grantUse struct {
	mu sync.Mutex
	// uses counts by "role Sid action".
	uses map[string]int
	// denials counts by "role action resource statement".
	denials map[string]int
}

// collect adds what a local cloud recorded. The cloud must still run.
func (g *grantUse) collect(e *Environment) error {
	resp, err := e.callSigned(context.Background(), "GET", "sluice", "/_sluice/policies", http.Header{}, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var record struct {
		Statements []struct {
			Principal, Sid, Action string
			Count                  int
		}
		Denied []struct {
			Principal, Action, Resource, Statement string
			Count                                  int
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&record); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range record.Statements {
		g.uses[s.Principal+" "+s.Sid+" "+s.Action] += s.Count
	}
	for _, d := range record.Denied {
		if !expectedDenials[d.Statement] {
			g.denials[strings.TrimSpace(d.Principal+" "+d.Action+" "+d.Resource+" "+d.Statement)] += d.Count
		}
	}
	return nil
}

// checkDenied returns an error if any local cloud denied what it should not.
func (g *grantUse) checkDenied() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	var errs []error
	for _, d := range slices.Sorted(maps.Keys(g.denials)) {
		errs = append(errs, fmt.Errorf("denied %d times: %s", g.denials[d], d))
	}
	return errors.Join(errs...)
}

// checkUnused returns an error if a grant was not used, or if one that may be unused does not exist.
func (g *grantUse) checkUnused() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	var errs []error
	for _, grant := range slices.Sorted(maps.Keys(g.uses)) {
		if g.uses[grant] == 0 && grantsAllowedUnused[grant] == "" {
			errs = append(errs, fmt.Errorf("nothing uses the permission %s", grant))
		}
	}
	for grant := range grantsAllowedUnused {
		if _, exists := g.uses[grant]; !exists {
			errs = append(errs, fmt.Errorf("the template has no permission %s, which is listed as unused", grant))
		}
	}
	return errors.Join(errs...)
}

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

// newSecret returns a secret that no log may hold.
func newSecret(name string) string {
	secret := name + "-" + uuid.NewString()
	issuedSecrets.add(secret)
	return secret
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

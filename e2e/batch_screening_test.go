package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/client"
)

// wantedName is on the list of the tests.
const wantedName = "Anatoly Velkanov"

// importList imports a list of one person for a tenant of an environment and returns its file, which has the name of
// the list, so that the command line calls it the same.
func importList(t *testing.T, e *Environment, tenantID, list, name string) string {
	t.Helper()
	path := writeFile(t, list, "id,schema,name\nx-1,Person,"+name+"\n")
	err := e.admin(nil, "watchlist", "import", "--tenant", tenantID, "--list", list, "--format", "targets-simple-csv",
		path, "--force")
	must(t, err)
	return path
}

// named returns a valid line to an unknown receiver with a name.
func named(name string) line {
	return validLine().withUnknown("receiver", map[string]any{"external_id": "u-" + name, "full_name": name})
}

// processScreened processes a file whose names are screened and returns the last status.
func (s *session) processScreened(o client.UploadOptions, file []byte) client.Status {
	s.t.Helper()
	u := ok(s.client.CreateUploadWith(s.t.Context(), o))(s.t)
	r, err := s.client.ScreeningResult(s.t.Context(), u.BatchID)
	assert(s.t, err == nil && r.Pending, "screening result before the upload: %+v, %v; want none yet", r, err)
	must(s.t, s.client.UploadFile(s.t.Context(), u, bytes.NewReader(file), int64(len(file)), nil))
	last, _ := s.follow(u.BatchID)
	return last
}

// readAlerts returns the alerts of a batch as they are stored, and its screening result.
func (s *session) readAlerts(batchID string) ([]byte, client.ScreeningResult) {
	s.t.Helper()
	r := ok(s.client.ScreeningResult(s.t.Context(), batchID))(s.t)
	if r.AlertsFileURL == "" {
		return nil, r
	}
	text := ok(readFile(s.t.Context(), s.client.OpenAlerts, r.AlertsFileURL))(s.t)
	return text, r
}

// A batch is screened as sluice validate screens its file, whatever becomes of lines with hits.
func TestBatchScreening(t *testing.T) {
	api := begin(t)
	const list = "e2e-batch"
	path := importList(t, environment, environment.TenantID, list, wantedName)
	var lines []fmt.Stringer
	for i := range 40 {
		lines = append(lines, named(fmt.Sprintf("Quiet Person %c", 'A'+i%26)))
	}
	lines[3], lines[17], lines[38] = named(wantedName), named(" "+wantedName+"\u00a0"), named("Velkanov, Anatoly")
	lines = append(lines, rawLine("not JSON"))
	file := jsonLines(lines...)
	screening := &client.Screening{Lists: []string{list}}
	rejecting := &client.Screening{Lists: []string{list}, OnHit: client.OnHitReject}
	for _, test := range []screenedTest{
		{"hits are reported", client.UploadOptions{Screening: screening}, "PROCESSED", 40},
		{"lines with hits are dropped", client.UploadOptions{Screening: rejecting}, "PROCESSED", 37},
		{"a line with a hit rejects the batch", client.UploadOptions{RejectOnInvalid: true, Screening: rejecting},
			"VALIDATION_FAILED", 37},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, file, path)
		})
	}
	t.Run("no hits", func(t *testing.T) {
		api := begin(t)
		last := api.processScreened(client.UploadOptions{RejectOnInvalid: true, Screening: rejecting},
			jsonLines(named("Quiet Person"), validLine()))
		_, result := api.readAlerts(last.BatchID)
		assert(t, last.Status == "PROCESSED" && *last.NamesScreened == 1 && *result.Hits == 0,
			"the batch ended with %s, %s; want PROCESSED without hits", last.Status, result.Reply)
	})
	t.Run("not asked for", func(t *testing.T) {
		api := begin(t)
		last := api.process(true, jsonLines(named(wantedName)))
		assert(t, last.Status == "PROCESSED" && last.NamesScreened == nil && last.Hits == nil,
			"the batch ended with %+v, want PROCESSED and no counts of names", last)
		_, err := api.client.ScreeningResult(t.Context(), last.BatchID)
		expectRefused(t, http.StatusNotFound, err)
	})
	t.Run("an unknown list", func(t *testing.T) {
		t.Parallel()
		var refused *client.Error
		_, err := api.client.CreateUploadWith(t.Context(),
			client.UploadOptions{Screening: &client.Screening{Lists: []string{"e2e-none"}}})
		assert(t, errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity &&
			strings.Contains(err.Error(), "e2e-none"), "got %v, want 422 that names the list", err)
	})
}

// screenedTest is a batch with three hits among 27 names that are asked for, and what must become of it.
type screenedTest struct {
	name     string
	options  client.UploadOptions
	status   string
	accepted int64
}

// run processes a file that is screened with the list in another file.
func (test screenedTest) run(t *testing.T, file []byte, list string) {
	api := login(t, environment)
	last := api.processScreened(test.options, file)
	if last.Status != test.status || *last.Counts.Accepted != test.accepted {
		t.Fatalf("the batch ended with %s (%q), %d accepted; want %s, %d", last.Status, last.ErrorMessage,
			*last.Counts.Accepted, test.status, test.accepted)
	}
	assert(t, last.NamesScreened != nil && *last.NamesScreened == 27 && *last.Hits == 3,
		"the status is %s, want 27 names and 3 hits", last.Reply)
	alerts, result := api.readAlerts(last.BatchID)
	assert(t, *result.Hits == 3 && *result.NamesScreened == 27 && result.Lists[0].List == filepath.Base(list) &&
		bytes.Count(alerts, []byte(result.Lists[0].Version)) >= 3, "the screening result is %s with the alerts\n%s",
		result.Reply, alerts)
	if offline := validateOffline(t, file, list); !bytes.Equal(offline, alerts) {
		t.Errorf("the alerts of the batch are\n%s\nthose of the command line\n%s", alerts, offline)
	}
}

// validateOffline returns the alerts that the command line finds in a file.
func validateOffline(t *testing.T, file []byte, list string) []byte {
	t.Helper()
	batch, alerts := writeFile(t, "batch.jsonl", file), filepath.Join(t.TempDir(), "alerts.jsonl")
	stdout, stderr, code, err := environment.runSluice("validate", batch, "--screen", "targets-simple-csv:"+list,
		"--alerts", alerts)
	if err != nil || code != 1 { // a line is invalid
		t.Fatalf("sluice validate: exit code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	text, err := os.ReadFile(alerts)
	must(t, err)
	return text
}

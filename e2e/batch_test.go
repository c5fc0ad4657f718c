package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/client"
	"sluice/openapi/wire"
)

// statusOrder is the order in which a client may see the statuses of a batch; it may miss any except the last.
var statusOrder = []string{"VALIDATION_STARTED", "PENDING_INGESTION", "INITIALIZED", "IN_PROGRESS", "PROCESSED"}

// countsOf returns the counts of a batch that has ended.
func countsOf(total, accepted, invalid, ingested int64) client.Counts {
	return client.Counts{Total: &total, Accepted: &accepted, Invalid: &invalid, Ingested: &ingested}
}

func TestGoodBatch(t *testing.T) {
	api := begin(t)
	lines := validLines(300)
	content := jsonLines(lines...)
	started := time.Now().Add(-time.Second)

	u := api.newUpload(true)
	expectNotUploaded(t, api, u.BatchID)
	expectPut(t, 200, u, content)
	last, seen := api.follow(u.BatchID)
	require(t, last.Status == "PROCESSED" && last.ErrorMessage == "", "the batch ended with %s (%q), want PROCESSED",
		last.Status, last.ErrorMessage)
	assert(t, isInOrder(seen, statusOrder), "seen %v, want the order %v", seen, statusOrder)
	equal(t, "counts", countsOf(300, 300, 0, 300), last.Counts)
	if size := int64(len(content)); last.BytesTotal != size || last.BytesDone != size {
		t.Errorf("%d of %d bytes are done, want %d", last.BytesDone, last.BytesTotal, size)
	}
	assert(t, last.RejectOnInvalid, "reject_on_invalid is false, want true")
	assert(t, !last.ReceivedAt.Before(started) && !last.ReceivedAt.After(last.UpdatedAt),
		"received at %v, want a time between %v and %v", last.ReceivedAt, started, last.UpdatedAt)
	r := api.result(u.BatchID)
	assert(t, r.Valid != nil && *r.Valid && r.ErrorsFileURL == "" && r.Message == "Batch validated successfully.",
		"validation result %+v, want a valid one without a report", r)
	for _, i := range []int{0, 1, 149, 298, 299} {
		api.expectStored(lines[i], u.BatchID, int64(i+1))
	}
}

// expectNotUploaded checks what is answered about a batch whose file has not come: 202 and a message.
func expectNotUploaded(t *testing.T, api *session, batchID string) {
	t.Helper()
	api.expect(http.StatusAccepted, "GET", transactionsPath+"batch/status/"+batchID, "",
		`"Batch not yet uploaded completely."`)
	api.expect(http.StatusAccepted, "GET", transactionsPath+"batch/validation-result/"+batchID, "")
	if r := api.result(batchID); r.Valid != nil {
		t.Errorf("validation result before the upload: valid is %v, want none", *r.Valid)
	}
}

// isInOrder reports whether the values come in the given order, in which they may leave some out.
func isInOrder(values, order []string) bool {
	for _, v := range values {
		i := slices.Index(order, v)
		if i < 0 {
			return false
		}
		order = order[i:]
	}
	return true
}

// mixedFile is a file in which only two of the lines can be ingested.
type mixedFile struct {
	good     []line
	rejected line
	lines    []fmt.Stringer
	// codes are the codes that the report must have, by line.
	codes map[int64][]string
}

func newMixedFile() mixedFile {
	good := []line{
		validLine(),
		validLine().withUnknown("receiver", map[string]any{"external_id": "shop 7", "full_name": "Café Zürich"}),
	}
	first, second := validLine(), validLine()
	sameIDAsFirst := validLine().withModification("external_id", first.modificationID())
	brokenAfterID := strings.Replace(sameIDAsFirst.String(), `"payout"`, `"payout",`, 1)
	return mixedFile{
		good,
		first,
		[]fmt.Stringer{
			good[0],
			rawLine(`{"request_uuid": nope}`),
			rawLine(`   `),
			first,
			validLine().withSender("e2e-nobody"),
			validLine().withSender(notOnboardedID),
			validLine().with("colour", "green"),
			validLine().withModification("amount", "12"),
			good[1],
			validLine().withModification("external_id", first.modificationID()),
			rawLine(brokenAfterID),
			second,
			validLine().withUnknown("sender", map[string]any{"external_id": "a"}).
				withUnknown("receiver", map[string]any{"external_id": "b"}),
			validLine().withModification("external_id", second.modificationID()).with("payment_type", "gift"),
		},
		map[int64][]string{
			2:  {"json_invalid"},
			4:  {"duplicate_modification_id"},
			5:  {"entity_not_found"},
			6:  {"entity_not_onboarded"},
			7:  {"extra_forbidden"},
			8:  {"number_type"},
			10: {"duplicate_modification_id"},
			11: {"duplicate_modification_id", "json_invalid"},
			12: {"duplicate_modification_id"},
			13: {"main_entity_unknown"},
			14: {"duplicate_modification_id", "enum"},
		},
	}
}

func TestInvalidLines(t *testing.T) {
	t.Parallel()
	onboardEntities(t, environment)
	for _, test := range []struct {
		name   string
		reject bool
		status string
		counts client.Counts
	}{
		{"reject the batch", true, "VALIDATION_FAILED", countsOf(13, 2, 11, 0)},
		{"drop the lines", false, "PROCESSED", countsOf(13, 2, 11, 2)},
	} {
		t.Run(test.name, func(t *testing.T) {
			api := begin(t)
			file := newMixedFile()
			content := jsonLines(file.lines...)
			last := api.process(test.reject, content)
			assert(t, last.Status == test.status && (last.ErrorMessage == "") != test.reject,
				"the batch ended with %s (%q), want %s", last.Status, last.ErrorMessage, test.status)
			equal(t, "counts", test.counts, last.Counts)
			equal(t, "counts of the results", test.counts.Ingested, api.result(last.BatchID).Counts.Ingested)
			checkReport(t, api.report(last.BatchID), file.codes, content)
			for _, l := range file.good {
				if test.reject {
					api.expectNotStored(l)
					continue
				}
				got, err := api.client.Transaction(t.Context(), l.transactionID())
				assert(t, err == nil && string(got.Modifications[0].Transaction) == l.String(),
					"stored: %+v, %v, want %s", got, err, l)
			}
			api.expectNotStored(file.rejected)
		})
	}
}

// checkReport compares a report with the codes that each line must have, and checks the order of the lines and their
// offsets.
func checkReport(t *testing.T, report []client.ReportLine, want map[int64][]string, content []byte) {
	t.Helper()
	got := map[int64][]string{}
	previous := int64(0)
	for _, l := range report {
		assert(t, l.Line > previous, "line %d comes after line %d", l.Line, previous)
		previous = l.Line
		for _, e := range l.Errors {
			got[l.Line] = append(got[l.Line], e.Type)
			isDuplicate := e.Type == "duplicate_modification_id"
			assert(t, !isDuplicate || e.OtherLinesTotal >= 1 && !slices.Contains(e.OtherLines, l.Line),
				"line %d is a duplicate of %d other lines: %v", l.Line, e.OtherLinesTotal, e.OtherLines)
			number := int64(strings.Count(string(content[:e.Offset]), "\n")) + 1
			assert(t, number == l.Line, "line %d: the offset %d is in line %d", l.Line, e.Offset, number)
		}
		slices.Sort(got[l.Line])
	}
	equal(t, "codes by line", want, got)
}

// A file that comes again is noticed, packed or not, and rejected if that is asked for; the command line says so.
func TestDuplicateFiles(t *testing.T) {
	s := begin(t)
	file := jsonLines(validLines(3)...)
	rejects := client.UploadOptions{RejectOnInvalid: true, OnDuplicate: client.RejectDuplicate}
	first, _ := s.processWith(rejects, file)
	require(t, first.Status == client.StatusProcessed && first.DuplicateOf == nil,
		"the first batch is %+v, want PROCESSED, a duplicate of none", first)
	message := "This file was processed as batch " + first.BatchID + "."
	for name, content := range map[string][]byte{"the same file": file, "its gzip": packGzip(t, file)} {
		got, _ := s.processWith(rejects, content)
		result := s.result(got.BatchID)
		assert(t, got.Status == client.StatusValidationFailed && got.ErrorMessage == message &&
			wire.OrZero(got.DuplicateOf) == first.BatchID && result.Valid != nil && !*result.Valid &&
			result.Message == message,
			"%s: got %+v and %+v, want VALIDATION_FAILED: %s", name, got, result, message)
	}
	path := writeFile(t, "batch.jsonl", file)
	stdout, stderr, code := s.command("upload", path, "--on-duplicate", "reject")
	assert(t, code == 1 && stderr == "" && strings.Contains(stdout, message),
		"upload --on-duplicate reject: exit code %d, stderr %q, %s; want 1 and %s", code, stderr, stdout, message)
	stdout, stderr, code = s.command("upload", path)
	assert(t, code == 0 && stderr == "" && strings.Contains(stdout, "the same file as batch "+first.BatchID+"\n"),
		"upload: exit code %d, stderr %q, %s; want 0 and the batch %s", code, stderr, stdout, first.BatchID)
	if _, stderr, code := s.command("upload", path, "--on-duplicate", "refuse"); code != 2 {
		t.Errorf("upload --on-duplicate refuse: exit code %d, stderr %q, want 2", code, stderr)
	}
}

// Equal files at the same time are processed, or rejected for one that was processed; all but one name another batch.
// Where open duplicates are rejected, too, all but one are rejected.
func TestEqualFilesAtOnce(t *testing.T) {
	s := begin(t)
	for _, treatment := range []string{client.RejectDuplicate, client.RejectOpenDuplicate} {
		file := jsonLines(validLines(3)...)
		var ids []string
		for range 3 {
			u := ok(s.client.CreateUploadWith(t.Context(),
				client.UploadOptions{RejectOnInvalid: true, OnDuplicate: treatment}))(t)
			u = ok(s.client.SignUpload(t.Context(), u.BatchID))(t) // the URL again
			expectPut(t, 200, u, file)
			ids = append(ids, u.BatchID)
		}
		originals := 0
		for _, id := range ids {
			switch b, _ := s.follow(id); {
			case b.Status == client.StatusProcessed && b.DuplicateOf == nil:
				originals++
			case wire.OrZero(b.DuplicateOf) == "" || wire.OrZero(b.DuplicateOf) == b.BatchID ||
				treatment == client.RejectOpenDuplicate && b.Status != client.StatusValidationFailed:
				t.Errorf("%s: got %+v, want a batch that names another one", treatment, b)
			}
		}
		assert(t, originals == 1, "%s: %d batches are PROCESSED and duplicates of none, want 1", treatment, originals)
	}
}

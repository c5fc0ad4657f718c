package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sluice/client"
	"sluice/openapi/wire"
	"sluice/sampledata"
	"sluice/shared/kit/difftest"
)

// samples are lines as sluice generate makes them: every way of being wrong, between valid ones.
type samples struct {
	// path and entities are the files of the lines and of the entities to which they refer.
	path, entities string
	content        []byte
	lines          [][]byte
	// kinds are the codes of the lines that are wrong, by their numbers.
	kinds map[int64]string
}

// newSamples generates lines with every way of being wrong and some valid ones, and onboards their entities for a
// tenant.
func newSamples(t *testing.T, tenantID string) samples {
	t.Helper()
	s := samples{path: filepath.Join(t.TempDir(), "lines.jsonl"), kinds: map[int64]string{}}
	const valid = 10
	total := sampledata.EveryKind() + valid
	bad := strconv.FormatFloat(float64(sampledata.EveryKind())/float64(total), 'f', -1, 64)
	_, stderr, code, err := environment.runSluice("generate", "--lines", fmt.Sprint(total), "--seed", "17", "--bad",
		bad, "-o", s.path)
	require(t, err == nil && code == 0, "sluice generate: exit code %d, %v: %s", code, err, stderr)
	s.entities = s.path + ".entities"
	must(t, environment.admin(nil, "--tenant", tenantID, "entities", "import", s.entities))
	content, err := os.ReadFile(s.path)
	must(t, err)
	kinds := readTruth(t, s.path+".truth")
	for i, text := range bytes.Split(bytes.TrimSuffix(content, []byte("\n")), []byte("\n")) {
		if len(text) > 100_000 {
			continue // huge lines cost much: there is one at the end
		}
		s.lines = append(s.lines, text)
		if kind := kinds[int64(i+1)]; kind != "" {
			s.kinds[int64(len(s.lines))] = kind
		}
	}
	if len(kinds) != int(sampledata.EveryKind()) || len(s.kinds) < len(kinds)-3 || len(s.lines)-len(s.kinds) != valid {
		t.Fatalf("%d lines, %d of them wrong; want %d of %d ways to be wrong, and %d valid lines", len(s.lines),
			len(s.kinds), len(kinds), sampledata.EveryKind(), valid)
	}
	var tooLong strings.Builder // and not too dense when it is packed
	for i := range 60_000 {
		fmt.Fprint(&tooLong, i)
	}
	s.content = slices.Concat(bytes.Join(s.lines, []byte("\n")), []byte("\n\n"+tooLong.String()+"\n"))
	s.kinds[int64(len(s.lines)+2)] = "line_too_long" // after a blank line
	must(t, os.WriteFile(s.path, s.content, 0o600))
	return s
}

// validateOffline returns the report of sluice validate.
func (s samples) validateOffline(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.jsonl")
	_, stderr, code, err := environment.runSluice("validate", s.path, "--entities", s.entities, "--report", path,
		"--quiet")
	require(t, err == nil && code == 1, "sluice validate: exit code %d, %v: %s", code, err, stderr)
	text, err := os.ReadFile(path)
	must(t, err)
	return text
}

// expectValidStored checks that the valid lines are read back as those of a batch, or of single transactions if that is
// "".
func (s samples) expectValidStored(t *testing.T, api *session, way, batchID string) {
	t.Helper()
	for i, text := range s.lines {
		number := int64(i + 1)
		if s.kinds[number] != "" {
			continue
		}
		var l line
		must(t, json.Unmarshal(text, &l))
		if batchID == "" {
			number = 0
		}
		stored, err := api.client.Transaction(t.Context(), l.transactionID())
		isStored := false
		for _, m := range stored.Modifications {
			isStored = isStored || m.ModificationExternalID == l.modificationID() &&
				wire.OrZero(m.BatchID) == batchID && wire.OrZero(m.Line) == number && bytes.Equal(m.Transaction, text)
		}
		assert(t, err == nil && isStored, "%s: line %d is read back as %+v, %v", way, i+1, stored, err)
	}
}

// The verdict on a line is the same whichever way it comes: in a plain, packed or multipart batch, alone, and offline,
// where nothing is uploaded. Reports are the same byte for byte, and what is said of a line alone are the errors of the
// report. There are two differences: duplicates are found in batches only, and bytes that are not UTF-8 do not reach
// the service in a single transaction, because API Gateway has put U+FFFD in their place.
func TestOneVerdictOnEveryPath(t *testing.T) {
	api := beginBatchTenant(t)
	s := newSamples(t, api.tenantID)
	report := s.validateOffline(t)
	verdicts := map[int64]client.ReportLine{}
	for text := range bytes.Lines(report) {
		var l client.ReportLine
		decodeStrictly(t, text, &l)
		verdicts[l.Line] = l
		kind := s.kinds[l.Line]
		assert(t, hasCode(l, kind), "line %d has the errors %+v, want %s", l.Line, l.Errors, kind)
	}
	assert(t, len(verdicts) == len(s.kinds), "%d lines are invalid, want %d", len(verdicts), len(s.kinds))
	size, half := int64(len(s.content)), len(s.content)/2
	for _, way := range []struct {
		name, encoding string
		file           []byte
	}{
		{"plain", "identity", s.content},
		{"gzip", "gzip", packGzip(t, s.content)},
		{"gzip in two members", "gzip", append(packGzip(t, s.content[:half]), packGzip(t, s.content[half:])...)},
		{"zstd", "zstd", packZstd(t, s.content)},
		{"zstd in two frames", "zstd", append(packZstd(t, s.content[:half]), packZstd(t, s.content[half:])...)},
		{"multipart", "identity", s.content},
	} {
		start := api.startInParts
		if way.name != "multipart" {
			start = func(file []byte) string { return api.startBatch(false, file) }
		}
		last := api.expectEnd("PROCESSED", start(way.file))
		assert(t, last.ContentEncoding == way.encoding && last.BytesTotal == size && last.BytesDone == size,
			"%s: %d of %d bytes of %s are done, want %d of %s", way.name, last.BytesDone, last.BytesTotal,
			last.ContentEncoding, size, way.encoding)
		invalid, total := int64(len(s.kinds)), int64(len(s.lines)+1)
		equal(t, way.name+": counts", countsOf(total, total-invalid, invalid, total-invalid), last.Counts)
		got := ok(readFile(t.Context(), api.client.OpenReport, api.result(last.BatchID).ErrorsFileURL))(t)
		equal(t, way.name+": report", string(report), string(got))
		s.expectValidStored(t, api, way.name, last.BatchID)
	}
	for i, text := range s.lines {
		want := withoutDuplicates(verdicts[int64(i+1)].Errors)
		if !utf8.Valid(text) {
			if !environment.supports(anyBytes, t.Name()) {
				continue
			}
			want = nil
		}
		_, err := api.client.SendTransaction(t.Context(), text, client.SendOptions{})
		difftest.Equal(t, fmt.Sprintf("line %d (%s) alone", i+1, s.kinds[int64(i+1)]), "", compareWithSingle(want, err))
	}
	s.expectValidStored(t, api, "alone", "")
}

// startInParts uploads the file of a new batch in parts, which may have invalid lines, and returns its ID.
func (s *session) startInParts(file []byte) string {
	s.t.Helper()
	size := int64(len(file))
	var u client.Upload
	s.expectReply(200, "POST", uploadPath,
		fmt.Sprintf(`{"reject_on_invalid":false,"upload":"multipart","content_length":%d}`, size), &u)
	must(s.t, s.client.UploadParts(s.t.Context(), u.BatchID, bytes.NewReader(file), size,
		client.PartsOptions{}))
	return u.BatchID
}

// withoutDuplicates returns the errors that a line has whatever the other lines are.
func withoutDuplicates(errs []client.ReportError) (own []client.ReportError) {
	for _, e := range errs {
		if e.Type != "duplicate_modification_id" {
			own = append(own, e)
		}
	}
	return own
}

// compareWithSingle returns a text if the answer to a single transaction differs from the errors that its line has in a
// batch. What cannot be read as one JSON object is a 422, and everything else a 400 with a reason.
func compareWithSingle(want []client.ReportError, err error) string {
	var refused *client.Error
	if len(want) == 0 || !errors.As(err, &refused) {
		if len(want) == 0 && err == nil {
			return ""
		}
		return fmt.Sprintf("got %v, want %+v", err, want)
	}
	switch refused.Status {
	case http.StatusUnprocessableEntity:
		if len(refused.Details) == 1 && len(want) == 1 && refused.Details[0].Type == want[0].Type {
			return ""
		}
	case http.StatusBadRequest:
		if want[0].Type == "created_at_out_of_range" && len(want) == 1 {
			if strings.HasSuffix(refused.Message, "(type=created_at_out_of_range).") {
				return ""
			}
			break
		}
		noun := "errors"
		if len(want) == 1 {
			noun = "error"
		}
		reason := fmt.Sprintf("%d validation %s for TransactionEventRequest", len(want), noun)
		for _, e := range want {
			path := strings.ReplaceAll(strings.TrimPrefix(e.Pointer, "/"), "/", " -> ")
			reason += fmt.Sprintf("\n%s\n  %s (type=%s)", path, e.Msg, e.Type)
		}
		return cmp.Diff(reason, refused.Message)
	}
	return fmt.Sprintf("got %v, want %+v", err, want)
}

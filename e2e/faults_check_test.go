//go:build verify

package e2e

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	gocmp "github.com/google/go-cmp/cmp"

	"sluice/client"
	"sluice/openapi/wire"
	"sluice/shared/kit/dynamo"
)

// check returns what is wrong with a batch that has ended.
func (c *faultCloud) check(t *testing.T, b *faultBatch, events []busEvent) (problems []error) {
	if b.id == "" || b.problem != nil {
		return []error{cmp.Or(b.problem, errors.New("it was not uploaded"))}
	}
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	err := c.persist(t.Context(), b.tenant, func(api *client.Client) (err error) {
		b.last, err = api.Status(t.Context(), b.id)
		return err
	})
	if err != nil {
		return []error{err}
	}
	if b.last.Status != b.want {
		if b.last.Status != "ERROR" || !mayFail(recordsOf(c.records, b)) {
			wrong("the status is %s, want %s", b.last.Status, b.want)
		}
		b.accepted = nil
	} else {
		problems = append(problems, c.checkOutcome(t, b)...)
	}
	if err := c.checkStored(t, b); err != nil {
		problems = append(problems, err)
	}
	isWrong := func(e busEvent) bool {
		return e.DetailType != endTypes[b.last.Status] || e.Detail.ID != events[0].Detail.ID
	}
	if len(events) == 0 || slices.ContainsFunc(events, isWrong) {
		wrong("the end is announced by %+v", events)
	}
	return problems
}

// mayFail reports whether faults explain that a batch ended in ERROR: its execution was stopped, or one function was
// struck more often than it is retried.
func mayFail(records []faultRecord) bool {
	const retries = 5
	struck := map[string]int{}
	for _, r := range records {
		if r.Kind == "stop" {
			return true
		}
		struck[strings.TrimPrefix(r.Function, "invoke ")+r.Part]++
	}
	return len(struck) > 0 && slices.Max(slices.Collect(maps.Values(struck))) > retries
}

// checkOutcome compares the status, the counts, the results and the report of a batch with the offline validation.
func (c *faultCloud) checkOutcome(t *testing.T, b *faultBatch) (problems []error) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	counts, isTooMany := b.summary.Counts, b.summary.Counts.Total > maxFaultTransactions
	want := countsOf(counts.Total, counts.Accepted, counts.Invalid, int64(len(b.accepted)))
	if isTooMany { // they are not settled
		want.Accepted, want.Invalid = b.last.Counts.Accepted, b.last.Counts.Invalid
	}
	if diff := gocmp.Diff(want, b.last.Counts); diff != "" {
		wrong("counts: want (-), got (+):\n%s", diff)
	}
	if size := int64(len(b.file)); b.last.BytesTotal != size || b.want == "PROCESSED" && b.last.BytesDone != size {
		wrong("%d of %d bytes are done, want %d", b.last.BytesDone, b.last.BytesTotal, size)
	}
	if (b.last.ErrorMessage == "") != (b.want == "PROCESSED") {
		wrong("the error message is %q", b.last.ErrorMessage)
	}
	var r client.ValidationResult
	var got []byte
	err := c.persist(t.Context(), b.tenant, func(api *client.Client) (err error) {
		if r, err = api.ValidationResult(t.Context(), b.id); err != nil || r.ErrorsFileURL == "" {
			return err
		}
		got, err = readFile(t.Context(), api.OpenReport, r.ErrorsFileURL)
		return err
	})
	if err != nil {
		return append(problems, err)
	}
	if isValid := counts.Invalid == 0 && counts.Total > 0 && !isTooMany; r.Valid == nil || *r.Valid != isValid {
		wrong("valid is %s, want %v", r.Reply, isValid)
	}
	wantReport := b.report
	if isTooMany {
		wantReport = nil
	}
	if !bytes.Equal(got, wantReport) {
		wrong("the report is\n%s\nwant\n%s", got, wantReport)
	}
	if b.options.Screening != nil {
		problems = append(problems, c.checkAlerts(t, b)...)
	}
	return problems
}

// checkAlerts compares the alerts of a batch with those of the command line.
func (c *faultCloud) checkAlerts(t *testing.T, b *faultBatch) (problems []error) {
	dir := t.TempDir()
	file, alerts := filepath.Join(dir, "batch.jsonl"), filepath.Join(dir, "alerts.jsonl")
	if err := os.WriteFile(file, b.file, 0o600); err != nil {
		return []error{err}
	}
	_, stderr, _, err := c.runSluice("validate", "--quiet", file, "--screen", "targets-simple-csv:"+c.list, "--alerts",
		alerts)
	want, readErr := os.ReadFile(alerts)
	if err := errors.Join(err, readErr); err != nil {
		return []error{fmt.Errorf("sluice validate: %w: %s", err, stderr)}
	}
	var got []byte
	err = c.persist(t.Context(), b.tenant, func(api *client.Client) error {
		r, err := api.ScreeningResult(t.Context(), b.id)
		if err != nil || r.AlertsFileURL == "" {
			return err
		}
		got, err = readFile(t.Context(), api.OpenAlerts, r.AlertsFileURL)
		return err
	})
	if err != nil {
		return []error{err}
	}
	if !bytes.Equal(got, want) {
		return []error{fmt.Errorf("the alerts are\n%s\nwant\n%s", got, want)}
	}
	return nil
}

// checkStored compares what can be read of the batch's transaction with the accepted lines, byte for byte.
func (c *faultCloud) checkStored(t *testing.T, b *faultBatch) error {
	var stored client.Transaction
	err := c.persist(t.Context(), b.tenant, func(api *client.Client) (err error) {
		stored, err = api.Transaction(t.Context(), b.transactionID)
		return err
	})
	var refused *client.Error
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("read what is stored: %w", err)
	}
	got := map[int64]string{}
	for _, m := range stored.Modifications {
		if _, isThere := got[wire.OrZero(m.Line)]; isThere || wire.OrZero(m.BatchID) != b.id {
			return fmt.Errorf("modification %s is stored for line %d of batch %s", m.ModificationExternalID,
				wire.OrZero(m.Line), wire.OrZero(m.BatchID))
		}
		got[wire.OrZero(m.Line)] = string(m.Transaction)
	}
	want := b.accepted
	if want == nil {
		want = map[int64]string{}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		return fmt.Errorf("stored lines: want (-), got (+):\n%s", diff)
	}
	return nil
}

// leftovers returns what the batches have left behind that nothing removes: objects that no rule of the lifecycle
// covers, and rows without an end.
func (c *faultCloud) leftovers(t *testing.T) (problems []error) {
	storage := operatorStorage(c.Environment)
	buckets, err := storage.ListBuckets(t.Context(), &s3.ListBucketsInput{})
	if err != nil {
		return []error{err}
	}
	for _, bucket := range buckets.Buckets {
		pages := s3.NewListObjectsV2Paginator(storage, &s3.ListObjectsV2Input{Bucket: bucket.Name})
		for pages.HasMorePages() {
			page, err := pages.NextPage(t.Context())
			if err != nil {
				return []error{err}
			}
			for _, o := range page.Contents {
				if !isCleanedUp(*o.Key) {
					problems = append(problems, fmt.Errorf("nothing removes %s of %s", *o.Key, *bucket.Name))
				}
			}
		}
		parts, err := storage.ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: bucket.Name})
		if err != nil {
			return []error{err}
		}
		for _, u := range parts.Uploads {
			if !isCleanedUp(*u.Key) {
				problems = append(problems, fmt.Errorf("nothing ends the upload of %s to %s", *u.Key, *bucket.Name))
			}
		}
	}
	return append(problems, c.rowLeftovers(t)...)
}

// isCleanedUp reports whether the lifecycle removes an object, and its unfinished upload, or it is meant to stay.
func isCleanedUp(key string) bool {
	return slices.ContainsFunc([]string{"uploads/", "work/", "reports/", "answers/", "watchlists/", "index/"},
		func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// rowLeftovers returns the rows of batches that say of a batch that has ended what is true of one that has not.
func (c *faultCloud) rowLeftovers(t *testing.T) (problems []error) {
	db, err := c.database()
	if err != nil {
		return []error{err}
	}
	pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: aws.String(c.Prefix + "-batches")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			return []error{err}
		}
		for _, row := range page.Items {
			id, part := dynamo.StringAttribute(row, "id"), dynamo.StringAttribute(row, "part")
			status := dynamo.StringAttribute(row, "status")
			if row["expires"] == nil && part != "batch" && id != "sweep" {
				problems = append(problems, fmt.Errorf("row %s of batch %s does not expire", part, id))
			}
			if part != "batch" || status == "AWAITING_UPLOAD" {
				continue
			}
			for _, name := range []string{"unfinished", "look_at", "unannounced", "announcer"} {
				if row[name] != nil {
					problems = append(problems, fmt.Errorf("batch %s is %s and has %s", id, status, name))
				}
			}
		}
	}
	return problems
}

// slotLeftovers returns a line for each slot that a batch has, and for each batch that waits for one.
func (c *faultCloud) slotLeftovers(t *testing.T) (held []string, err error) {
	db, err := c.database()
	if err != nil {
		return nil, err
	}
	gates := 0
	pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: aws.String(c.Prefix + "-admission")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			return nil, err
		}
		for _, row := range page.Items {
			stage := dynamo.StringAttribute(row, "stage")
			if id := dynamo.StringAttribute(row, "batch"); id != "" {
				held = append(held, fmt.Sprintf("batch %s waits for a slot of %s", id, stage))
				continue
			}
			gates++
			holders, isMap := row["holders"].(*types.AttributeValueMemberM)
			if !isMap {
				return nil, fmt.Errorf("the gate of %s has no holders: %v", stage, row)
			}
			for id := range holders.Value {
				held = append(held, fmt.Sprintf("batch %s has a slot of %s", id, stage))
			}
		}
	}
	if gates == 0 {
		return nil, errors.New("there is no gate, though batches had slots")
	}
	return held, nil
}

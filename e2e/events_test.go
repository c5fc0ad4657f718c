package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/client"
	"sluice/openapi/wire"
	"sluice/shared/connect/event"
	"sluice/shared/kit/difftest"
)

// busEvent is an event as the event bus passes it on.
type busEvent struct {
	ID         string        `json:"id"`
	Source     string        `json:"source"`
	DetailType event.Type    `json:"detail-type"`
	Time       time.Time     `json:"time"`
	Detail     event.Message `json:"detail"`
}

// batchEnd is the payload of an event about the end of a batch.
type batchEnd struct {
	BatchID      string        `json:"batch_id"`
	Status       string        `json:"status"`
	ErrorMessage string        `json:"error_message"`
	Counts       client.Counts `json:"counts"`
	// Name is "" for null.
	Name           string            `json:"name"`
	Metadata       map[string]string `json:"metadata"`
	ValidateOnly   bool              `json:"validate_only"`
	ReportComplete *bool             `json:"report_complete"`
}

// eachLine calls visit with each complete line of a file, which need not exist.
func eachLine(path string, visit func(line []byte) error) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // the last line is being written
		}
		if err != nil {
			return err
		}
		if err := visit(line); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
}

// busEvents returns the events on the bus of a local cloud by the resource that caused them.
func (e *Environment) busEvents() (map[string][]busEvent, error) {
	found := map[string][]busEvent{}
	err := eachLine(filepath.Join(e.Data, "logs", "events.jsonl"), func(line []byte) error {
		var b busEvent
		if err := json.Unmarshal(line, &b); err != nil {
			return err
		}
		found[b.Detail.CausationID] = append(found[b.Detail.CausationID], b)
		return nil
	})
	return found, err
}

// endTypes are the types of the events about the ends of batches by their statuses.
var endTypes = map[string]event.Type{
	"PROCESSED":         "batchtransaction:ingestionProcessed",
	"VALIDATION_FAILED": "batchtransaction:ingestionValidation_failed",
	"ERROR":             "batchtransaction:ingestionFailed",
}

// checkAnnounced returns an error unless each batch that has ended in a local cloud is announced, in the status in
// which it ended, and once. A cloud whose functions are killed may announce more often, and so may one without a log of
// its functions.
func (e *Environment) checkAnnounced() error {
	var problems []error
	var failure error
	becomesTrue(func() bool {
		problems, failure = e.announcementProblems()
		return len(problems) == 0 || failure != nil
	})
	return errors.Join(append(problems, failure)...)
}

// announcementProblems returns a problem for each batch that has ended and is not announced as checkAnnounced says.
func (e *Environment) announcementProblems() (problems []error, err error) {
	ended := map[string]string{}
	err = eachLine(filepath.Join(e.Data, "logs", "audit.jsonl"), func(line []byte) error {
		var r struct{ Record, Msg, Batch, To string }
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		if r.Record == "transition" && r.Msg == "batch finished" {
			ended[r.Batch] = r.To
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	events, err := e.busEvents()
	if err != nil {
		return nil, err
	}
	for id, status := range ended {
		of := events[id]
		isWrong := func(b busEvent) bool { return b.DetailType != endTypes[status] || b.Detail.ID != of[0].Detail.ID }
		if len(of) == 0 || slices.ContainsFunc(of, isWrong) || len(of) > 1 && !e.mayDouble(of[0]) {
			problems = append(problems, fmt.Errorf("batch %s ended in %s; announced: %+v", id, status, of))
		}
	}
	return problems, nil
}

// mayDouble reports whether an event may come twice, because functions were killed.
func (e *Environment) mayDouble(b busEvent) bool {
	_, isKilled := e.killsFunctionsOf.Load(b.Detail.Tenant)
	return e.killsFunctions || isKilled
}

// expectAnnounced waits until the end of a batch is announced, and compares the event with the batch's last status.
func (s *session) expectAnnounced(last client.Status) batchEnd {
	s.t.Helper()
	var found []busEvent
	eventually(s.t, "the announcement of batch "+last.BatchID, func() bool {
		all := ok(s.environment.busEvents())(s.t)
		found = all[last.BatchID]
		return len(found) > 0
	})
	got, eventType := found[0], endTypes[last.Status]
	var payload batchEnd
	decodeStrictly(s.t, got.Detail.Payload, &payload)
	got.Detail.Payload = nil
	path := transactionsPath + "batch/status/" + last.BatchID
	want := busEvent{ID: got.ID, Source: "sluice.batch", DetailType: eventType,
		Time: last.UpdatedAt.Truncate(time.Second), Detail: event.Message{
			ID: event.NewID(eventType, last.BatchID), Tenant: s.tenantID, Type: eventType,
			RelativeURL: path,
			When:        last.UpdatedAt, CorrelationID: last.BatchID, CausationID: last.BatchID,
		}}
	equal(s.t, "event", want, got)
	wantPayload := batchEnd{BatchID: last.BatchID, Status: last.Status, ErrorMessage: last.ErrorMessage,
		Counts: last.Counts, Name: wire.OrZero(last.Name), Metadata: last.Metadata, ValidateOnly: last.ValidateOnly,
		ReportComplete: payload.ReportComplete}
	equal(s.t, "payload", wantPayload, payload)
	s.expect(http.StatusOK, "GET", got.Detail.RelativeURL, "")
	return payload
}

// Each end of a batch is announced with what its status says. That every batch of the suite is announced, wherever it
// ended, is checked when its environment is stopped.
func TestEndsAreAnnounced(t *testing.T) {
	t.Parallel()
	skipWithout(t, eventLog)
	onboardEntities(t, environment)
	invalid := strings.Replace(validLine().String(), `"EUR"`, `"E"`, 1)
	complete := true
	for _, test := range []struct {
		name, status string
		file         []byte
		complete     *bool
	}{
		{"processed", "PROCESSED", jsonLines(validLine()), &complete},
		{"rejected", "VALIDATION_FAILED", append(jsonLines(validLine()), invalid+"\n"...), &complete},
		{"empty", "VALIDATION_FAILED", nil, &complete},
		{"infected", "ERROR", []byte(eicar), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			api := begin(t)
			payload := api.expectAnnounced(api.expectProcess(test.status, test.file))
			equal(t, "report_complete", test.complete, payload.ReportComplete)
		})
	}
}

// Without the table of webhooks a batch ends as ever and is announced to the event bus, once; the webhooks are told
// when the table is back.
func TestLostWebhooksDelayNoBatch(t *testing.T) {
	api := largeCloud.begin(t) // where no other test has webhooks
	cloud := api.environment
	r := api.newReceiver()
	api.newWebhook(r.URL, client.WebhookSettings{})
	db := cloud.tables(t)
	name := cloud.table("webhooks")
	described := ok(db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: name}))(t)
	rows := ok(db.Scan(t.Context(), &dynamodb.ScanInput{TableName: name}))(t)
	ok(db.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: name}))(t)
	last := api.expectProcess("PROCESSED", jsonLines(validLine()))
	api.expectAnnounced(last)
	unannounced := func() []string {
		set, _ := cloud.batchRow(t, last.BatchID)["unannounced"].(*types.AttributeValueMemberSS)
		if set == nil {
			return nil
		}
		return set.Value
	}
	eventually(t, "the record that the webhooks do not know", func() bool {
		return slices.Equal(unannounced(), []string{"webhooks"})
	})
	ok(db.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: name, KeySchema: described.Table.KeySchema,
		AttributeDefinitions: described.Table.AttributeDefinitions,
		BillingMode:          types.BillingModePayPerRequest,
	}))(t)
	for _, row := range rows.Items {
		cloud.putItem(t, "webhooks", row)
	}
	eventually(t, "the delivery to the webhook", func() bool { return len(r.requests()) > 0 && unannounced() == nil })
	all := ok(cloud.busEvents())(t)
	difftest.Equal(t, "result", []any{1, 1}, []any{len(all[last.BatchID]), len(r.requests())})
}

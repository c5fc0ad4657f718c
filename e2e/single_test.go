package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/client"
	"sluice/openapi/wire"
)

const singlePath = "/tm/realtime/event/transaction/v3"

// A single transaction can be read as soon as it is acknowledged, as it was sent, and it needs no batch feature.
func TestSingleTransaction(t *testing.T) {
	s := begin(t)
	l := validLine()
	receipt, err := s.client.SendTransaction(t.Context(), []byte(l.String()), client.SendOptions{})
	require(t, err == nil && receipt.TransactionExternalID == l.transactionID() &&
		receipt.ModificationExternalID == l.modificationID() && receipt.RequestUUID == l["request_uuid"] &&
		receipt.PaymentExternalID == l["payment_external_id"], "got %+v, %v; want the IDs of %s", receipt, err, l)
	tenant := uuid.MustParse(s.tenantID)
	guid := uuid.NewSHA1(uuid.NewSHA1(tenant, []byte(l.transactionID())), []byte(l.modificationID())).String()
	assert(t, receipt.ModificationGUID == guid, "modification_guid is %s, want %s", receipt.ModificationGUID, guid)
	s.expectStored(l, "", 0)
	before, err := s.client.Transaction(t.Context(), l.transactionID())
	must(t, err)
	again, err := s.client.SendTransaction(t.Context(), []byte(l.String()), client.SendOptions{})
	after, readErr := s.client.Transaction(t.Context(), l.transactionID())
	if err != nil || readErr != nil || string(again.Reply) != string(receipt.Reply) ||
		!after.Modifications[0].ReceivedAt.Equal(before.Modifications[0].ReceivedAt) {
		t.Errorf("sent again: %s, %v, %v, received at %v; want %s, received at %v", again.Reply, err, readErr,
			after.Modifications[0].ReceivedAt, receipt.Reply, before.Modifications[0].ReceivedAt)
	}
	l.withModification("amount", 99.5)
	ok(s.client.SendTransaction(t.Context(), []byte(l.String()), client.SendOptions{}))(t)
	s.expectStored(l, "", 0)
}

// A client that may send single transactions needs no batch feature.
func TestSingleTransactionWithoutBatches(t *testing.T) {
	t.Parallel()
	writer := loginNewTenant(t, "--permission", "TransactionWrite") // which has no entities
	writer.expect(http.StatusBadRequest, http.MethodPost, singlePath, validLine().String(), "entity_not_found")
}

// A modification that is sent singly and in a batch ends as the receipt times say, whatever is stored last.
func TestSingleAndBatchRace(t *testing.T) {
	s := begin(t)
	const modifications = 40
	lines := validLines(modifications)
	for _, l := range lines {
		l.with("description", "batch")
	}
	batchID := s.startBatch(true, jsonLines(lines...))
	done := make(chan struct{})
	newest := make([]time.Time, modifications)
	var wg sync.WaitGroup
	var sent atomic.Int64
	for worker := range 4 {
		wg.Go(func() {
			for round := 0; ; round++ {
				for i := worker; i < modifications; i += 4 {
					if newest[i] = s.resend(lines[i], round, newest[i]); newest[i].IsZero() {
						return
					}
					sent.Add(1)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	last, _ := s.follow(batchID)
	close(done)
	wg.Wait()
	require(t, last.Status == client.StatusProcessed, "the batch ended with %s %q", last.Status, last.ErrorMessage)
	for _, l := range lines {
		got, err := s.client.Transaction(t.Context(), l.transactionID())
		require(t, err == nil && len(got.Modifications) == 1, "%+v, %v", got, err)
		// Each was sent singly after the upload was complete.
		m := got.Modifications[0]
		assert(t, m.BatchID == nil && m.ReceivedAt.After(*last.ReceivedAt) && strings.Contains(string(m.Transaction),
			`"single `), "%s comes from batch %q, received at %v; want the single one, after %v", l.modificationID(),
			wire.OrZero(m.BatchID), m.ReceivedAt, last.ReceivedAt)
	}
	// A batch that is received later wins again.
	for _, l := range lines {
		l.with("description", "later batch")
	}
	later := s.startBatch(true, jsonLines(lines...))
	s.expectEnd(client.StatusProcessed, later)
	for i, l := range lines {
		s.expectStored(l, later, int64(i+1))
	}
	t.Logf("%d single transactions raced with the batch", sent.Load())
}

// resend sends a line singly, with a description of its own, and reads it back. It returns when what is read was
// received, which must not be before an earlier time, or zero after an error.
func (s *session) resend(original line, round int, earlier time.Time) time.Time {
	l := maps.Clone(original).with("description", fmt.Sprint("single ", round))
	if _, err := s.client.SendTransaction(s.t.Context(), []byte(l.String()), client.SendOptions{}); err != nil {
		s.t.Error(err)
		return time.Time{}
	}
	got, err := s.client.Transaction(s.t.Context(), l.transactionID())
	if err != nil || len(got.Modifications) != 1 {
		s.t.Errorf("after a single one: %+v, %v", got, err)
		return time.Time{}
	}
	received := got.Modifications[0].ReceivedAt
	assert(s.t, !received.Before(earlier), "%s was received at %v, and then at %v", l.modificationID(), earlier,
		received)
	return received
}

// The command sends each line, reports what is refused, and says how many were stored.
func TestSendCommand(t *testing.T) {
	s := begin(t)
	good, bad := validLine(), validLine().with("payment_type", "x")
	file := writeFile(t, "lines.jsonl", jsonLines(good, bad))
	stdout, stderr, code := s.command("send", file)
	assert(t, code == 1 && strings.Contains(stdout, "line 2: ") && strings.Contains(stdout, "(type=enum)") &&
		strings.Contains(stdout, "1 transaction stored, 1 refused"), "exit %d\n%s%s", code, stdout, stderr)
	s.expectStored(good, "", 0)
	pretty := validLine()
	var text bytes.Buffer
	must(t, json.Indent(&text, []byte(pretty.String()), "", "  "))
	stdout, stderr, code = s.command("send", "--json", writeFile(t, "pretty.json", text.Bytes()))
	var receipt client.Receipt
	assert(t, code == 0 && json.Unmarshal([]byte(stdout), &receipt) == nil &&
		receipt.TransactionExternalID == pretty.transactionID(), "exit %d\n%s%s", code, stdout, stderr)
}

var rateDuration = flag.Duration("rate", 200*time.Millisecond, "how long TestRates calls each operation")

// TestRates checks that many requests at once are all answered, and logs how many single transactions a second are
// stored, beside the rate of the status call, which does as little as an operation can: a token, one read. It does not
// run beside other tests. Rates to compare need a longer time: go test ./e2e -run TestRates -v -rate 10s
func TestRates(t *testing.T) {
	skipWithout(t, manyRequests)
	onboardEntities(t, environment)
	s := login(t, environment)
	batchID := s.newUpload(true).BatchID
	template := validLine().with("transaction_external_id", "TRANSACTION").
		withModification("external_id", "MODIFICATION").String()
	status := s.rate(http.StatusAccepted, func() *http.Request {
		return s.newRequest(http.MethodGet, transactionsPath+"batch/status/"+batchID, "")
	})
	single := s.rate(http.StatusCreated, func() *http.Request {
		body := strings.NewReplacer("TRANSACTION", uuid.NewString(), "MODIFICATION", uuid.NewString()).Replace(template)
		return s.newRequest(http.MethodPost, singlePath, body)
	})
	t.Logf("%.0f status calls a second, %.0f single transactions a second", status, single)
}

// rate floods the service for a while and returns how many requests were answered each second, all with a status.
func (s *session) rate(want int, newRequest func() *http.Request) float64 {
	s.t.Helper()
	start := time.Now()
	statuses := s.flood(16, func() bool { return time.Since(start) < *rateDuration }, newRequest)
	took := time.Since(start).Seconds()
	n := statuses[want]
	delete(statuses, want)
	delete(statuses, 0)
	assert(s.t, n > 0 && len(statuses) == 0, "got %d of %d and %v, want no other", n, want, statuses)
	return float64(n) / took
}

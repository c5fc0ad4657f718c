package e2e

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/client"
)

// flood sends requests of several clients at once as long as there are more, without comparing the replies with the
// description of the interface, which takes longer than the call, and counts the answers by their status. Answers to
// requests whose limit was not checked, because the machine was too slow, are counted under their status and under 0.
func (s *session) flood(clients int, more func() bool, newRequest func() *http.Request) map[int]int {
	s.t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	defer transport.CloseIdleConnections()
	var mu sync.Mutex
	statuses := map[int]int{}
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for more() {
				resp, err := transport.RoundTrip(newRequest())
				if err != nil {
					s.t.Error(err)
					return
				}
				_, err = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				assert(s.t, err == nil, "reading a reply: %v", err)
				mu.Lock()
				if statuses[resp.StatusCode]++; resp.Header.Get("X-Rate-Limit-Remaining") == "" {
					statuses[0]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return statuses
}

// A tenant that floods the service stays within its limit, whatever it sends, and others are answered as before.
func TestFloodingTenant(t *testing.T) {
	t.Parallel()
	skipWithout(t, manyRequests)
	flooding := loginLimitedTenant(t, environment, "batch_statuses_per_minute=12")
	other := loginLimitedTenant(t, environment)
	path := transactionsPath + "batch/status/" + uuid.NewString()
	begun := time.Now()
	var sent atomic.Int64
	statuses := flooding.flood(8, func() bool { return sent.Add(1) <= 120 },
		func() *http.Request { return flooding.newRequest(http.MethodGet, path, "") })
	answered, gained := statuses[http.StatusNotFound], int(time.Since(begun)/(5*time.Second))
	allowed := answered - statuses[0] // of those whose limit was checked
	assert(t, answered >= 12 && allowed <= 12+gained+1 && statuses[http.StatusTooManyRequests] == 120-answered,
		"the answers are %v, want 12 of 404, one more for each 5 s, and else 429", statuses)
	r := flooding.call(http.MethodGet, path, "")
	after, err := strconv.Atoi(r.header.Get("Retry-After"))
	assert(t, r.status != http.StatusTooManyRequests || err == nil && after >= 1 && after <= 5,
		"got %d %s with Retry-After %q, want 1 to 5 s", r.status, r.text, r.header.Get("Retry-After"))
	for range 5 {
		r := other.expect(http.StatusNotFound, http.MethodGet, path, "")
		assert(t, r.header.Get("X-Rate-Limit-Remaining") != "0", "another tenant has nothing left: %v", r.header)
	}
	flooding.setTenant("batch_statuses_per_minute=none") // limits change at once
	flooding.expect(http.StatusNotFound, http.MethodGet, path, "")
}

// Every limited endpoint says what is left, whatever it answers.
func TestLimitedEndpoints(t *testing.T) {
	t.Parallel()
	s := loginLimitedTenant(t, environment)
	id := uuid.NewString()
	for _, test := range []struct {
		limit        int
		method, path string
	}{
		{120, "GET", transactionsPath + "batch/status/" + id},
		{120, "GET", transactionsPath + "batch/validation-result/" + id},
		{120, "GET", transactionsPath + "batch/screening-result/" + id},
		{120, "GET", transactionsPath + "batch/receipt/" + id},
		{60, "GET", transactionsPath + "batch"},
		{60, "POST", transactionsPath + "batch/cancel/" + id},
		{300, "GET", transactionsPath + "batch/upload-parts/" + id},
		{300, "POST", transactionsPath + "batch/upload-url/" + id},
		{100, "GET", "/tm/observability/api/v1/batch-transactions/batches?ids=" + id},
		{500, "POST", singlePath},
		{200, "POST", entityCommand},
		{200, "PUT", entityCommand + "/" + id + "/draft/" + id + "/verify"},
		{200, "GET", entityQuery + "/entity/" + id},
		{200, "GET", documentQueries + "/" + id},
		{200, "GET", "/externalauthenticationquery/api/configuration/getAll"},
		{200, "POST", "/externalauthenticationquery/api/configuration/check"},
		{200, "POST", "/screeningreceptor/api/receptor"},
		{200, "GET", "/screeningquery/api/v4/batch/" + id},
		{200, "GET", "/screeningquery/api/v4/configuration"},
		{200, "POST", providersPath + "/" + id + "/test"},
		{200, "POST", "/screeningquery/api/v4/match-name"},
		{200, "GET", "/policyquery/api/v4/policies/" + id},
		{200, "POST", "/policyquery/api/v4/policies/" + id + "/version/1/fields/evaluate"},
		{200, "GET", "/v1/webhooks"},
		{10, "POST", "/v1/webhooks/" + id + "/test"},
		{50, "GET", transactionsPath + id},
		{50, "GET", findPath + "?id=" + id},
	} {
		// On a machine that is too slow, limits are not checked for some seconds.
		eventually(t, "rate headers of "+test.method+" "+test.path, func() bool {
			r := s.call(test.method, test.path, "")
			remaining := r.header.Get("X-Rate-Limit-Remaining")
			if remaining == "" {
				return false
			}
			n, err := strconv.Atoi(remaining)
			assert(t, err == nil && n < test.limit && n >= test.limit-50 && r.header.Get("X-Rate-Limit-Reset") != "",
				"%s: %d with %v, want less than %d remaining", r.request, r.status, r.header, test.limit)
			return true
		})
	}
}

// A tenant that has as much open as it may have gets another upload URL when something of it has ended.
func TestOpenBatchesAreLimited(t *testing.T) {
	t.Parallel()
	s := loginLimitedTenant(t, environment, "open_batches=1")
	s.enableBatches()
	u := s.newUpload(true)
	r := s.expect(http.StatusTooManyRequests, http.MethodPost, uploadPath, "", "Cancel one")
	assert(t, r.header.Get("Retry-After") != "", "a second batch: got %v, want Retry-After", r.header)
	put(t, u, jsonLines(validLine()))
	s.follow(u.BatchID)
	eventually(t, "an upload URL after the end of the batch", func() bool {
		return s.call(http.MethodPost, uploadPath, "").is(http.StatusOK)
	})
}

// Files and answers that are expected count for their tenant until they are there, or given up.
func TestOpenFilesAreLimited(t *testing.T) {
	t.Parallel()
	s := loginLimitedTenant(t, environment, "open_documents=1", "open_answers=1")
	body := `{"data":{"fileName":"a.pdf","entityId":"` + uuid.NewString() + `","contentLength":7}}`
	var d createdDocument
	s.mustCall(http.MethodPost, documentCommands, body, &d)
	eventually(t, "the refusal of a second document", func() bool {
		r := s.call(http.MethodPost, documentCommands, body)
		return r.is(http.StatusTooManyRequests) && r.header.Get("Retry-After") != "" &&
			strings.Contains(string(r.text), "too_many_open_documents")
	})
	e := uuid.NewString()
	evidence := screeningCommands + "/batch/" + s.newScreening(uuid.NewString(), e) + "/entity/" + e +
		"/documents/upload-url"
	r := s.call(http.MethodPost, evidence,
		inEnvelope(`{"fileName":"a.pdf","documentType":"evidence","idempotencyKey":"k"}`))
	assert(t, r.is(http.StatusTooManyRequests) && strings.Contains(string(r.text), "too_many_open_documents"),
		"a document of a screening: %d %s, want 429 too_many_open_documents", r.status, r.text)
	const answers = "/screeningreceptor/api/receptor/upload-url"
	s.expect(http.StatusAccepted, http.MethodPost, answers, "")
	eventually(t, "the refusal of a second answer", func() bool {
		return strings.Contains(string(s.call(http.MethodPost, answers, "").text), "too_many_open_answers")
	})
	s.deleteDocument(d.ID)
	eventually(t, "a document after the end of the first one", func() bool {
		return s.call(http.MethodPost, documentCommands, body).is(http.StatusAccepted)
	})
}

// With three executions at a time in the account and six write units a second in each table, everything takes its time
// and everything ends: batches, their announcements, and deliveries to webhooks.
func TestEverythingEndsAtTheLimits(t *testing.T) {
	t.Parallel()
	cloud := newCloud(t, "--limit", "concurrency=3", "--limit", "writes=*:6", "--set", "ChunkBytes=4096",
		"--set", "WebhookFirstPause=1", "--set", "WebhookCollectTime=1")
	onboardEntities(t, cloud)
	api := login(t, cloud)
	receiver := api.newReceiver()
	api.newWebhook(receiver.URL, client.WebhookSettings{})
	want := map[string]string{api.startBatch(true, []byte("nonsense\n")): "VALIDATION_FAILED"}
	for range 2 {
		want[api.startBatch(true, jsonLines(validLines(12)...))] = "PROCESSED"
	}
	for id, status := range want {
		last, _ := api.follow(id)
		if last.Status != status {
			t.Errorf("batch %s ended with %s (%q), want %s", id, last.Status, last.ErrorMessage, status)
			continue
		}
		eventually(t, "the announcement of batch "+id, func() bool {
			events, err := cloud.busEvents()
			return err == nil && len(events[id]) > 0
		})
		assert(t, status != "PROCESSED" || hasStored(last.Counts, 12),
			"batch %s has the counts %+v, want 12 lines stored", id, last.Counts)
		eventually(t, "the delivery of the end of batch "+id, func() bool {
			for _, r := range receiver.requests() {
				if bytes.Contains(r.body, []byte(id)) {
					return true
				}
			}
			return false
		})
	}
	log := ok(os.ReadFile(filepath.Join(cloud.Data, "logs", "functions.log")))(t)
	for what, text := range map[string]string{
		"function": `"platform.throttled","reason":"ConcurrentInvocationLimitExceeded"`,
		"table":    `"platform.throttled","operation":"`,
	} {
		assert(t, strings.Contains(string(log), text), "no %s was throttled: the limits are too wide for this test",
			what)
	}
}

// hasStored reports whether counts say that n lines are stored.
func hasStored(c client.Counts, n int64) bool { return c.Ingested != nil && *c.Ingested == n }

// setTenant changes settings of the session's tenant.
func (s *session) setTenant(settings ...string) {
	s.t.Helper()
	must(s.t, s.environment.admin(nil, append([]string{"tenant", "set", s.tenantID}, settings...)...))
}

// A tenant's limit of created_at counts for the batches that are created after it was set.
func TestTenantSettingsOfLines(t *testing.T) {
	api := beginBatchTenant(t)
	old := validLine().with("created_at", time.Now().AddDate(-1, 0, 0).UTC().Format(time.RFC3339))
	expect := func(want bool) {
		t.Helper()
		last := api.process(true, jsonLines(old))
		if last.Status != "VALIDATION_FAILED" { // the tenant has no entities
			t.Fatalf("the batch ended with %s, want VALIDATION_FAILED", last.Status)
		}
		found := false
		for _, l := range api.report(last.BatchID) {
			found = found || hasCode(l, "created_at_out_of_range")
		}
		assert(t, found == want, "created_at_out_of_range found: %t, want %t", found, want)
	}
	expect(false)
	api.setTenant("max_past_days=30")
	expect(true)
	api.setTenant("max_past_days=0")
	expect(false)
}

// With four_eyes, a client does not approve its own work; another client of the tenant does.
func TestFourEyes(t *testing.T) {
	maker := beginTenant(t)
	checker := loginAs(t, environment, newClient(t, environment, maker.tenantID))
	maker.setTenant("four_eyes=true")
	id := maker.newEntity("")
	verify := entityCommand + "/" + id + "/draft/" + maker.newDraft(id, uuid.NewString()) + "/verify"
	maker.expect(403, "PUT", verify, `{"data":{"version":1}}`)
	checker.expect(202, "PUT", verify, `{"data":{"version":1}}`)
	policy := maker.newPolicy("w")
	maker.addField(policy, "w", policyField("f", ""))
	publish := policyCommands + "/" + policy + "/publish?workspaceId=w"
	maker.expectProblem(403, "four_eyes", "PUT", publish, "")
	checker.expect(202, "PUT", publish, "")
}

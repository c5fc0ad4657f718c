package e2e

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
)

// loginLimitedTenant opens a session of a new tenant with the default limits, but for settings.
func loginLimitedTenant(t *testing.T, settings ...string) *session {
	t.Helper()
	args := []string{"tenant", "create"}
	for _, setting := range settings {
		args = append(args, "--set", setting)
	}
	var tenant struct {
		ID string `json:"tenant_id"`
	}
	must(t, environment.admin(&tenant, args...))
	return loginAs(t, environment, newClient(t, environment, tenant.ID))
}

// flood sends requests of several clients at once, without comparing the replies with the description of the interface,
// and counts the answers by their status. Answers to requests whose limit was not checked, because the machine was too
// slow, are counted under 0.
func (s *session) flood(requests int, newRequest func() *http.Request) map[int]int {
	s.t.Helper()
	const clients = 8
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	defer transport.CloseIdleConnections()
	var mu sync.Mutex
	statuses := map[int]int{}
	var sent atomic.Int64
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for sent.Add(1) <= int64(requests) {
				resp, err := transport.RoundTrip(newRequest())
				if err != nil {
					s.t.Error(err)
					return
				}
				resp.Body.Close()
				status := resp.StatusCode
				if resp.Header.Get("X-Rate-Limit-Remaining") == "" {
					status = 0
				}
				mu.Lock()
				statuses[status]++
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
	flooding, other := loginLimitedTenant(t, "batch_statuses_per_minute=12"), loginLimitedTenant(t)
	path := transactionsPath + "batch/status/" + uuid.NewString()
	begun := time.Now()
	statuses := flooding.flood(120, func() *http.Request { return flooding.newRequest(http.MethodGet, path, "") })
	allowed, gained := statuses[http.StatusNotFound], int(time.Since(begun)/(5*time.Second))
	assert(t, allowed+statuses[0] >= 12 && allowed <= 12+gained+1 &&
		statuses[http.StatusTooManyRequests] == 120-allowed-statuses[0],
		"the answers are %v, want 12 of 404, one more for each 5 s, and else 429", statuses)
	r := flooding.call(http.MethodGet, path, "")
	if after, err := strconv.Atoi(r.header.Get("Retry-After")); r.status == http.StatusTooManyRequests &&
		(err != nil || after < 1 || after > 5) {
		t.Errorf("got %d %s with Retry-After %q, want 1 to 5 s", r.status, r.text, r.header.Get("Retry-After"))
	}
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
	s := loginLimitedTenant(t)
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
		{200, "POST", "/screeningquery/api/v4/match-name"},
		{200, "GET", "/policyquery/api/v4/policies/" + id},
		{200, "POST", "/policyquery/api/v4/policies/" + id + "/version/1/fields/evaluate"},
		{200, "GET", "/v1/webhooks"},
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
	s := loginLimitedTenant(t, "open_batches=1")
	s.enableBatches()
	u := s.newUpload(true)
	r := s.expect(http.StatusTooManyRequests, http.MethodPost, uploadPath, "", "Wait until one has ended")
	assert(t, r.header.Get("Retry-After") != "", "a second batch: got %v, want Retry-After", r.header)
	put(t, u, jsonLines(validLine()))
	s.follow(u.BatchID)
	eventually(t, "an upload URL after the end of the batch", func() bool {
		return s.call(http.MethodPost, uploadPath, "").is(http.StatusOK)
	})
}

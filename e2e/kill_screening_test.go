//go:build verify

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/google/uuid"

	"sluice/client"
	"sluice/shared/screening/adapter"
)

// The function that screens names is killed before and after its calls to AWS. The batch ends as it would have ended,
// with the same alerts. A name of 1,000 lines is screened once.
func TestBatchScreeningSurvivesKills(t *testing.T) {
	t.Parallel()
	cloud := newKilling(t, killingCloud.get(t))
	importList(t, cloud.environment, cloud.tenantID, "killing", wantedName)
	run := func(t *testing.T, k killRule, n int) killState {
		t.Helper()
		api := cloud.in(t)
		u := ok(api.client.CreateUploadWith(t.Context(), client.UploadOptions{
			RejectOnInvalid: true, Screening: &client.Screening{Lists: []string{"killing"}}}))(t)
		k.Function, k.Payload = "screennames", u.BatchID
		return api.environment.killed(t, k, func() {
			lines := make([]line, n)
			for i := range lines {
				lines[i] = named(wantedName)
			}
			expectPut(t, 200, u, jsonLines(append(lines, named("Quiet Person"))...))
			last := api.expectEnd("PROCESSED", u.BatchID)
			assert(t, *last.NamesScreened == 2 && *last.Hits == int64(n), "the batch ended with %s", last.Reply)
			alerts, _ := api.readAlerts(u.BatchID)
			for i, text := range bytes.SplitAfter(alerts, []byte("\n"))[:n] {
				var a client.Alert
				if err := json.Unmarshal(text, &a); err != nil || a.Line != int64(i+1) || a.FullName != wantedName {
					t.Fatalf("alert %d is %s, %v", i, text, err)
				}
			}
		})
	}
	if state := run(t, killRule{Call: unharmed}, 1000); state.Calls < 21 {
		t.Fatalf("screennames makes %d calls, want 5 and at least 1 for each partition", state.Calls)
	}
	for _, call := range []int{1, 2, 3, 4, 5, 6, 7, 8, 20, 21} { // which of them are for names depends on their digests
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("call %d after %v", call, after), func(t *testing.T) {
				t.Parallel()
				if state := run(t, killRule{Call: call, After: after}, 3); state.Killed == "" {
					t.Error("nothing was killed")
				}
			})
		}
	}
}

// The functions that search are killed before and after each of their calls to AWS. Every search ends with the same
// matches, each of them once.
func TestScreeningsSurviveKills(t *testing.T) {
	t.Parallel()
	cloud := killingCloud.get(t)
	for function, least := range map[string]int{"search": 6, "conduct": 1} {
		eachKill(t, function, least, func(t *testing.T, k killRule) killState {
			api := loginTenantOf(t, cloud) // searched alone
			api.importWatchlist("own", map[string]string{"1": "Ivan Petrov", "2": "Petrov Ivan"})
			k.Payload = api.tenantID
			return cloud.killed(t, k, func() {
				entity := uuid.NewString()
				batch := api.newScreening("", entity)
				api.expectSearched(batch, "sluice: Search Complete")
				view := callFor[searchedView](api, "GET", screeningQueries+"/batch/"+batch, "")
				matches, n := api.matches(batch, entity), view.Metadata.TotalMatchesForProvider["sluice"]
				assert(t, len(matches) == 2 && n == 2, "%d matches, %d counted, want 2", len(matches), n)
			})
		})
	}
}

// The function that asks a provider is killed before and after each of its calls to AWS. Every answer is recorded once,
// and the execution that waits for it ends.
func TestQuestionsSurviveKills(t *testing.T) {
	t.Parallel()
	cloud := killingCloud.get(t)
	ask := func(t *testing.T, k killRule) killState {
		api := loginTenantOf(t, cloud) // asked alone
		r := api.newReceiver()
		r.answers(answerWith(http.StatusAccepted))
		provider := api.newProvider(r.URL)
		k.Payload = api.tenantID
		return cloud.killed(t, k, func() {
			batch, entity := api.newScreeningBy(provider)
			r.waitFor(t, 1)
			answer := answerOf(t, batch, api.tenantID, provider, entity)
			for range 2 {
				api.mustCall("POST", receptorPath, answer, nil)
			}
			api.expectSearched(batch, provider+": Search Complete")
			cloud.waitForExecution(t, sfntypes.ExecutionStatusSucceeded, "screening", batch)
		})
	}
	ask(t, killRule{Function: "ask", Call: unharmed}) // a process makes some calls for its first request only
	eachKill(t, "ask", 6, ask)
}

// answerOf returns the message of an adapter that has found one entry for an entity.
func answerOf(t *testing.T, batch, tenant, provider, entity string) string {
	t.Helper()
	response := ok(adapter.Encode([]byte(fmt.Sprintf(`{"batchId":%q,"matches":[{"entityId":%q,`+
		`"entityUniqueId":"list:1","matchData":{"providerId":%q,"providerSourceName":"List","name":"Ivan Petrov"}}]}`,
		batch, entity, provider)), false))(t)
	return jsonText(adapter.Reply{ID: batch, Tenant: tenant, ProviderID: provider, Type: adapter.Screen,
		Status: adapter.Success, Response: response})
}

// The deliver function is killed before and after each of its calls to AWS. Every delivery succeeds: once, or twice
// where the receiver has answered and that could not be recorded, which is between two calls. These are not the same in
// each run: it makes more calls while others hold the places of its group.
func TestDeliveriesSurviveKills(t *testing.T) {
	t.Parallel()
	cloud := killingCloud.get(t)
	const mostTwice = 3
	var twice atomic.Int64
	t.Cleanup(func() {
		n := twice.Load()
		assert(t, n <= mostTwice, "%d deliveries were received twice, want at most %d", n, mostTwice)
	})
	eachKill(t, "deliver", 4, func(t *testing.T, k killRule) killState {
		s := loginTenantOf(t, cloud) // a tenant may have few webhooks at a time
		receiver := s.newReceiver()
		w := s.newWebhook(receiver.URL, client.WebhookSettings{})
		k.Payload = w.ID
		var d client.Delivery
		state := cloud.killed(t, k, func() { d = s.testWebhook(w, delivered) })
		received := 0
		for _, r := range receiver.requests() {
			if r.header.Get("x-sluice-delivery") == d.ID {
				received++
			}
		}
		if received == 2 && k.Call != unharmed {
			twice.Add(1)
		} else {
			assert(t, received == 1, "killed at %q, it was received %d times, want once", state.Killed, received)
		}
		return state
	})
}

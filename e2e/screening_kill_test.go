package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/google/uuid"

	"sluice/shared/screening/adapter"
)

// The functions that search are killed before and after each of their calls to AWS. Every search ends with the same
// matches, each of them once.
func TestScreeningsSurviveKills(t *testing.T) {
	t.Parallel()
	cloud := newKillingCloud(t)
	var mu sync.Mutex
	var table []string
	t.Cleanup(func() {
		slices.Sort(table)
		t.Logf("%d kills\n%s", len(table), strings.Join(table, "\n"))
	})
	// search has a batch of a tenant of its own searched, and a function killed meanwhile.
	search := func(t *testing.T, rule killRule) killState {
		t.Helper()
		api := loginTenantOf(t, cloud.Environment)
		api.importWatchlist("own", map[string]string{"1": "Ivan Petrov", "2": "Petrov Ivan"})
		rule.Payload = api.tenantID
		read := cloud.arm(t, rule)
		entity := uuid.NewString()
		batch := api.newScreening("", entity)
		api.expectSearched(batch, "sluice: Search Complete")
		var matches []matchView
		api.mustCall("GET", screeningQueries+"/batch/"+batch+"/entity/"+entity+"/match", "", &matches)
		var view searchedView
		api.mustCall("GET", screeningQueries+"/batch/"+batch, "", &view)
		if n := view.Metadata.TotalMatchesForProvider["sluice"]; len(matches) != 2 || n != 2 {
			t.Errorf("%d matches, %d counted, want 2", len(matches), n)
		}
		return read()
	}
	for _, function := range []string{"search", "conduct"} {
		unharmed := search(t, killRule{Function: function, Call: 1e6})
		if least := map[string]int{"search": 6, "conduct": 1}[function]; unharmed.Calls < least {
			t.Fatalf("%s makes %d calls, want %d or more", function, unharmed.Calls, least)
		}
		for i := range 2 * unharmed.Calls {
			kill := killRule{Function: function, Call: i/2 + 1, After: i%2 == 1}
			t.Run(fmt.Sprintf("%s call %d after %v", function, kill.Call, kill.After), func(t *testing.T) {
				t.Parallel()
				state := search(t, kill)
				if state.Killed == "" {
					t.Error("the function was not killed")
				}
				mu.Lock()
				defer mu.Unlock()
				table = append(table, fmt.Sprintf("%s call %d, after it: %-5v  %s", function, kill.Call, kill.After,
					state.Killed))
			})
		}
	}
}

// The function that asks a provider is killed before and after each of its calls to AWS. Every answer is recorded once,
// and the execution that waits for it ends.
func TestQuestionsSurviveKills(t *testing.T) {
	t.Parallel()
	cloud := newKillingCloud(t)
	// ask has a provider of a tenant of its own asked, and the function killed meanwhile.
	ask := func(t *testing.T, rule killRule) killState {
		t.Helper()
		api := loginTenantOf(t, cloud.Environment)
		r := api.newReceiver()
		r.answers(answerWith(http.StatusAccepted))
		provider := api.newProvider(r.URL)
		rule.Function, rule.Payload = "ask", api.tenantID
		read := cloud.arm(t, rule)
		batch, entity := api.newScreeningBy(provider)
		eventually(t, "the question", func() bool { return len(r.requests()) > 0 })
		answer := answerOf(t, batch, api.tenantID, provider, entity)
		for range 2 {
			api.mustCall("POST", receptorPath, answer, nil)
		}
		api.expectSearched(batch, provider+": Search Complete")
		eventually(t, "the end of the execution", func() bool {
			return cloud.executionStatus(t, "screening", batch) == types.ExecutionStatusSucceeded
		})
		return read()
	}
	// A process makes some calls for its first request only.
	calls := min(ask(t, killRule{Call: 1e6}).Calls, ask(t, killRule{Call: 1e6}).Calls)
	if calls < 6 {
		t.Fatalf("ask makes %d calls, want 6 or more", calls)
	}
	for i := range 2 * calls {
		kill := killRule{Call: i/2 + 1, After: i%2 == 1}
		t.Run(fmt.Sprintf("call %d after %v", kill.Call, kill.After), func(t *testing.T) {
			t.Parallel()
			if state := ask(t, kill); state.Killed == "" {
				t.Errorf("the function was not killed")
			}
		})
	}
}

// answerOf returns the message of an adapter that has found one entry for an entity.
func answerOf(t *testing.T, batch, tenant, provider, entity string) string {
	t.Helper()
	text := fmt.Sprintf(`{"batchId":%q,"matches":[{"entityId":%q,"entityUniqueId":"list:1",`+
		`"matchData":{"providerId":%q,"providerSourceName":"List","name":"Ivan Petrov"}}]}`, batch, entity, provider)
	response := ok(adapter.Encode([]byte(text), false))(t)
	return fmt.Sprintf(`{"id":%q,"tenant":%q,"providerId":%q,"type":"Screen","status":"Success","response":%q}`, batch,
		tenant, provider, response)
}

package e2e

import (
	"flag"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
)

var rateDuration = flag.Duration("rate", 200*time.Millisecond, "how long TestRates calls each operation")

// TestRates checks that many requests at once are all answered, and logs how many single transactions a second are
// stored, beside the rate of the status call, which does as little as an operation can: a token, one read. It does not
// run beside other tests. Rates to compare need a longer time: go test ./e2e -run TestRates -v -rate 10s
func TestRates(t *testing.T) {
	skipWithout(t, manyRequests)
	onboardEntities(t, environment)
	s := login(t, environment)
	batchID := s.newUpload(true).BatchID
	template := validLine().with("transaction_external_id", "TRANSACTION").withModification("external_id",
		"MODIFICATION").
		String()
	status := s.rate(http.StatusAccepted, func() *http.Request {
		return s.newRequest(http.MethodGet, transactionsPath+"batch/status/"+batchID, "")
	})
	single := s.rate(http.StatusCreated, func() *http.Request {
		body := strings.NewReplacer("TRANSACTION", uuid.NewString(), "MODIFICATION", uuid.NewString()).Replace(template)
		return s.newRequest(http.MethodPost, singlePath, body)
	})
	t.Logf("%.0f status calls a second, %.0f single transactions a second", status, single)
}

// rate sends requests for a while from several clients at once and returns how many were answered each second, all of
// them with the wanted status. The replies are not compared with the description of the interface, which takes longer
// than the call.
func (s *session) rate(want int, newRequest func() *http.Request) float64 {
	s.t.Helper()
	const clients = 16
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	defer transport.CloseIdleConnections()
	var answered atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range clients {
		wg.Go(func() {
			for time.Since(start) < *rateDuration {
				resp, err := transport.RoundTrip(newRequest())
				if err != nil {
					s.t.Error(err)
					return
				}
				text, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != want {
					s.t.Errorf("got %d %s, %v; want %d", resp.StatusCode, text, err, want)
					return
				}
				answered.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(answered.Load()) / time.Since(start).Seconds()
}

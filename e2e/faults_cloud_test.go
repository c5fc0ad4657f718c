//go:build verify

package e2e

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"sluice/client"
	"sluice/shared/kit/errtest"
)

// faultCloud is a local cloud whose functions are struck by plans of faults, with tenants that are ready for batches.
type faultCloud struct {
	*Environment
	receiver *receiver
	options  []string
	// tenants are the cloud's own one and another one.
	tenants []clientCredentials
	// list is the file of the watchlist that all tenants have.
	list string
	// mu is held while the cloud restarts.
	mu sync.RWMutex
	// clients are those of the tenants, which a restart may replace. All of them send their requests through transport.
	clients   []*client.Client
	transport impatientTransport
	records   []faultRecord
	// plans are followed again after a restart.
	plans sync.Map
}

func newFaultCloud(t *testing.T, options []string) *faultCloud {
	t.Helper()
	e, err := startUncheckedCloud(t.TempDir(), options...)
	must(t, err)
	e.Name, e.killsFunctions = "local", true
	c := &faultCloud{Environment: e, options: options}
	t.Cleanup(func() {
		errtest.Is(t, "stop", c.stop(), nil)
	})
	onboardEntities(t, e)
	other := loginLimitedTenant(t, e)
	other.enableBatches()
	other.onboardParties()
	c.tenants = []clientCredentials{{e.TenantID, e.ClientID, e.ClientSecret}, other.clientCredentials}
	for _, tenant := range c.tenants {
		c.list = importList(t, e, tenant.TenantID, "faults", wantedName)
		// As many batches as a round has, and those that replace them.
		must(t, e.admin(nil, "tenant", "set", tenant.TenantID, "upload_urls_per_minute=10000"))
	}
	c.connect(t)
	api := login(t, e)
	c.receiver = api.newReceiver()
	api.newWebhook(c.receiver.URL, client.WebhookSettings{})
	return c
}

// connect makes the clients of the tenants.
func (c *faultCloud) connect(t *testing.T) {
	t.Helper()
	c.clients = nil
	for i := range c.tenants {
		c.clients = append(c.clients, c.newClient(t, i))
	}
}

// newClient makes a client of a tenant, which has no token yet.
func (c *faultCloud) newClient(t *testing.T, tenant int) *client.Client {
	t.Helper()
	of := c.tenants[tenant]
	api := ok(client.New(client.Config{
		APIURL: c.APIURL, TokenURL: c.TokenURL, ClientID: of.ClientID, ClientSecret: of.ClientSecret,
		Scope: "tenant/" + of.TenantID, HTTP: &http.Client{Transport: &c.transport},
	}))(t)
	return api
}

// renewToken makes the next call for a tenant ask for a new token, so that the faults of that are met, too.
func (c *faultCloud) renewToken(t *testing.T, tenant int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clients[tenant] = c.newClient(t, tenant)
}

// impatientTransport sends requests for clients that give up a request with an idempotency key when they are told for
// the third time that it is still being carried out. If that was killed, they would wait for half a minute until it
// would have ended; killRepeatedRequests tests that they do. It is safe for concurrent use.
type impatientTransport struct {
	mu sync.Mutex
	// waits counts the answers that ask to wait, by key.
	waits map[string]int
}

// RoundTrip takes from the third such answer what asks to wait, so that a client takes it for a final one.
func (i *impatientTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && resp.StatusCode == http.StatusConflict && i.isEnough(r.Header.Get("Idempotency-Key")) {
		resp.Header.Del("Retry-After")
	}
	return resp, err
}

func (i *impatientTransport) isEnough(key string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.waits == nil {
		i.waits = map[string]int{}
	}
	i.waits[key]++
	return i.waits[key] > 2
}

// persist repeats a call of the API while it fails for reasons that pass: a fault, the cloud's restart, or a request
// with the same key that was killed. A call that takes a key makes a new one each time.
func (c *faultCloud) persist(ctx context.Context, tenant int, call func(api *client.Client) error) error {
	for end := time.Now().Add(patience); ; {
		c.mu.RLock()
		api := c.clients[tenant]
		c.mu.RUnlock()
		err := call(api)
		var refused *client.Error
		isFinal := errors.As(err, &refused) && refused.Status < 500 &&
			refused.Status != http.StatusTooManyRequests && refused.Status != http.StatusConflict
		if err == nil || isFinal || time.Now().After(end) || ctx.Err() != nil {
			return err
		}
	}
}

// sweepOnce sweeps as the schedule does. The sweep may fail, as what it calls is struck.
func (c *faultCloud) sweepOnce(t *testing.T) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	c.invoke(t, "scan", scheduledEvent, false)
}

// restartOf returns by which signal the cloud is ended in the middle of a round, 0 for a round without a restart.
func restartOf(first uint64) syscall.Signal {
	return []syscall.Signal{syscall.SIGKILL, 0, syscall.SIGTERM}[(first-1)/seedsPerRound%3]
}

// restartAsPlanned restarts the cloud when a number of faults have struck in a round, if its seed says so.
func (c *faultCloud) restartAsPlanned(t *testing.T, first uint64) {
	signal, before := restartOf(first), len(c.records)
	if signal == 0 {
		return
	}
	const struck = 60
	for end := time.Now().Add(faultBound / 2); time.Now().Before(end) && t.Context().Err() == nil; {
		records, err := c.faultRecords()
		if err == nil && len(records) >= before+struck {
			c.restart(t, signal)
			return
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
	t.Logf("fewer than %d faults: the cloud was not restarted", struck)
}

// restart ends the cloud by a signal and starts it again on the same data.
func (c *faultCloud) restart(t *testing.T, signal syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.cloud.Process.Signal(signal); err != nil {
		t.Error(err)
		return
	}
	<-c.cloud.exited
	e, err := startUncheckedCloud(c.Data, c.options...)
	if err != nil {
		t.Error(err)
		return
	}
	c.Descriptor, c.cloud = e.Descriptor, e.cloud
	c.connect(t)
	var plans []faultPlan
	c.plans.Range(func(_, p any) bool {
		plans = append(plans, p.(faultPlan))
		return true
	})
	errtest.Fatal(t, c.callFaults("Follow", map[string]any{"plans": plans}, nil))
	t.Logf("the local cloud was ended by %v and started again", signal)
}

package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/client"
	"sluice/shared/dynamo"
)

// docs/faults.md describes what follows.

var (
	faultSeed  = flag.Uint64("fault-seed", 1, "the first seed of faults that TestFaults follows")
	faultSeeds = flag.Int("fault-seeds", 20, "how many seeds of faults TestFaults follows")
)

// seedsPerRound is how many seeds run at once on one local cloud. A round begins at each seed that is 1 more than a
// multiple of it, so that the seeds of a restart are the same in every run.
const seedsPerRound = 20

// faultOptions are those of the local clouds of TestFaults: small chunks, so that small files have several, short
// pauses, and as many tokens as clients ask for that are struck and ask again.
var faultOptions = []string{
	"--kill", "none", "--pace", "0.03", "--set", "RetryMaxPause=60", "--set", "SweepAge=1", "--set", "ChunkBytes=6144",
	"--set", "WebhookFirstPause=1", "--set", "WebhookCollectTime=1", "--set", "TokenRequests=10000",
	"--set", fmt.Sprintf("MaxTransactions=%d", maxFaultTransactions),
}

// Batches of all kinds come to the end that their files ask for, whatever goes wrong on the way.
func TestFaults(t *testing.T) {
	t.Parallel()
	requires(t, otherSettings)
	clouds := map[string]*faultCloud{}
	var s faultSummary
	begun := time.Now()
	for seed, last := *faultSeed, *faultSeed+uint64(*faultSeeds)-1; seed <= last && !t.Failed(); {
		end := min(seed+seedsPerRound-1-(seed-1)%seedsPerRound, last)
		scan := scannerOf(seed)
		if clouds[scan] == nil {
			clouds[scan] = newFaultCloud(t, append(slices.Clone(faultOptions), "--set", "MalwareScan="+scan))
		}
		clouds[scan].round(t, seed, end, &s)
		seed = end + 1
	}
	var records []faultRecord
	for _, c := range clouds {
		records = append(records, c.records...)
	}
	t.Log(s.table(records, *faultSeeds, time.Since(begun)))
}

// scannerOf returns what scans the uploads of a round: the function itself, or in some rounds GuardDuty, whose results
// are events. In the first of them nothing restarts; in the second one the cloud is killed, and its GuardDuty forgets
// what it has not scanned: the sweep asks for it again.
func scannerOf(seed uint64) string {
	if (seed-1)/seedsPerRound%5 == 1 {
		return "guardduty"
	}
	return "builtin"
}

// faultCloud is a local cloud whose functions are struck by plans of faults, with tenants that are ready for batches.
type faultCloud struct {
	killing
	options []string
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
	plans faultPlans
}

func newFaultCloud(t *testing.T, options []string) *faultCloud {
	t.Helper()
	e, err := startUncheckedCloud(t.TempDir(), options...)
	if err != nil {
		t.Fatal(err)
	}
	e.Name, e.killsFunctions = "local", true
	c := &faultCloud{killing: killing{Environment: e}, options: options}
	t.Cleanup(func() {
		if err := c.stop(); err != nil {
			t.Error(err)
		}
	})
	onboardEntities(t, e)
	var other struct {
		ID string `json:"tenant_id"`
	}
	var out any
	if err := errors.Join(e.admin(&other, "tenant", "create"),
		e.admin(&out, "tenant", "enable-batch", other.ID)); err != nil {
		t.Fatal(err)
	}
	c.tenants = []clientCredentials{{e.TenantID, e.ClientID, e.ClientSecret}, newClient(t, e, other.ID)}
	mine := e.TenantID
	e.TenantID = other.ID // that of the next import
	err = e.importEntities(`{"id":"`+senderID+`","lifecycleStatus":"Compliant"}`,
		`{"id":"`+receiverID+`","lifecycleStatus":"Compliant"}`)
	e.TenantID = mine
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range c.tenants {
		c.list = importList(t, e, tenant.TenantID, "faults", wantedName)
		// As many batches as a round has, and those that replace them.
		if err := e.admin(&out, "tenant", "set", tenant.TenantID, "upload_urls_per_minute=10000"); err != nil {
			t.Fatal(err)
		}
	}
	c.connect(t)
	api := login(t, e)
	c.receiver = api.newReceiver()
	api.newWebhook(c.receiver.URL, "")
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
	api, err := client.New(client.Config{
		APIURL: c.APIURL, TokenURL: c.TokenURL, ClientID: of.ClientID, ClientSecret: of.ClientSecret,
		Scope: "tenant/" + of.TenantID, HTTP: &http.Client{Transport: &c.transport},
	})
	if err != nil {
		t.Fatal(err)
	}
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

// round runs the batches of the seeds from first to last at once and checks what has become of them.
func (c *faultCloud) round(t *testing.T, first, last uint64, s *faultSummary) {
	t.Helper()
	var batches []*faultBatch
	for seed := first; seed <= last; seed++ {
		batches = append(batches, newFaultBatches(seed, len(c.tenants))...)
	}
	var plans []faultPlan
	for _, tenant := range c.tenants {
		plans = append(plans, faultPlan{Seed: first, Name: "clients of " + tenant.TenantID, Match: tenant.ClientID,
			Clients: true, OneIn: 12, EventsOneIn: 1})
	}
	c.follow(t, plans)
	restarts := make(chan struct{})
	go func() {
		defer close(restarts)
		c.restartAsPlanned(t, first)
	}()
	eachAtOnce(8, batches, func(b *faultBatch) { c.begin(t, b) })
	c.waitForEnds(t, batches)
	<-restarts
	c.waitForSlots(t)
	for _, p := range plans {
		c.forget(t, p)
	}
	var err error
	if c.records, err = c.faultRecords(); err != nil {
		t.Fatal(err)
	}
	events, err := c.busEvents()
	if err != nil {
		t.Fatal(err)
	}
	eachAtOnce(8, batches, func(b *faultBatch) {
		problems := c.check(t, b, events[b.id])
		s.add(b)
		if b.last.Status == "ERROR" {
			t.Logf("%s ended with ERROR (%q). Its faults:\n%s", b, b.last.ErrorMessage,
				listRecords(recordsOf(c.records, b)))
		}
		if len(problems) > 0 {
			t.Errorf("%s, batch %s, ended with %s (%q): %v\nReplay it by: make test-faults %s\nIts faults:\n%s",
				b, b.id, b.last.Status, b.last.ErrorMessage, errors.Join(problems...), replayOf(b.seed, first, last),
				listRecords(recordsOf(c.records, b)))
		}
	})
	for _, problem := range c.leftovers(t) {
		t.Errorf("seeds %d to %d: %v", first, last, problem)
	}
}

// replayOf returns the variables that replay a seed: alone, or with all of its round if the cloud was restarted in it.
func replayOf(seed, first, last uint64) string {
	if restartOf(first) != 0 {
		return fmt.Sprintf("SEED=%d COUNT=%d", first, last-first+1)
	}
	return fmt.Sprintf("SEED=%d COUNT=1", seed)
}

// eachAtOnce calls do with each value, a number of them at a time.
func eachAtOnce[V any](width int, values []V, do func(V)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, width)
	for _, v := range values {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			do(v)
		})
	}
	all.Wait()
}

// begin creates a batch, has its plan followed and uploads its file. A batch whose upload is kept from coming by the
// restart of the cloud is replaced by another one.
func (c *faultCloud) begin(t *testing.T, b *faultBatch) {
	t.Helper()
	for range 3 {
		var u client.Upload
		c.renewToken(t, b.tenant)
		err := c.persist(t.Context(), b.tenant, func(api *client.Client) (err error) {
			u, err = api.CreateUploadWith(t.Context(), b.options)
			return err
		})
		if err != nil {
			t.Errorf("%s: create it: %v", b, err)
			return
		}
		b.plan.Match = u.BatchID
		c.follow(t, []faultPlan{b.plan})
		c.mu.RLock()
		api := c.clients[b.tenant]
		c.mu.RUnlock()
		err = api.UploadFile(t.Context(), u, newReader(b.file), int64(len(b.file)), nil)
		if err == nil || errors.Is(err, client.ErrAlreadyUploaded) {
			b.setID(u.BatchID)
			return
		}
		t.Logf("%s: upload it: %v", b, err)
	}
	t.Errorf("%s cannot be uploaded", b)
}

// follow has plans followed, now and after a restart.
func (c *faultCloud) follow(t *testing.T, plans []faultPlan) {
	t.Helper()
	c.plans.add(plans)
	var out any
	c.mu.RLock()
	defer c.mu.RUnlock()
	if err := c.callFaults("Follow", map[string]any{"plans": plans}, &out); err != nil {
		t.Error(err)
	}
}

// forget ends the faults of a plan.
func (c *faultCloud) forget(t *testing.T, p faultPlan) {
	t.Helper()
	c.plans.remove(p)
	var out any
	c.mu.RLock()
	defer c.mu.RUnlock()
	if err := c.callFaults("Forget", map[string]any{"seed": p.Seed, "name": p.Name}, &out); err != nil {
		t.Error(err)
	}
}

// faultBound is how long the batches of a round may take to their ends, on a machine that is busy with other things.
const faultBound = 2 * patience

// waitForEnds waits until all batches are in a terminal status and everyone is told, and sweeps meanwhile.
func (c *faultCloud) waitForEnds(t *testing.T, batches []*faultBatch) {
	t.Helper()
	open := slices.Clone(batches)
	nextSweep, end := time.Now(), time.Now().Add(faultBound)
	for len(open) > 0 {
		if time.Now().After(nextSweep) {
			c.sweepOnce(t)
			nextSweep = time.Now().Add(time.Second)
		}
		open = slices.DeleteFunc(open, func(b *faultBatch) bool {
			if b.id == "" || !c.hasEnded(t, b) {
				return b.id == ""
			}
			c.forget(t, b.plan)
			return true
		})
		if time.Now().After(end) {
			for _, b := range open {
				t.Errorf("%s, batch %s, has not ended and been announced within %v:\n%s", b, b.id, faultBound,
					listRecords(recordsOf(c.records, b)))
			}
			return
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-t.Context().Done():
			return
		}
	}
}

// waitForSlots waits until no batch has a slot or waits for one, and sweeps meanwhile: a function that was killed has
// left its batch's slots to the sweep.
func (c *faultCloud) waitForSlots(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		held, err := c.slotLeftovers(t)
		switch {
		case err != nil:
			t.Fatal(err)
		case len(held) == 0:
			return
		case time.Now().After(end):
			t.Errorf("all batches have ended, and %v later %s", patience, strings.Join(held, ", "))
			return
		}
		c.sweepOnce(t)
		select {
		case <-time.After(200 * time.Millisecond):
		case <-t.Context().Done():
			return
		}
	}
}

// hasEnded reports whether a batch is in a terminal status and announced, to the webhook, too, if its tenant has one.
func (c *faultCloud) hasEnded(t *testing.T, b *faultBatch) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	db, err := c.database(t.Context())
	if err != nil {
		t.Error(err)
		return false
	}
	table := c.Prefix + "-batches"
	out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: batchKey(b.id)})
	if err != nil {
		t.Error(err)
		return false
	}
	_, isOwed := out.Item["unannounced"].(*types.AttributeValueMemberSS)
	hasEnded := slices.Contains([]string{"PROCESSED", "VALIDATION_FAILED", "ERROR"},
		dynamo.StringAttribute(out.Item, "status"))
	return hasEnded && !isOwed && (b.tenant != 0 || c.deliveries(t, b.id) > 0)
}

// sweepOnce sweeps as the schedule does. The sweep may fail, as what it calls is struck.
func (c *faultCloud) sweepOnce(t *testing.T) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	c.invoke(t, "scan", `{"detail-type":"Scheduled Event","source":"aws.events"}`, false)
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
	var out any
	if err := c.callFaults("Follow", map[string]any{"plans": c.plans.all()}, &out); err != nil {
		t.Error(err)
	}
	t.Logf("the local cloud was ended by %v and started again", signal)
}

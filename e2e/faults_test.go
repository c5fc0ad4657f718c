//go:build verify

package e2e

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/client"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/errtest"
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
	"--set", "SmallBatchBytes=30000", "--set", "RoundChunks=8", "--limit", "partition=1000",
	"--set", "WebhookFirstPause=1", "--set", "WebhookCollectTime=1", "--set", "TokenRequests=10000",
	"--set", fmt.Sprintf("MaxTransactions=%d", maxFaultTransactions),
}

// Batches of all kinds come to the end that their files ask for, whatever goes wrong on the way.
func TestFaults(t *testing.T) {
	t.Parallel()
	skipWithout(t, otherSettings)
	clouds := map[string]*faultCloud{}
	for seed, last := *faultSeed, *faultSeed+uint64(*faultSeeds)-1; seed <= last && !t.Failed(); {
		end := min(seed+seedsPerRound-1-(seed-1)%seedsPerRound, last)
		scan := scannerOf(seed)
		if clouds[scan] == nil {
			clouds[scan] = newFaultCloud(t, append(slices.Clone(faultOptions), "--set", "MalwareScan="+scan))
		}
		clouds[scan].round(t, seed, end)
		seed = end + 1
	}
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

// round runs the batches of the seeds from first to last at once and checks what has become of them.
func (c *faultCloud) round(t *testing.T, first, last uint64) {
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
	c.records = errtest.Must(c.faultRecords())(t)
	events, err := c.busEvents()
	must(t, err)
	eachAtOnce(8, batches, func(b *faultBatch) {
		problems := c.check(t, b, events[b.id])
		if b.last.Status == "ERROR" {
			t.Logf("%s ended with ERROR (%q). Its faults:\n%s", b, b.last.ErrorMessage,
				listRecords(recordsOf(c.records, b)))
		}
		assert(t, len(problems) <= 0,
			"%s, batch %s, ended with %s (%q): %v\nReplay it by: make test-faults %s\nIts faults:\n%s", b, b.id,
			b.last.Status, b.last.ErrorMessage, errors.Join(problems...), replayOf(b.seed, first, last),
			listRecords(recordsOf(c.records, b)))
	})
	counts := map[string]int{}
	for _, b := range batches {
		counts[cmp.Or(b.last.Status, "none")]++
	}
	for _, r := range c.records {
		counts[r.Kind]++
		counts[r.Function]++
	}
	t.Logf("seeds %d to %d: %v", first, last, counts)
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
		err = api.UploadFile(t.Context(), u, bytes.NewReader(b.file), int64(len(b.file)), nil)
		if err == nil || errors.Is(err, client.ErrAlreadyUploaded) {
			b.id = u.BatchID
			return
		}
		t.Logf("%s: upload it: %v", b, err)
	}
	t.Errorf("%s cannot be uploaded", b)
}

// follow has plans followed, now and after a restart.
func (c *faultCloud) follow(t *testing.T, plans []faultPlan) {
	t.Helper()
	for _, p := range plans {
		c.plans.Store(p.key(), p)
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	errtest.Fatal(t, c.callFaults("Follow", map[string]any{"plans": plans}, nil))
}

// forget ends the faults of a plan.
func (c *faultCloud) forget(t *testing.T, p faultPlan) {
	t.Helper()
	c.plans.Delete(p.key())
	c.mu.RLock()
	defer c.mu.RUnlock()
	errtest.Fatal(t, c.callFaults("Forget", map[string]any{"seed": p.Seed, "name": p.Name}, nil))
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
	db, err := c.database()
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
	return hasEnded && !isOwed && (b.tenant != 0 || c.receiver.deliveries(t, b.id) > 0)
}

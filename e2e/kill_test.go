//go:build verify

package e2e

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"sluice/client"
	"sluice/shared/kit/dynamo"
)

// uploading returns an end of a batch by the upload of a file.
func uploading(t *testing.T, file []byte) func(*session, client.Upload) {
	return func(_ *session, u client.Upload) { expectPut(t, http.StatusOK, u, file) }
}

// announcedEnd is a way in which batches end while a function is killed.
type announcedEnd struct {
	name, function, status string
	// file returns the file of a batch. It is nil for a batch whose execution fails.
	file func() []byte
}

// end returns what brings a batch to the end.
func (a announcedEnd) end(t *testing.T) func(*session, client.Upload) {
	if a.file != nil {
		return uploading(t, a.file())
	}
	return func(api *session, u client.Upload) {
		api.environment.invoke(t, "close", `{"batch_id":"`+u.BatchID+`","failure":{"Error":"E","Cause":"C"}}`, true)
	}
}

// Each function that ends batches, and the one that announces it, is killed before and after each of its calls to AWS.
// Every batch ends as it would have ended, and is announced: once, unless announce is killed when the bus has the event
// and the record does not say so, which is between two calls. The accepted lines of every processed batch are written
// as Parquet.
func TestAnnouncementsSurviveKills(t *testing.T) {
	t.Parallel()
	cloud := newKilling(t, killingCloud.get(t))
	cloud.killRepeatedRequests()
	cloud.setTenant("parquet=true")
	valid := func() []byte { return jsonLines(validLine()) }
	validChunks := func() []byte { return jsonLines(validLine(), validLine()) }
	invalid := func() []byte { return jsonLines(validLine().withModification("currency", "E")) }
	invalidChunks := func() []byte { return slices.Concat(invalid(), valid()) }
	var runs killRuns
	t.Cleanup(func() { t.Log(runs.table()) })
	for _, a := range []announcedEnd{
		{"process", "process", "PROCESSED", valid},
		{"process of an invalid file", "process", "VALIDATION_FAILED", invalid},
		{"close", "close", "PROCESSED", validChunks},
		{"announce", "announce", "PROCESSED", valid},
		{"export", "export", "PROCESSED", valid},
		{"index", "index", "PROCESSED", valid},
		{"verdict", "verdict", "VALIDATION_FAILED", invalidChunks},
		{"scan", "scan", "ERROR", func() []byte { return []byte(eicar) }},
		{"scan of a packed file", "scan", "PROCESSED", func() []byte { return packGzip(t, valid()) }},
		{"close after a failure", "close", "ERROR", nil},
	} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			cloud.killAtEachCall(t, a, &runs)
		})
	}
}

// killAtEachCall brings batches to an end, one while the function is not killed, and one for each time at which it is.
func (c killing) killAtEachCall(t *testing.T, a announcedEnd, runs *killRuns) {
	calls := c.run(t, killRule{Function: a.function, Call: unharmed}, a.end(t)).Calls
	require(t, calls != 0, "%s makes no calls", a.function)
	for i := range 2 * calls {
		kill := killRule{Function: a.function, Call: i/2 + 1, After: i%2 == 1}
		if a.status != "ERROR" && (a.function == "scan" || a.function == "process") && !kill.After {
			continue // it makes many calls, and to be killed before one is as to be killed after the one before
		}
		t.Run(fmt.Sprintf("call %d after %v", kill.Call, kill.After), func(t *testing.T) {
			t.Parallel()
			r := c.run(t, kill, a.end(t))
			// It makes more calls for a batch whose slot others were given at the same time, and now it made fewer.
			isSpared := r.Killed == "" && r.Calls < kill.Call
			assert(t, (r.Killed != "" || isSpared) && r.status == a.status,
				"killed at %q, the batch ended with %s, want a kill and %s", r.Killed, r.status, a.status)
			if mayDouble := a.function == "announce" && kill.Call > 1; r.events > 1 && !mayDouble {
				t.Errorf("killed at %q, the end is announced %d times, want once", r.Killed, r.events)
			}
			assert(t, r.exported == (r.status == "PROCESSED"), "killed at %q, a batch in %s has a Parquet file: %v",
				r.Killed, r.status, r.exported)
			assert(t, r.delivered == 1, "killed at %q, the end is delivered %d times, want once", r.Killed, r.delivered)
			runs.add(r)
		})
	}
}

// The functions that take idempotency keys, with the calls to AWS that they make for a request with a new key.
var keyedFunctions = map[string]int{
	"batch":   3, // the key, the batch, the answer
	"receive": 8, // the key, earlier versions, entities, the version, its observations, the count, the answer
}

// killRepeatedRequests kills functions before and after each of their calls to AWS for a request with an idempotency
// key, which the Go client then repeats until it is answered: it has had its effect once. Until a function that was
// killed would have ended, half a minute passes, so the requests run beside the test, which waits for them at its end.
func (c killing) killRepeatedRequests() {
	// The context of the test ends before its cleanup.
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	var group sync.WaitGroup
	c.t.Cleanup(func() {
		group.Wait()
		cancel()
	})
	for function, calls := range keyedFunctions {
		for i := range 2*calls + 1 {
			k := killRule{Function: function, Call: i/2 + 1, After: i%2 == 1, Payload: uuid.NewString()}
			group.Go(func() {
				err := c.killRepeatedRequest(ctx, k, i < 2*calls)
				assert(c.t, err == nil, "%+v: %v", k, err)
			})
		}
	}
}

// killRepeatedRequest makes one request, whose key is the payload of the rule.
func (c killing) killRepeatedRequest(ctx context.Context, k killRule, isKilled bool) error {
	read, err := c.environment.arm(k)
	if err != nil {
		return err
	}
	table, attribute, value, observation := "batches", "name", k.Payload, ""
	if k.Function == "batch" {
		_, err = c.client.CreateUploadWith(ctx,
			client.UploadOptions{RejectOnInvalid: true, Name: k.Payload, IdempotencyKey: k.Payload})
	} else {
		l := validLine()
		_, err = c.client.SendTransaction(ctx, []byte(l.String()), client.SendOptions{IdempotencyKey: k.Payload})
		table, attribute, value = "transactions", "transaction", c.tenantID+"#"+l.transactionID()
		observation = c.tenantID + "#modification#" + l.modificationID()
	}
	if err != nil {
		return err
	}
	state, err := read()
	if err != nil || isKilled != (state.Killed != "") {
		return fmt.Errorf("killed at %q after %d calls, %w, want a kill: %t", state.Killed, state.Calls, err, isKilled)
	}
	db, err := c.environment.database()
	if err != nil {
		return err
	}
	out, err := db.Scan(ctx, &dynamodb.ScanInput{
		TableName: c.environment.table(table), ConsistentRead: aws.Bool(true),
		FilterExpression: aws.String("#a = :v"), ExpressionAttributeNames: map[string]string{"#a": attribute},
		ExpressionAttributeValues: dynamo.Item{":v": dynamo.String(value)},
	})
	if err == nil && out.Count != 1 {
		err = fmt.Errorf("killed at %q, the request made %d items, want 1", state.Killed, out.Count)
	}
	if err != nil || observation == "" {
		return err
	}
	observed, err := db.Query(ctx, &dynamodb.QueryInput{
		TableName: c.environment.table("observations"), ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String("id = :id"),
		ExpressionAttributeValues: dynamo.Item{":id": dynamo.String(observation)},
	})
	if err == nil && observed.Count != 1 {
		err = fmt.Errorf("killed at %q, the request was observed %d times, want once", state.Killed, observed.Count)
	}
	return err
}

var everyKill = flag.Bool("every-kill", false, "kill the sweep at each of its calls, and all functions by chance, too")

// The sweep is killed at each of its calls while it ends a batch that was never uploaded: make test-kills.
func TestAnnouncementsSurviveKillsOfTheSweep(t *testing.T) {
	if !*everyKill {
		t.Skip("needs -every-kill")
	}
	cloud := newKilling(t, newCloud(t, "--kill", "none", "--set", "SweepAge=1"))
	var runs killRuns
	t.Cleanup(func() { t.Log(runs.table()) })
	for _, after := range []bool{false, true} {
		for call, killed := 1, true; killed; call++ {
			event := fmt.Sprintf(`{"detail-type":"Scheduled Event","source":"aws.events","id":"%d %v"}`, call, after)
			k := killRule{Function: "scan", Call: call, After: after, Payload: event}
			r := cloud.run(t, k, func(api *session, u client.Upload) {
				api.environment.expectNoUpload(t, u.BatchID)
				api.environment.invoke(t, "scan", event, false)
				eventually(t, "the end of the batch", func() bool {
					api.environment.sweep(t)
					now, err := api.client.Status(t.Context(), u.BatchID)
					return err == nil && now.Status == "ERROR"
				})
			})
			if killed = r.Killed != ""; killed {
				runs.add(r)
			}
			assert(t, r.status == "ERROR" && r.events == 1,
				"killed at %q, the batch ended with %s, announced %d times, want ERROR and once", r.Killed, r.status,
				r.events)
			assert(t, killed || call != 1, "the sweep was not killed")
		}
	}
}

// Many batches end as their files ask for while all functions are killed by chance: make test-kills.
func TestAnnouncementsSurviveRandomKills(t *testing.T) {
	if !*everyKill {
		t.Skip("needs -every-kill")
	}
	const seed, batches = "13", 300
	e := newCloud(t, "--kill", "random:"+seed+":100", "--set", "SweepAge=1")
	cloud := newKilling(t, e)
	var runs killRuns
	t.Cleanup(func() { t.Log(runs.table()) })
	t.Run("batches", func(t *testing.T) {
		for i := range batches {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				file, want := jsonLines(validLine()), "PROCESSED"
				switch i % 3 {
				case 1:
					file, want = []byte("{}\n"), "VALIDATION_FAILED"
				case 2:
					file, want = []byte(eicar), "ERROR"
				}
				r := cloud.run(t, killRule{Function: "none", Call: 1}, uploading(t, file))
				assert(t, r.status == want, "the batch ended with %s, want %s", r.status, want)
				runs.add(r)
			})
		}
	})
	kills := strings.Count(string(ok(os.ReadFile(e.logFile("functions.log")))(t)), `"type":"platform.killed"`)
	if t.Logf("%d kills", kills); kills < batches/3 {
		t.Errorf("%d kills for %d batches: want at least one for every three", kills, batches)
	}
}

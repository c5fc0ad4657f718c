package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/client"
)

// uploading returns an end of a batch by the upload of a file.
func uploading(t *testing.T, file []byte) func(*session, client.Upload) {
	return func(_ *session, u client.Upload) {
		expectPut(t, 200, u, file)
	}
}

// announcedEnd is a way in which batches end while a function is killed.
type announcedEnd struct {
	name, function, status string
	// file returns the file of a batch. It is nil for a batch whose execution fails.
	file func() []byte
}

// end returns what brings a batch to the end.
func (a announcedEnd) end(t *testing.T, c killing) func(*session, client.Upload) {
	if a.file != nil {
		return uploading(t, a.file())
	}
	return func(_ *session, u client.Upload) {
		c.invoke(t, "close", `{"batch_id":"`+u.BatchID+`","failure":{"Error":"E","Cause":"C"}}`, true)
	}
}

// Each function that ends batches, and the one that announces it, is killed before and after each of its calls to AWS.
// Every batch ends as it would have ended, and is announced: once, unless announce is killed when the bus has the event
// and the record does not say so, which is between two calls. The accepted lines of every processed batch are written
// as Parquet.
func TestAnnouncementsSurviveKills(t *testing.T) {
	t.Parallel()
	cloud := newKillingCloud(t)
	onboardEntities(t, cloud.Environment)
	cloud.killRepeatedRequests(t)
	login(t, cloud.Environment).setTenant("parquet=true")
	valid := func() []byte { return jsonLines(validLine()) }
	invalid := func() []byte { return jsonLines(validLine().withModification("currency", "E")) }
	var runs killRuns
	t.Cleanup(func() { t.Log(runs.table()) })
	for _, a := range []announcedEnd{
		{"close", "close", "PROCESSED", valid},
		{"announce", "announce", "PROCESSED", valid},
		{"export", "export", "PROCESSED", valid},
		{"verdict", "verdict", "VALIDATION_FAILED", invalid},
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
	calls := c.run(t, killRule{Function: a.function, Call: 1e6}, a.end(t, c)).Calls
	if calls == 0 {
		t.Fatalf("%s makes no calls", a.function)
	}
	for i := range 2 * calls {
		kill := killRule{Function: a.function, Call: i/2 + 1, After: i%2 == 1}
		if a.status == "PROCESSED" && a.function == "scan" && !kill.After {
			continue // it makes many calls, and to be killed before one is as to be killed after the one before
		}
		t.Run(fmt.Sprintf("call %d after %v", kill.Call, kill.After), func(t *testing.T) {
			t.Parallel()
			r := c.run(t, kill, a.end(t, c))
			// It makes more calls for a batch whose slot others were given at the same time, and now it made fewer.
			isSpared := r.Killed == "" && r.Calls < kill.Call
			if r.Killed == "" && !isSpared || r.status != a.status {
				t.Errorf("killed at %q, the batch ended with %s, want a kill and %s", r.Killed, r.status, a.status)
			}
			if mayDouble := a.function == "announce" && kill.Call > 1; r.events > 1 && !mayDouble {
				t.Errorf("killed at %q, the end is announced %d times, want once", r.Killed, r.events)
			}
			if r.exported != (r.status == "PROCESSED") {
				t.Errorf("killed at %q, a batch in %s has a Parquet file: %v", r.Killed, r.status, r.exported)
			}
			if r.delivered != 1 {
				t.Errorf("killed at %q, the end is delivered %d times, want once", r.Killed, r.delivered)
			}
			runs.add(r)
		})
	}
}

var everyKill = flag.Bool("every-kill", false, "kill the sweep at each of its calls, and all functions by chance, too")

// The sweep is killed at each of its calls while it ends a batch that was never uploaded: make test-kills.
func TestAnnouncementsSurviveKillsOfTheSweep(t *testing.T) {
	if !*everyKill {
		t.Skip("needs -every-kill")
	}
	cloud := newKillingCloud(t)
	var runs killRuns
	t.Cleanup(func() { t.Log(runs.table()) })
	for _, after := range []bool{false, true} {
		for call, killed := 1, true; killed; call++ {
			event := fmt.Sprintf(`{"detail-type":"Scheduled Event","source":"aws.events","id":"%d %v"}`, call, after)
			k := killRule{Function: "scan", Call: call, After: after, Payload: event}
			r := cloud.run(t, k, func(api *session, u client.Upload) {
				cloud.expectNoUpload(t, u.BatchID)
				cloud.invoke(t, "scan", event, false)
				eventually(t, "the end of the batch", func() bool {
					cloud.sweep(t)
					now, err := api.client.Status(t.Context(), u.BatchID)
					return err == nil && now.Status == "ERROR"
				})
			})
			if killed = r.Killed != ""; killed {
				runs.add(r)
			}
			if r.status != "ERROR" || r.events != 1 {
				t.Errorf("killed at %q, the batch ended with %s, announced %d times, want ERROR and once", r.Killed,
					r.status, r.events)
			}
			if !killed && call == 1 {
				t.Error("the sweep was not killed")
			}
		}
	}
}

// Many batches end as their files ask for while all functions are killed by chance: make test-kills.
func TestAnnouncementsSurviveRandomKills(t *testing.T) {
	if !*everyKill {
		t.Skip("needs -every-kill")
	}
	const seed, batches = "13", 300
	cloud := newKillingCloud(t, "random:"+seed+":100")
	onboardEntities(t, cloud.Environment)
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
				if r.status != want {
					t.Errorf("the batch ended with %s, want %s", r.status, want)
				}
				runs.add(r)
			})
		}
	})
	log := ok(os.ReadFile(filepath.Join(cloud.Data, "logs", "functions.log")))(t)
	kills := strings.Count(string(log), `"type":"platform.killed"`)
	if t.Logf("%d kills", kills); kills < batches/3 {
		t.Errorf("%d kills for %d batches: want at least one for every three", kills, batches)
	}
}

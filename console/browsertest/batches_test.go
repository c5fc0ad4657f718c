package browsertest

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// A batch with errors is found by its name, and its errors are narrowed down from the summary to a code and a line.
func TestBatchWithErrors(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	id := tenant.upload(tenant.generate(300, 0.2), "--name", "monday", "--metadata", "region=north", "--max-rejected",
		"100%")
	p := tenant.open("/batches")
	p.waitForHeading("Batches")
	p.press("/")
	p.typeText("mon")
	p.waitForAddress("/batches?search=mon")
	p.waitForText("1 batch: all of them")
	p.checkAccessible()
	p.checkScreenshot("batches")
	p.click("link", "monday")
	p.waitForHeading("monday")
	p.waitForAddress("/batches/" + id)
	p.waitForText("Processed")
	p.waitForText("region north")
	p.waitForText("up to 100% are dropped")
	p.waitForText("Times are in Europe/Amsterdam.")
	p.waitForText("1 to 25 of")
	p.checkAccessible()
	p.checkScreenshot("batch")

	codes := p.waitFor("list", "Errors by code")
	p.click("button", "json_invalid", codes)
	p.waitForAddress("/batches/" + id + "?code=json_invalid")
	p.waitForText("Errors: json_invalid")
	p.waitForText("The line violates the grammar of JSON")
	p.reload()
	p.waitForText("Errors: json_invalid")
	p.waitForState("button", "json_invalid", "pressed", "true")
	p.back()
	p.waitForText("All errors")

	name, report := p.download(func() { p.click("link", "Report") })
	if want := id + ".errors.jsonl"; name != want || !bytes.Contains(report, []byte(`"line"`)) {
		t.Errorf("the report is %q with %.200s, want %s", name, report, want)
	}
	name, _ = p.download(func() { p.click("link", "Receipt") })
	difftest.Equal(t, "the receipt", id+".receipt.jose", name)
	p.click("button", "json_invalid", p.waitFor("list", "Errors by code"))
	p.waitForText("Errors: json_invalid")
	p.click("link", "Batches", p.waitFor("main", ""))
	p.waitForAddress("/batches?search=mon") // as it was left, some entries of the history ago
	p.waitForHeading("Batches")
}

// A batch is followed from its upload to its end without a reload, and not asked for any more then.
func TestBatchIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	file := tenant.generate(200, 0)
	id, put := tenant.beginBatch(`{"name": "followed", "validate_only": true}`)
	p := tenant.open("/batches/" + id)
	p.waitForHeading("followed")
	p.waitForText("The file is not uploaded yet")
	p.waitForText("yes: nothing is stored")
	p.waitFor("button", "Cancel the batch")
	p.checkAccessible()
	put(file)
	p.waitForText("This was a dry run: nothing of it is stored")
	p.waitForText("Every line is valid.")
	p.waitUntilGone("button", "Cancel the batch")
	p.checkAccessible()
	asked := func() int {
		return evaluate[int](p, `performance.getEntriesByType("resource").filter(e => `+
			`e.name.includes("/batch/status/")).length`)
	}
	before := asked()
	p.press("Tab") // something else happens on the page
	p.click("link", "Batches", p.waitFor("main", ""))
	p.waitForText("followed")
	if after := asked(); after != before {
		t.Errorf("the status was asked for %d times after the end", after-before)
	}
}

// A batch that awaits its upload is cancelled, with the commands that do the same beside.
func TestCancelBatch(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	id, _ := tenant.beginBatch(`{}`)
	p := tenant.open("/batches/" + id)
	p.waitForHeading("Batch")
	p.click("button", "Cancel the batch")
	p.waitFor("dialog", "Cancel this batch?")
	p.press("Escape")
	p.waitUntilGone("dialog", "")
	p.click("button", "Cancel the batch")
	dialog := p.waitFor("dialog", "Cancel this batch?")
	p.checkAccessible()
	p.click("button", "Cancel the batch", dialog)
	p.waitUntilGone("dialog", "")
	p.waitForText("Cancelled by the client.")
	p.waitUntilGone("button", "Cancel the batch")
}

// A batch whose lines are stored while somebody thinks about it cannot be cancelled, and the page says why.
func TestCancelTooLate(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	file := tenant.generate(5, 0)
	id, put := tenant.beginBatch(`{}`)
	p := tenant.open("/batches/" + id)
	p.waitForHeading("Batch")
	p.click("button", "Cancel the batch")
	dialog := p.waitFor("dialog", "Cancel this batch?")
	put(file)
	p.waitForText("Processed")
	p.expect("status of 409")
	p.click("button", "Cancel the batch", dialog)
	p.waitForText("It is too late")
	p.waitForText("status 409")
	p.click("button", "Back to the batch")
	p.waitUntilGone("dialog", "")
}

// New batches do not move what somebody reads, and filters find batches by state, metadata and ID.
func TestNewBatchesAndFilters(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	file := tenant.generate(20, 0)
	first := tenant.upload(file, "--name", "first", "--metadata", "region=north")
	p := tenant.open("/batches")
	p.click("columnheader", "State") // the pointer is in the table now
	tenant.upload(file, "--name", "second")
	p.click("button", "Show 1 new batch")
	p.waitFor("link", "second")
	p.waitForText("Duplicate")

	p.click("button", "Rejected")
	p.waitForAddress("/batches?status=VALIDATION_FAILED")
	p.waitForText("No batch matches these filters.")
	p.click("button", "Clear the filters")
	p.waitForAddress("/batches")
	p.waitForText("2 batches: all of them")
	p.back()
	p.waitForText("No batch matches these filters.")
	p.click("button", "Clear all")
	p.click("button", "More filters")
	p.waitForText("Created after Europe/Amsterdam Created before Europe/Amsterdam")
	p.waitForText("Times Europe/Amsterdam")
	p.fill("textbox", "Metadata", "region=north")
	p.press("Enter")
	p.waitForText("1 batch: all of them")
	p.waitFor("link", "first")
	p.checkAccessible()
	p.click("button", "Clear all")
	p.fill("searchbox", "Name or ID", first)
	p.waitForText("1 batch: all of them")
	p.waitFor("link", "first")
}

// Batches are found by their state, beside the status; one that leaves the state is shown as it is while somebody reads
// the list, and then goes.
func TestBatchesByState(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	file := tenant.generate(5, 0)
	tenant.upload(file, "--name", "stored")
	_, put := tenant.beginBatch(`{"name": "awaited"}`)
	p := tenant.open("/")
	p.waitForText("Awaiting upload 1")
	p.click("link", "Awaiting upload")
	p.waitForAddress("/batches?state=awaiting_upload")
	p.waitForText("1 batch: all of them")
	p.waitFor("link", "awaited")
	p.waitForState("button", "Awaiting upload", "pressed", "true")
	if got := p.commandsOf("command"); len(got) != 1 || !strings.HasSuffix(got[0], " --state awaiting_upload") {
		t.Errorf("the commands are %q, want one with the state", got)
	}
	p.checkAccessible()
	p.click("button", "Ended")
	p.waitForAddress("/batches?state=awaiting_upload%2Cended")
	p.waitForText("2 batches: all of them")
	p.click("button", "Rejected")
	p.waitForText("No batch matches these filters.")
	p.click("button", "Rejected")
	p.click("button", "Ended")
	p.waitForText("1 batch: all of them")
	p.click("columnheader", "State") // the pointer is in the table now
	put(file)
	p.waitForText("awaited Duplicate Processed")
	p.click("heading", "Batches")
	p.waitForText("No batch matches these filters.")
	p.click("button", "Awaiting upload")
	p.click("button", "Open")
	p.waitForAddress("/batches?state=open")
	p.waitForText("No batch matches these filters.")
	p.click("button", "Open")
	p.waitForText("2 batches: all of them")
}

// Hundreds of batches are loaded as the keyboard goes through them, and Enter opens one.
func TestManyBatchesByKeyboard(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.multiplyBatch(tenant.upload(tenant.generate(3, 0), "--name", "original"), 1300)
	p := tenant.open("/batches")
	p.waitForText("200 batches loaded")
	evaluate[any](p, `document.querySelector("[role=grid]").focus()`)
	p.press("j", "End")
	p.waitForText("400 batches loaded")
	p.press("End")
	p.waitForText("600 batches loaded")
	p.waitFor("link", "batch 00398")
	if rows := evaluate[int](p, `document.querySelectorAll(".table-row").length`); rows > 60 {
		t.Errorf("the document has %d rows, want those in view", rows)
	}
	p.press("k", "Enter")
	p.waitForHeading("batch 00397")
	p.back()
	p.waitForHeading("Batches")
	p.press("/")
	p.typeText("batch 012") // further back than the service looks for one request
	p.waitForText("100 batches: all of them")
}

// The overview of a tenant with nothing says what to do first, and that of one with batches what became of them.
func TestOverview(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	p := tenant.open("/")
	p.waitForText("Nothing has been uploaded yet.")
	p.checkAccessible()
	tenant.upload(tenant.generate(100, 0.2), "--name", "with errors", "--max-rejected", "100%")
	p.waitFor("link", "with errors")
	p.reload()
	p.waitForText("Stored today (UTC) 80")
	p.waitForText("Not stored today 20")
	p.waitForText("Of the latest 1 batch with invalid lines")
	p.checkAccessible()
	p.checkScreenshot("overview", ".day-bars")
	p.click("button", "Processed")
	p.waitForAddress("/batches?status=PROCESSED")
	p.waitFor("link", "with errors")
}

// A batch whose names were screened shows how many were like an entry of a list, and offers the hits.
func TestBatchWithScreenedNames(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.admin(nil, "entities", "import", "--tenant", tenant.id,
		tenant.file("entities.jsonl", `{"id":"customer-1","status":"Compliant"}`+"\n"))
	tenant.importSampleList()
	line := strings.NewReplacer("ip_address_here", "192.0.2.1", `"S"`, `"Anatolij Welkanow"`).Replace(sampleLine)
	id := tenant.upload(tenant.file("names.jsonl", line+"\n"), "--screen", "sample")
	p := tenant.open("/batches/" + id)
	p.waitForText("1 distinct name of unknown entities")
	p.waitForText("sample of")
	p.checkAccessible()
	name, hits := p.download(func() { p.click("link", "Download the hits") })
	if want := id + ".alerts.jsonl"; name != want || !bytes.Contains(hits, []byte("Anatolij Welkanow")) {
		t.Errorf("the hits are %q with %.200s, want %s", name, hits, want)
	}
}

// While the service is away, the pages of batches keep what they know, and go on when it is back.
func TestBatchesWhileServiceIsAway(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	id, _ := tenant.beginBatch(`{"name": "kept"}`)
	gate := tenant.withGate()
	p := tenant.open("/batches")
	p.waitFor("link", "kept")
	p.expect("status of 50[24]")
	gate.cutOff()
	p.lookAgain()
	p.waitForText("Not up to date: as of")
	p.waitFor("link", "kept")
	p.checkAccessible()
	p.click("link", "kept")
	p.waitFor("button", "Try again")
	gate.letThrough()
	p.click("button", "Try again")
	p.waitForHeading("kept")
	gate.cutOff()
	p.lookAgain()
	p.waitForText("Not up to date: as of")
	p.waitForText(id)
	gate.letThrough()
	p.click("button", "Try now")
	p.waitUntilTextGone("Not up to date")
}

// A page that asks more often than the tenant may waits as long as the service says, and the overview tells of it.
func TestLimitsAreSeen(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.admin(nil, "tenant", "set", tenant.id, "batch_statuses_per_minute=2")
	id, _ := tenant.beginBatch(`{"name": "limited"}`)
	p := tenant.open("/batches/" + id)
	p.expect("status of 429")
	p.waitForText("Too many requests")
	p.waitForHeading("limited")
	p.click("link", "Overview", p.waitFor("navigation", "Areas"))
	p.waitForText("Awaiting upload 1")
	p.waitFor("rowheader", "Status of a batch")
	p.waitForText("Status of a batch 0 0 1")
}

// beginBatch asks for an upload URL and returns the ID of the batch and what uploads its file.
func (n *tenant) beginBatch(options string) (id string, put func(file string)) {
	n.Helper()
	var begun struct {
		BatchID         string            `json:"batch_id"`
		URL             string            `json:"url"`
		RequiredHeaders map[string]string `json:"required_headers"`
	}
	n.call("POST", "/tm/realtime/api/transactions/batch/generate-upload-url", options, &begun)
	return begun.BatchID, func(file string) {
		n.Helper()
		content := errtest.Must(os.ReadFile(file))(n)
		request := errtest.Must(http.NewRequestWithContext(n.Context(), "PUT", begun.URL, bytes.NewReader(content)))(n)
		for name, value := range begun.RequiredHeaders {
			if !strings.EqualFold(name, "Content-Length") {
				request.Header.Set(name, value)
			}
		}
		reply, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = reply.Body.Close() // only the status counts
			if reply.StatusCode != http.StatusOK {
				err = fmt.Errorf("status %s", reply.Status)
			}
		}
		if err != nil {
			n.Fatalf("upload the file: %v", err)
		}
	}
}

package browsertest

import (
	"fmt"
	"syscall"
	"testing"

	"sluice/shared/kit/errtest"
)

// accounting is a webhook by its name.
const accounting = `{"url":"https://example.com/hook","eventTypes":["*"],"name":"accounting"}`

// lookAgain has the page ask the service now, as it does when the person comes back to its tab.
func (p *tab) lookAgain() {
	p.Helper()
	evaluate[any](p, `document.dispatchEvent(new Event("visibilitychange"))`)
}

// While the service is away, a page keeps what it knows and says of when; one that knows nothing says what is wrong,
// and both recover.
func TestServiceGoneAndBack(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.call("POST", "/v1/webhooks", accounting, nil)
	gate := tenant.withGate()
	p := tenant.open("/webhooks")
	p.waitFor("link", "accounting")
	p.expect("status of 502")
	gate.cutOff()
	p.lookAgain()
	p.waitForText("Not up to date: as of")
	p.waitFor("link", "accounting")
	p.checkAccessible()
	gate.letThrough()
	p.click("button", "Try now")
	p.waitUntilTextGone("Not up to date")

	gate.cutOff()
	p.reload()
	p.waitFor("button", "Try again")
	p.checkAccessible()
	gate.letThrough()
	p.click("button", "Try again")
	p.waitFor("link", "accounting")
	p.waitUntilGone("button", "Try again")
}

// A command that does not answer for a while, on a machine that is busy or asleep, loses nothing; one that has ended is
// named as the reason.
func TestCommandStopsAndGoesOn(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.call("POST", "/v1/webhooks", accounting, nil)
	p := tenant.open("/webhooks")
	p.waitFor("link", "accounting")
	errtest.Fatal(t, p.console.cmd.Process.Signal(syscall.SIGSTOP))
	p.lookAgain()
	// The page's module is asked of the command that stands still.
	p.click("link", "Entities", p.waitFor("navigation", "Areas"))
	errtest.Fatal(t, p.console.cmd.Process.Signal(syscall.SIGCONT))
	p.waitForHeading("Entities")
	p.back()
	p.waitFor("link", "accounting")

	p.expect("ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET")
	p.console.stop(t)
	p.lookAgain()
	p.waitForText("The console's command does not answer.")
	p.waitFor("link", "accounting")
	p.click("link", "Policies", p.waitFor("navigation", "Areas"))
	p.waitForHeading("The page could not be loaded")
	p.waitForText("Is the console's command still running?")
	p.checkAccessible()
}

// dataPages prepares something on each page of data and returns their addresses, each with a text that it shows.
func (n *tenant) dataPages() [][2]string {
	n.Helper()
	n.admin(nil, "entities", "import", "--tenant", n.id,
		n.file("entities.jsonl", `{"id":"customer 1","status":"Compliant"}`))
	entity := n.createEntity("legalEntityName", "Harbour Ltd")
	var document struct{ Data struct{ ID string } }
	n.call("POST", "/documentmanagementcommand/api/v2/documentmanagement/virtual", fmt.Sprintf(
		`{"data":{"fileName":"bill","entityId":%q,"documentURL":"https://example.com/bill"}}`, entity), &document)
	n.sendTransaction("a", "authorised", "12.50", "Invoice 1")
	n.call("POST", "/v1/webhooks", accounting, nil)
	return [][2]string{
		{"/entities", "Harbour Ltd"},
		{"/entities/" + entity, "Verified properties"},
		{"/documents?entity=" + entity, "1 document"},
		{"/documents/" + document.Data.ID, "https://example.com/bill"},
		{"/transactions/tx%201%2F2", "12.50 EUR"},
		{"/webhooks", "accounting"},
		{"/policies", "No policy yet"},
	}
}

// Each page of data says that the service is away, and shows what it has when the person tries again.
func TestDataPagesWhileServiceIsAway(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	pages := tenant.dataPages()
	gate := tenant.withGate()
	p := tenant.open("/")
	p.waitForHeading("Overview")
	p.expect("status of 50[24]")
	for _, page := range pages {
		gate.cutOff()
		p.goTo(page[0])
		p.eventually("a button to try again", func() (bool, string) {
			found, err := p.tryFindAll("button", "Try again")
			return len(found) > 0, fmt.Sprint(found, err)
		})
		p.checkAccessible()
		gate.letThrough()
		// What is loaded beside the list has a button of its own.
		evaluate[any](p, `[...document.querySelectorAll("main button")].filter(b => b.innerText === "Try again")
			.forEach(b => b.click())`)
		p.waitForText(page[1])
		p.waitUntilGone("button", "Try again")
	}
}

// While answers are awaited, each page says that it is loading, and others can be gone to; what comes late is shown.
func TestDataPagesWithSlowAnswers(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	pages := tenant.dataPages()
	gate := tenant.withGate()
	p := tenant.open("/")
	p.waitForHeading("Overview")
	p.expect("status of 50[24]") // what was on its way when the gate was closed
	for _, page := range pages {
		letGo := gate.holdBack()
		p.goTo(page[0])
		p.eventually("the page is loading", func() (bool, string) {
			found, err := p.tryFindAll("status", "Loading")
			return len(found) > 0, fmt.Sprint(found, err)
		})
		p.click("link", "Upload", p.waitFor("navigation", "Areas")) // which needs nothing of the service
		p.waitForText("No file is here yet.")
		p.back()
		letGo()
		p.waitForText(page[1])
	}
}

package browsertest

import (
	"syscall"
	"testing"
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
	if err := p.console.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.lookAgain()
	// The page's module is asked of the command that stands still.
	p.click("link", "Entities", p.waitFor("navigation", "Areas"))
	if err := p.console.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
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

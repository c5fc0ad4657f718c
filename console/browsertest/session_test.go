package browsertest

import (
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
)

// The first address opens the console in one browser, where it may be used again; another browser is told what to do.
func TestFirstAddressOpensOneBrowser(t *testing.T) {
	t.Parallel()
	p := newTenant(t).open("/")
	p.waitForHeading("Overview")
	p.goTo(p.console.firstPath)
	p.waitForHeading("Overview")
	p.waitForAddress("/")

	other := suite.browser.newTab(t, p.origin)
	other.expect("status of 401")
	other.goTo("/batches")
	other.waitForHeading("The console is not open in this browser")
	other.waitForText("Open the address that 'sluice console' has printed")
	other.checkAccessible()
	other.goTo(p.console.firstPath)
	other.waitForHeading("This address was opened before")
	other.checkAccessible()
	difftest.Equal(t, "scripts see the cookies", "", evaluate[string](p, `document.cookie`))
}

// A session ends with its command. The open page says so, and the address of another start opens it again.
func TestSessionOver(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	p := tenant.open("/entities")
	p.waitForHeading("Entities")
	p.expect("ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET") // while there is no command
	p.console.stop(t)
	again := tenant.startConsole("--address", strings.TrimPrefix(p.origin, "http://"))
	p.expect("status of 401")
	p.goTo("/entities")
	p.waitForHeading("The console is not open in this browser")
	p.goTo(again.firstPath)
	p.waitForHeading("Overview")
	p.goTo("/entities")
	p.waitForHeading("Entities")
}

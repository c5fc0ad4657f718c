package browsertest

import (
	"testing"

	"sluice/shared/kit/difftest"
)

// pages are the console's pages that need nothing to exist, with their headings.
var pages = []struct{ path, heading string }{
	{"/", "Overview"},
	{"/batches", "Batches"},
	{"/upload", "Upload"},
	{"/transactions", "Transactions"},
	{"/entities", "Entities"},
	{"/documents", "Documents"},
	{"/screening", "Screening"},
	{"/screening/name", ""},
	{"/policies", "Policies"},
	{"/webhooks", "Webhooks"},
	{"/no/such/page", "No such page"},
}

// Every page of a tenant that has nothing yet is accessible, names the window and says what it is about in one heading.
func TestPagesOfANewTenant(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	p := tenant.open("/")
	for _, page := range pages {
		p.goTo(page.path)
		heading := p.waitForHeading(page.heading)
		difftest.Equal(t, "the title of "+page.path, heading+" · Sluice", evaluate[string](p, `document.title`))
		p.checkAccessible()
	}
	p.checkScreenshot("no-such-page", ".side-foot dd")
}

// The keys that work everywhere: one leads past the navigation, another shows the keys of the page.
func TestKeysOfEveryPage(t *testing.T) {
	t.Parallel()
	p := newTenant(t).open("/")
	p.waitForHeading("Overview")
	p.press("Tab")
	p.waitForFocus("link", "Skip to the content")
	p.press("Enter")
	p.eventually("the focus in the content", func() (bool, string) {
		return evaluate[bool](p, `document.activeElement?.id === "main"`), ""
	})
	p.press("?")
	p.waitFor("dialog", "Keys")
	p.checkAccessible()
	p.press("Escape")
	p.waitUntilGone("dialog", "Keys")
}

// Back and Forward go through pages, and the navigation says where one is.
func TestBackAndForwardThroughPages(t *testing.T) {
	t.Parallel()
	p := newTenant(t).open("/")
	p.waitForHeading("Overview")
	for _, name := range []string{"Batches", "Entities"} {
		p.click("link", name, p.waitFor("navigation", "Areas"))
		p.waitForHeading(name)
	}
	p.back()
	p.waitForHeading("Batches")
	p.waitForAddress("/batches")
	current := `document.querySelector("nav [aria-current=page]").textContent`
	difftest.Equal(t, "after Back the navigation says", "Batches", evaluate[string](p, current))
	p.back()
	p.waitForHeading("Overview")
	p.forward()
	p.forward()
	p.waitForHeading("Entities")
	p.reload()
	p.waitForHeading("Entities")
}

package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
)

// grid is what a test compares of a table before somebody leaves it and after they have come back.
type grid struct {
	// Top is how far it is scrolled, and Rows how many rows it has, also those that are not drawn.
	Top, Rows int
	// Selected is the ID or else the name in the selected row, and HasFocus says whether the keyboard moves through the
	// rows.
	Selected string
	HasFocus bool
}

// grid returns the state of the one table of the page; its zero value if there is none.
func (p *tab) grid() grid {
	p.Helper()
	return evaluate[grid](p, `(() => {
		const e = document.querySelector("[role=grid]");
		const selected = e?.querySelector("[aria-selected=true]");
		return e ? {Top: Math.round(e.scrollTop), Rows: Number(e.ariaRowCount),
			Selected: (selected?.querySelector(".id") ?? selected?.querySelector("[role=gridcell]"))?.innerText ?? "",
			HasFocus: e === document.activeElement} : {};
	})()`)
}

// waitForGrid waits until the table is as it was.
func (p *tab) waitForGrid(want grid) {
	p.Helper()
	p.eventually(fmt.Sprintf("the table is %+v", want), func() (bool, string) {
		got := p.grid()
		return got == want, fmt.Sprintf("%+v", got)
	})
}

// Going back restores a list as it was left: with the rows that had been loaded, the same scroll position, the same row
// selected and the focus in the table. The link from a batch up to the list does the same. An address that is opened
// anew begins at the top.
func TestBackToWhereTheBatchesWere(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.multiplyBatch(tenant.upload(tenant.generate(3, 0), "--name", "batch"), 700)
	p := tenant.open("/batches?search=batch")
	p.waitForText("200 batches loaded")
	evaluate[any](p, `document.querySelector("[role=grid]").focus()`)
	p.press("j", "End")
	p.waitForText("400 batches loaded")
	p.press("PageUp", "k")
	was := p.grid()
	if was.Top == 0 || was.Selected == "" || !was.HasFocus {
		t.Fatalf("the table is %+v before a batch is opened", was)
	}
	p.press("Enter")
	p.waitForHeading(was.Selected)
	p.back()
	p.waitForGrid(was)
	p.press("Enter")
	p.waitForHeading(was.Selected)
	p.click("link", "Batches", p.waitFor("main", ""))
	p.waitForAddress("/batches?search=batch")
	p.waitForGrid(was)
	p.press("j", "Enter")
	p.waitForHeading("batch")
	p.click("link", "Batches", p.waitFor("navigation", "Areas"))
	p.waitForAddress("/batches")
	p.waitForText("200 batches loaded")
	if now := p.grid(); now.Top != 0 {
		t.Errorf("the list that was opened anew is %+v, want its top", now)
	}
}

// importEntities imports compliant entities with the IDs "customer 0000" and so on.
func (n *tenant) importEntities(count int) {
	n.Helper()
	var lines strings.Builder
	for i := range count {
		fmt.Fprintf(&lines, `{"id":"customer %04d","status":"Compliant"}`+"\n", i)
	}
	n.admin(nil, "entities", "import", "--tenant", n.id, n.file("entities.jsonl", lines.String()))
}

// Thousands of entities are loaded as they are scrolled to, of which only those in view are in the document.
func TestThousandsOfEntities(t *testing.T) {
	t.Parallel()
	const entities, maxRows = 3000, 60
	tenant := newTenant(t)
	tenant.importEntities(entities)
	p := tenant.open("/entities")
	p.waitForText("200 entities so far")
	evaluate[any](p, `document.querySelector("[role=grid]").focus()`)
	for p.grid().Rows <= entities {
		rows := p.grid().Rows
		p.press("End")
		p.eventually("more entities", func() (bool, string) {
			return p.grid().Rows > rows, fmt.Sprintf("there are %d rows", rows)
		})
	}
	p.waitForText("3,000 entities")
	p.press("End")
	p.waitFor("row", "customer 2999")
	if rows := evaluate[int](p, `document.querySelectorAll(".table-row").length`); rows > maxRows {
		t.Errorf("%d rows are in the document, want at most %d", rows, maxRows)
	}
	p.checkAccessible()
	p.press("Home", "Enter")
	p.waitForHeading("customer 0000")
}

// Back to a list that was loaded in pages shows it as it was, and what has changed meanwhile.
func TestBackToWhereTheEntitiesWere(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.importEntities(450)
	p := tenant.open("/entities")
	p.waitForText("200 entities so far")
	evaluate[any](p, `document.querySelector("[role=grid]").focus()`)
	p.press("j", "End")
	p.waitForText("400 entities so far")
	p.press("PageUp")
	was := p.grid()
	p.press("Enter")
	p.waitForHeading(was.Selected)
	tenant.admin(nil, "entities", "import", "--tenant", tenant.id,
		tenant.file("changed.jsonl", fmt.Sprintf(`{"id":%q,"status":"ClientOffboarded"}`+"\n", was.Selected)))
	p.back()
	p.waitFor("row", "Offboarded")
	p.waitForGrid(was)
	p.press("End")
	p.waitForText("450 entities")
}

// A page that is longer than the window is where it was after a reload, and after Back from another page.
func TestPageStaysWhereItWasScrolled(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	id := tenant.upload(tenant.generate(300, 0.2), "--max-rejected", "100%")
	p := tenant.open("/batches/" + id)
	p.waitForText("1 to 25 of")
	top := func() int { return evaluate[int](p, `Math.round(scrollY)`) }
	evaluate[any](p, `scrollTo(0, document.body.scrollHeight)`)
	want := top()
	stays := func(after string) {
		p.Helper()
		p.waitForText("1 to 25 of")
		p.eventually("the page is scrolled as before "+after, func() (bool, string) {
			return top() == want, fmt.Sprintf("to %d, want %d", top(), want)
		})
	}
	p.reload()
	stays("a reload")
	evaluate[any](p, `document.querySelector("nav a[href='/policies']").click()`) // a click of the test would scroll
	p.waitForHeading("Policies")
	difftest.Equal(t, "another page begins at", 0, top())
	p.back()
	stays("going back")
}

// An address that changes as soon as a page is there is the one that the page shows.
func TestAddressChangesAtOnce(t *testing.T) {
	t.Parallel()
	p := newTenant(t).open("/entities")
	p.waitForHeading("Entities")
	evaluate[any](p, `(() => {
		const observer = new MutationObserver(() => {
			if (document.querySelector("h1")?.textContent !== "Batches") return;
			observer.disconnect();
			history.replaceState(history.state, "", "/batches?search=november");
			dispatchEvent(new PopStateEvent("popstate"));
		});
		observer.observe(document.body, {childList: true, subtree: true, characterData: true});
	})()`)
	p.click("link", "Batches", p.waitFor("navigation", "Areas"))
	p.waitForHeading("Batches")
	p.eventually("the field has the search of the address", func() (bool, string) {
		return evaluate[bool](p, `[...document.querySelectorAll("input")].some(e => e.value === "november")`),
			p.address()
	})
}

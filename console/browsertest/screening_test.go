package browsertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
)

// A name is tried while it is typed, and each hit says which words met.
func TestNameIsTried(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.importSampleList()
	service := tenant.withGate()
	p := tenant.open("/screening/name")
	p.waitForHeading("Try a name")
	p.click("searchbox", "Full name")
	p.typeText("Anatolij Welkanow")
	p.waitForText("1 hit")
	hit := p.waitFor("region", "The selected hit")
	p.waitFor("heading", "Anatoly Borisovich Velkanov", hit)
	p.waitForText("Welkanow sounds alike 95% VELKANOV")
	p.checkAccessible()
	p.reload()
	p.waitForText("Welkanow sounds alike 95% VELKANOV")
	p.checkNotInHistory("elkan")
	p.click("DisclosureTriangle", "What the threshold")
	p.waitForText("False hits of 100,000 names that are not")

	service.cutOff()
	p.expect("status of 50")
	p.fill("searchbox", "Full name", "Anatolij Borisovich Welkanow")
	p.waitFor("button", "Try again")
	service.letThrough()
	p.click("button", "Try again")
	p.waitForText("Borisovich exact Borisovich")
	p.fill("textbox", "Country", "Peru")
	p.fill("spinbutton", "Threshold", "50")
	p.waitForText("differs, −20")
	p.checkAccessible()
}

// What is typed into a field for a search while the page takes over what was typed before is not lost.
func TestTypingOvertakesSearch(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.importList("own", listed{id: "1", name: "Ivan Petrov"})
	p := tenant.open("/screening/name")
	p.waitFor("searchbox", "Full name")
	evaluate[any](p, `new Promise(done => {
		const field = document.querySelector("[data-search]");
		const type = more => {
			field.value += more;
			field.dispatchEvent(new InputEvent("input", {bubbles: true}));
		};
		addEventListener("sluice:address", () => {
			type(" Pe");
			requestAnimationFrame(() => requestAnimationFrame(() => { type("trov"); done(true); }));
		}, {once: true});
		type("Ivan");
	})`)
	p.waitForText("1 hit")
	difftest.Equal(t, "the field", "Ivan Petrov", p.waitFor("searchbox", "Full name").value)
}

// checkNotInHistory checks that no part of a name is in the address or in the title of the window, because the
// browser's history keeps both.
func (p *tab) checkNotInHistory(name string) {
	p.Helper()
	if listed := p.address() + " " + evaluate[string](p, `document.title`); strings.Contains(listed, name) {
		p.Errorf("the browser's history has %q: %s", name, listed)
	}
}

// A match is resolved by the keyboard alone: one key chooses what it is, Enter confirms, and the next one is selected.
func TestMatchIsResolvedByKeyboard(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.importList("own", listed{id: "1", name: "Ivan Petrov", born: "1968"}, listed{id: "2", name: "Iwan Petrow"})
	batch := tenant.screen("j", screened{"e", "Ivan Petrov", "17/03/1968"})
	p := tenant.open("/screening/" + batch)
	p.waitForHeading("Screening of Ivan Petrov")
	p.waitForText("2 matches, 2 unresolved")
	p.waitFor("heading", "Ivan Petrov", p.waitFor("region", "The selected match"))
	p.waitUntilTextGone("(reading)")
	p.checkAccessible()
	p.checkScreenshot("workbench")

	p.press("j")
	p.waitFor("heading", "Iwan Petrow", p.waitFor("region", "The selected match"))
	p.waitForText("Petrov sounds")
	p.press("k", "n")
	p.waitForFocus("textbox", "Reason")
	p.typeText("Another mother")
	p.press("Enter")
	p.waitForText("Ivan Petrov: No Match. 1 match left unresolved.")
	p.waitFor("heading", "Iwan Petrow", p.waitFor("region", "The selected match"))
	p.press("m")
	p.waitForFocus("textbox", "Reason")
	p.typeText("Same person")
	p.press("Enter")
	p.waitForText("All matches here are resolved.")

	for id, want := range map[string]string{"own:1": "No Match Another mother", "own:2": "Match Same person"} {
		if m := tenant.matches(batch, "e")[id]; m.Reason == nil || m.Status+" "+*m.Reason != want {
			t.Errorf("%s is %+v, want %s", id, m, want)
		}
	}
	p.reload()
	p.waitForText("2 matches, 0 unresolved")
	p.click("button", "Close the batch")
	p.click("button", "Close the batch", p.waitFor("dialog", "Close the batch"))
	p.waitForText("The batch is closed")
	p.checkAccessible()
}

// Names stand whole where they are compared: neither cut nor broken within a word.
func TestNamesAreShownWhole(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	const name = "Abdulrahman Alqahtani Ibn Velkanov"
	tenant.importList("own", listed{id: "1", name: strings.ToUpper(name)})
	one := tenant.screen("one", screened{"e", name, ""})
	two := tenant.screen("two", screened{"e", name, ""}, screened{"f", "Nobody Else", ""})
	p := tenant.open("/")
	for _, path := range []string{"/screening/" + one, "/screening/" + two, "/screening/name"} {
		p.goTo(path)
		if path == "/screening/name" {
			p.fill("searchbox", "Full name", name)
		}
		p.waitForText("Alqahtani exact ALQAHTANI")
		for _, width := range []int64{1280, 1440, 1680} {
			p.resize(width, height)
			difftest.Equal(t, fmt.Sprintf("what is cut or broken on %s at %d", path, width), "", evaluate[string](p,
				`[...document.querySelectorAll("[aria-label=Matches] .cell, [aria-label=Hits] .cell, .words-table td")].
				filter(e => {
					const range = document.createRange();
					range.selectNodeContents(e);
					return e.scrollWidth > e.clientWidth ||
						e.matches(".words-table :not(:nth-child(2))") && range.getClientRects().length > 1;
				}).map(e => e.innerText).join()`))
		}
	}
}

// All matches that the filter shows are resolved, over pages of the interface and requests, and exported; names of the
// list that are meant to be markup or formulas stay text.
func TestAllMatchesOfTheFilterAreResolved(t *testing.T) {
	t.Parallel()
	const hostile = `Anatoli Welkanov <img src=x onerror=alert(1)>`
	tenant := newTenant(t)
	var many []listed
	for i := range 101 {
		many = append(many, listed{id: fmt.Sprint(i), name: "Anatoli Welkanov", born: fmt.Sprint(1800 + i)})
	}
	tenant.importList("many", many...)
	tenant.importList("few", listed{id: "=1+1", name: hostile, aliases: []string{"\u202eAnatoli Welkanov",
		strings.Repeat("a", 200)}}, listed{id: "2", name: "Anatoli Welkanov", aliases: []string{"@SUM(1)"}})
	batch := tenant.screen("j", screened{"e", "Anatoli Welkanov", ""}, screened{"f", "=Anatoli Welkanov", ""},
		screened{"g", "Nobody", ""})
	p := tenant.open("/screening/" + batch + "?scope=all")
	p.waitForHeading("Screening of 3 entities")
	p.waitForText("206 matches, 206 unresolved")
	p.waitUntilTextGone("(reading)")
	p.choose("List", "few")
	p.waitForText("4 of 206 matches, 4 unresolved")
	p.fill("searchbox", "Name or entry", "onerror")
	p.waitForText("2 of 206 matches, 2 unresolved")
	p.checkNotInHistory("onerror")
	p.waitFor("heading", hostile, p.waitFor("region", "The selected match"))
	p.waitForText("⟨U+202E⟩Anatoli Welkanov")
	p.checkAccessible()
	name, content := p.download(func() { p.click("button", "CSV") })
	difftest.Equal(t, "the file is named", "screening-"+batch+".csv", name)
	for _, want := range []string{`"few:=1+1"`, `"` + hostile + `"`, `"'=Anatoli Welkanov"`} {
		if !strings.Contains(string(content), want) {
			t.Errorf("the CSV has no %s: %s", want, content)
		}
	}
	p.fill("searchbox", "Name or entry", "")
	p.choose("List", "many")
	p.waitForText("202 of 206 matches, 202 unresolved")
	p.reload()
	p.waitForText("202 of 206 matches, 202 unresolved")
	p.press("a")
	dialog := p.waitFor("dialog", "Resolve all that the filter shows")
	p.waitForFocus("textbox", "Reason")
	p.waitForText("202 matches of 2 entities get the same status and reason. Now: 202 Unresolved.")
	p.checkAccessible()
	p.typeText("Other years")
	p.click("button", "Resolve 202 matches", dialog)
	p.waitForText("202 of 202 matches resolved.")
	p.click("button", "Back to the matches")
	p.waitForText("202 of 206 matches, 0 unresolved")
	resolved := 0
	for id, m := range tenant.matches(batch, "e") {
		if isMany := strings.HasPrefix(id, "many:"); isMany != (m.Status == "No Match") {
			t.Errorf("%s is %+v", id, m)
		} else if isMany {
			resolved++
		}
	}
	difftest.Equal(t, "matches are resolved", 101, resolved)
	p.waitUntilTextGone("(partial)")
	_, content = p.download(func() { p.click("button", "JSON") })
	var exported struct {
		Complete bool
		Matches  []matchState
	}
	if err := json.Unmarshal(content, &exported); err != nil || !exported.Complete || len(exported.Matches) != 202 ||
		exported.Matches[0].Status != "No Match" {
		t.Errorf("%v: the JSON has %d matches, complete %v", err, len(exported.Matches), exported.Complete)
	}
}

// Whether an entity matters is assessed and escalated, with a document and a link as evidence; its batches are its
// history.
func TestEntityIsAssessed(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.importList("own", listed{id: "1", name: "Ivan Petrov"})
	batch := tenant.screen("j", screened{"e", "Ivan Petrov", ""})
	p := tenant.open("/screening/" + batch + "?view=materiality")
	p.waitForHeading("Screening of Ivan Petrov")
	p.choose("Sanctions", "Material")
	p.fill("textbox", "Jurisdictions of Sanctions", "RU, BY")
	p.fill("textbox", "Rationale", "On the list")
	p.click("button", "Save the assessment")
	p.waitForText("Outcome: Material by client")
	p.fill("textbox", "ID of the team", "0197b0c4-52a1-7c3e-9d2f-6a1b3c5d7e90")
	p.fill("textbox", "Comment", "Who knows him?")
	p.click("button", "Escalate to the team")
	p.waitForText("Who knows him?")
	p.checkAccessible()
	p.click("button", "Take the escalation back")
	p.waitFor("heading", "Escalate")

	p.click("link", "Documents", p.waitFor("navigation", "About the entity"))
	p.setFiles("File to upload", tenant.file("article.pdf", "%PDF-1.4 words"))
	p.waitForText("article.pdf evidence Completed")
	p.fill("textbox", "Or a link", "https://news.example.com/petrov.html")
	p.click("button", "Add the link")
	p.waitFor("link", "Open the link")
	p.click("button", "Make a download link")
	p.waitFor("link", "Download")
	p.checkAccessible()

	p.back()
	p.waitForText("Outcome: Material by client")
	p.goTo("/screening/" + batch + "?view=history")
	p.waitForText("No batch with this entity was closed yet")
	p.waitForText(batch + " (this)")
	p.checkAccessible()
}

// A batch is found by what it is about and remembered by its ID; a search that has failed says why and is run again.
func TestScreeningIsFound(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	p := tenant.open("/screening")
	p.waitForHeading("Screening")
	p.waitForText("No batch was opened in this browser yet")
	p.click("button", "Screen an entity")
	dialog := p.waitFor("dialog", "Screen an entity")
	p.waitForFocus("textbox", "Full name")
	p.typeText("Ivan <b>Petrov")
	p.fill("textbox", "Journey", "a/b?c", dialog)
	p.fill("textbox", "Process", "onboarding", dialog)
	p.checkAccessible()
	p.click("button", "Screen it", dialog)
	p.waitForHeading("Screening of Ivan <b>Petrov")
	p.waitForText("No watchlist was imported that could be searched.")
	p.checkAccessible()
	tenant.importList("own", listed{id: "1", name: "Ivan Petrov"})
	p.click("button", "Run it again")
	p.waitForText("1 match, 1 unresolved")

	p.click("link", "Find another")
	p.waitForText("Opened last in this browser")
	p.waitForText("Ivan <b>Petrov")
	p.fill("searchbox", "Journey ID", "a/b?c")
	p.waitFor("region", "Batches")
	p.checkAccessible()
	p.waitForText("Search Complete")
	p.expect("status of 404")
	p.fill("searchbox", "Process", "other")
	p.waitForText("No such batch")
	p.fill("searchbox", "Process", "")
	p.waitForText("Search Complete")
	p.click("link", "-", p.waitFor("region", "Batches"))
	p.waitForHeading("Screening of Ivan <b>Petrov")
}

// What cannot be resolved is said, with its reason: here the batch is overridden while somebody decides.
func TestFailedResolutionsAreNamed(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	var many []listed
	for i := range 60 {
		many = append(many, listed{id: fmt.Sprint(i), name: "Ivan Petrov"})
	}
	tenant.importList("own", many...)
	batch := tenant.screen("j", screened{"e", "Ivan Petrov", ""})
	p := tenant.open("/screening/" + batch + "?status=Unresolved")
	p.waitForText("60 matches, 60 unresolved")
	p.press("a")
	p.waitForFocus("textbox", "Reason")
	p.typeText("Nobody")
	tenant.screen("j", screened{"e", "Ivan Petrov", ""})
	p.expect("status of 400")
	p.press("Enter")
	p.waitForText("0 of 60 matches resolved, 50 failed, 10 not tried.")
	p.waitForText("The batch is not open any more.")
	p.checkAccessible()
	p.press("Escape")
	p.waitUntilGone("dialog", "Resolve all")
	p.waitForText("60 matches, 60 unresolved")
	p.click("button", "Read again")
	p.waitForText("Overridden")
	p.waitUntilGone("button", "Resolve all")
}

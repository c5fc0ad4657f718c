package browsertest

import (
	"strings"
	"testing"
)

// Without a pointer: an entity is screened, its matches are gone through, narrowed and resolved together, and what is
// about the entity is looked at.
func TestScreeningByKeyboard(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.importList("own", listed{id: "1", name: "Ivan Petrov"}, listed{id: "2", name: "Iwan Petrow"},
		listed{id: "3", name: "Ivan Petrov"})
	p := tenant.open("/screening")
	p.waitForHeading("Screening")
	p.tabTo("button", "Screen an entity")
	p.press("Enter")
	p.waitForFocus("textbox", "Full name")
	p.typeText("Ivan Petrov")
	p.tabTo("textbox", "Journey")
	p.typeText("j")
	p.press("Enter")
	p.waitForHeading("Screening of Ivan Petrov")
	p.waitForText("3 matches, 3 unresolved")
	p.waitUntilTextGone("(reading)")

	p.press("?")
	p.waitForText("Decide: No Match")
	p.press("Escape")
	p.waitUntilGone("dialog", "Keys")
	p.tabTo("searchbox", "Name or entry")
	p.typeText("Iwan")
	p.waitForText("1 of 3 matches, 1 unresolved")
	p.tabTo("button", "Resolve all shown")
	p.press("Enter")
	p.waitForFocus("textbox", "Reason")
	p.press("Escape")
	p.waitUntilGone("dialog", "Resolve all")
	p.waitForFocus("grid", "Matches")
	p.press("Enter") // from the list to the decision
	p.waitForFocus("button", "Match")
	p.press("Escape") // and back
	p.waitForFocus("grid", "Matches")
	p.press("n")
	p.waitForFocus("textbox", "Reason")
	p.typeText("Another name")
	p.press("Enter")
	p.waitForText("Iwan Petrow: No Match. 2 matches left unresolved.")
	p.reload()
	p.waitForText("1 of 3 matches, 0 unresolved")
	p.waitUntilTextGone("(reading)")
	p.waitForText("Another name")

	p.tabTo("link", "Materiality")
	p.press("Enter")
	p.waitForText("Outcome: not assessed")
	p.tabTo("combobox", "Sanctions")
	p.press("M")
	p.eventually("jurisdictions can be written", func() (bool, string) {
		return p.waitFor("textbox", "Jurisdictions of Sanctions").states["disabled"] != "true", "the field is disabled"
	})
	p.tabTo("textbox", "Jurisdictions of Sanctions")
	p.typeText("RU")
	p.press("Enter")
	p.waitForText("Outcome: Material by client")
	p.tabBackTo("link", "Documents") // from the field, which keeps the focus, to the tabs
	p.press("Enter")
	p.waitForText("No document")
	p.tabTo("textbox", "Or a link")
	p.typeText("https://news.example.com/a.html")
	p.press("Enter")
	p.waitFor("link", "Open the link")
	p.tabTo("button", "Delete a.html")
	p.press("Enter")
	p.waitForFocus("button", "Go back")
	p.press("Tab", "Enter")
	p.waitForText("No document")
	p.waitForFocus("region", "Documents of the entity")
	p.tabBackTo("link", "History")
	p.press("Enter")
	p.waitForText("No batch with this entity was closed yet")
	p.back()
	p.waitForText("No document")
}

// A key that is pressed at the moment at which a dialog goes opens it again; the end of the first does not close it.
func TestKeyAtTheEndOfADialog(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.importList("own", listed{id: "1", name: "Ivan Petrov"})
	batch := tenant.screen("j", screened{"e", "Ivan Petrov", ""})
	p := tenant.open("/screening/" + batch)
	p.waitForText("1 match, 1 unresolved")
	p.waitUntilTextGone("(reading)")
	p.press("a")
	p.waitForFocus("textbox", "Reason")
	focusAtEnd := evaluate[string](p, `new Promise(done => {
		const dialog = document.querySelector("dialog[open]");
		dialog.addEventListener("close", () => requestAnimationFrame(() => done(document.activeElement.outerHTML)));
		new MutationObserver((_, observer) => {
			observer.disconnect();
			document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "a", bubbles: true}));
		}).observe(dialog, {childList: true});
		[...dialog.querySelectorAll("button")].find(button => button.innerText === "Go back").click();
	})`)
	if !strings.HasPrefix(focusAtEnd, "<input") {
		t.Errorf("after the key the focus is on %.200s, want the field of the dialog", focusAtEnd)
	}
	p.waitForFocus("textbox", "Reason")
	p.press("Escape")
	p.waitForFocus("grid", "Matches")
}

// Without a pointer: a name is tried, and its hits are gone through.
func TestNameByKeyboard(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.importList("own", listed{id: "1", name: "Ivan Petrov"}, listed{id: "2", name: "Iwan Petrow"})
	p := tenant.open("/screening")
	p.waitForHeading("Screening")
	p.tabTo("link", "Try a name")
	p.press("Enter")
	p.waitForHeading("Try a name")
	p.press("/")
	p.waitForFocus("searchbox", "Full name")
	p.typeText("Ivan Petrov")
	p.waitForText("2 hits")
	p.waitFor("heading", "Ivan Petrov", p.waitFor("region", "The selected hit"))
	p.tabTo("grid", "Hits")
	p.press("j")
	p.waitFor("heading", "Iwan Petrow", p.waitFor("region", "The selected hit"))
	p.reload()
	p.waitFor("heading", "Iwan Petrow", p.waitFor("region", "The selected hit"))
	p.checkNotInHistory("Petro")
	p.tabTo("link", "Screening")
	p.press("Enter")
	p.waitForHeading("Screening")
	p.back()
	p.waitFor("heading", "Iwan Petrow", p.waitFor("region", "The selected hit"))
}

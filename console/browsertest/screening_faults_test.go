package browsertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
)

// manyPersons returns entries of one name, by their IDs.
func manyPersons(name string, n int) []listed {
	var all []listed
	for i := range n {
		all = append(all, listed{id: fmt.Sprint(i), name: name})
	}
	return all
}

// A batch that is too large for one answer is read in parts, and parts that are too large in smaller ones.
func TestLargeScreeningIsReadInParts(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.importList("own", manyPersons("Ivan Petrov", 30)...)
	batch := tenant.screen("j", screened{"e", "Ivan Petrov", ""}, screened{"f", "Nobody", ""})
	faults := tenant.withFaults()
	whole := faults.answer("^GET /screeningquery/api/v4/batch/"+batch+" ", fault{status: 413})
	parts := faults.answer(`^GET \S+/entity/e/match\?\S*limit=100\b`, fault{status: 413})
	p := tenant.open("/screening/" + batch)
	p.expect("status of 413")
	p.waitForHeading("Screening of 2 entities")
	p.waitForText("30 matches, 30 unresolved")
	p.waitUntilTextGone("(reading)")
	p.waitFor("heading", "Ivan Petrov", p.waitFor("region", "The selected match"))
	p.checkAccessible()
	faults.checkGiven(whole)
	faults.checkGiven(parts)
	p.goTo("/screening?by=batch&id=" + batch)
	p.waitForText("Ivan Petrov and 1 other")
	p.click("link", batch)
	p.waitForText("30 matches, 30 unresolved")
	p.waitUntilTextGone("(reading)")

	// One whose parts cannot be had either says so.
	all := faults.answer("^GET /screeningquery/api/v4/batch/"+batch+"/entity", fault{status: 413})
	p.click("button", "Read again")
	p.waitForText("Refused with 413 by the test.")
	p.waitForText("30 matches, 30 unresolved") // what was read before
	p.checkAccessible()
	faults.end(all)
	faults.end(whole)
	p.click("button", "Read again")
	p.waitUntilTextGone("Refused with 413")
}

// A service that is busy is asked again after the pause that it asks for, unless that is long.
func TestBusyServiceIsAskedAgain(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.importList("own", listed{id: "1", name: "Ivan Petrov"})
	batch := tenant.screen("j", screened{"e", "Ivan Petrov", ""})
	faults := tenant.withFaults()
	reading := faults.answer("^GET /screeningquery/api/v4/batch/"+batch+" ",
		fault{status: 429, retryAfter: 1, times: 1})
	matches := faults.answer(`^GET \S+/match\?`, fault{status: 503, times: 2})
	resolving := faults.answer(`^PUT \S+/matches `, fault{status: 429, retryAfter: 1, times: 2})
	p := tenant.open("/screening/" + batch)
	p.expect("status of (429|503)")
	p.waitForText("1 match, 1 unresolved")
	faults.checkPaused(reading)
	faults.checkPaused(matches)
	p.press("n")
	p.waitForFocus("textbox", "Reason")
	p.typeText("Another one")
	p.press("Enter")
	p.waitForText("All matches here are resolved.")
	faults.checkPaused(resolving)

	long := faults.answer(`^PUT \S+/matches `, fault{status: 429, retryAfter: 3600})
	p.press("m")
	p.waitForFocus("textbox", "Reason")
	p.typeText("The same one")
	p.press("Enter")
	p.waitForText("The service asks to wait 3,600 seconds.")
	p.waitForText("Request request-429, status 429")
	p.checkAccessible()
	faults.end(long)
	p.press("Enter")
	p.waitUntilTextGone("The service asks to wait")
	p.waitFor("region", "The selected match")
	p.eventually("the match is resolved", func() (bool, string) {
		m := tenant.matches(batch, "e")["own:1"]
		return m.Status == "Match" && m.Reason != nil && *m.Reason == "The same one", fmt.Sprintf("%+v", m)
	})
}

// While some of the matches cannot be read, the page, what it resolves and what it exports say that they are partial.
func TestPartialScreeningSaysSo(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.importList("own", manyPersons("Ivan Petrov", 3)...)
	batch := tenant.screen("j", screened{"e", "Ivan Petrov", ""}, screened{"f", "Petrov Ivan", ""})
	faults := tenant.withFaults()
	whole := faults.answer("^GET /screeningquery/api/v4/batch/"+batch+" ", fault{status: 500})
	second := faults.answer(`^GET \S+/entity/f/match\?`, fault{status: 500})
	p := tenant.open("/screening/" + batch + "?scope=all&min=50")
	p.expect("status of 500")
	p.waitForText("Refused with 500 by the test.")
	p.waitForText("Request request-500, status 500")
	p.checkAccessible()
	faults.end(whole)
	p.click("button", "Try again")
	p.waitForText("3 matches, 3 unresolved")
	const missing = "Matches of 1 of 2 entities are not all read."
	p.waitForText(missing)
	p.checkAccessible()

	name, content := p.download(func() { p.click("button", "CSV (partial)") })
	difftest.Equal(t, "the file is named", "screening-"+batch+"-partial.csv", name)
	lines := strings.Split(strings.TrimSpace(string(content)), "\r\n")
	if len(lines) != 4 || !strings.HasSuffix(lines[0], `,"export"`) || slices.ContainsFunc(lines[1:],
		func(line string) bool { return !strings.HasSuffix(line, `,"partial"`) }) {
		t.Errorf("the CSV does not say in each line that it is partial: %s", content)
	}
	type export struct {
		Complete bool
		Missing  *string
		Filter   map[string]string
		Matches  []matchState
	}
	readExport := func(button string) (e export) {
		t.Helper()
		_, content := p.download(func() { p.click("button", button) })
		if err := json.Unmarshal(content, &e); err != nil {
			t.Fatalf("%v: %s", err, content)
		}
		return e
	}
	if e := readExport("JSON (partial)"); e.Complete || e.Missing == nil || *e.Missing != missing ||
		len(e.Matches) != 3 || e.Filter["min"] != "50" {
		t.Errorf("the JSON is %+v, want 3 matches from 50 on, and what is missing", e)
	}
	p.press("a")
	p.waitForText(missing + " They are not among these.")
	p.press("Escape")

	faults.end(second)
	p.click("button", "Try again")
	p.waitForText("6 matches, 6 unresolved")
	p.waitUntilTextGone("(partial)") // until the last page of the matches has come
	if e := readExport("JSON"); !e.Complete || e.Missing != nil || len(e.Matches) != 6 {
		t.Errorf("the JSON is %+v, want 6 matches and nothing missing", e)
	}
}

// Of many matches over several requests, those that the service refuses are named, and the others are resolved.
func TestSomeOfManyResolutionsFail(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.importList("own", manyPersons("Ivan Petrov", 120)...)
	batch := tenant.screen("j", screened{"e", "Ivan Petrov", ""})
	refused := tenant.matches(batch, "e")
	difftest.Equal(t, "matches", 120, len(refused))
	faults := tenant.withFaults()
	some := faults.answer(`^PUT \S+/matches .*(`+refused["own:60"].ID+"|"+refused["own:119"].ID+")",
		fault{status: 409})
	busy := faults.answer(`^PUT \S+/matches `, fault{status: 429, retryAfter: 1, times: 1})
	p := tenant.open("/screening/" + batch + "?status=Unresolved")
	p.expect("status of 4(09|29)")
	p.waitForText("120 matches, 120 unresolved")
	p.waitUntilTextGone("(reading)")
	p.press("a")
	dialog := p.waitFor("dialog", "Resolve all that the filter shows")
	p.waitForFocus("textbox", "Reason")
	p.waitForText("The service resolves at most 50 together, so this takes 3 requests.")
	p.typeText("Other years")
	p.press("Enter")
	p.waitForText("118 of 120 matches resolved, 2 failed.")
	p.waitForText("2 matches could not be resolved")
	p.waitForText("(own:60): Refused with 409 by the test. Request request-409")
	p.waitForText("(own:119): Refused with 409 by the test.")
	faults.checkPaused(busy)
	p.checkAccessible()
	p.click("button", "Back to the matches", dialog)
	p.waitUntilGone("dialog", "Resolve all")
	p.waitForText("2 of 120 matches, 2 unresolved")
	faults.end(some)
	p.press("a")
	p.waitForFocus("textbox", "Reason")
	p.typeText("Other years, too")
	p.press("Enter")
	p.waitForText("2 of 2 matches resolved.")
	for id, m := range tenant.matches(batch, "e") {
		if m.Status != "No Match" {
			t.Errorf("%s is %+v", id, m)
		}
	}
}

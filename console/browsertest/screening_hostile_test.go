package browsertest

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
)

// Whatever lists, clients and their users write about a screening is shown as text in the workbench, markup included,
// and wraps in a narrow window.
func TestHostileScreening(t *testing.T) {
	t.Parallel()
	const (
		name   = `Ivan Petrov ` + hostile
		turned = "\u202eIvan Petrov"
		shown  = "⟨U+202E⟩Ivan Petrov" // what turns the direction of texts is shown, not done
	)
	endless := strings.Repeat("W", 200)
	tenant := newTenant(t)
	tenant.importList("own", listed{
		id: hostile, name: name, aliases: []string{turned, endless, `"><script>alert(1)</script>`},
	})
	batch := tenant.screen(`<b>journey`+endless, screened{"e/f?g=" + hostile, name, ""},
		screened{"second", turned + " " + endless, ""})
	first := tenant.matches(batch, "e%2Ff%3Fg=%3Cimg%20src=x%20onerror=alert%281%29%3E")
	if len(first) != 1 {
		t.Fatalf("the matches are %+v, want one", first)
	}
	reason := "javascript:alert(1) " + hostile + endless
	for id, m := range first {
		body := errtest.Must(json.Marshal(map[string]any{"data": []any{map[string]any{"entityId": "e/f?g=" + hostile,
			"matches": []any{map[string]string{"matchId": m.ID, "status": "Match", "reason": reason,
				"comments": hostile + endless}}}}}))(t)
		tenant.call("PUT", "/screeningcommand/api/v3/batch/"+batch+"/matches", string(body), nil)
		if id != "own:"+hostile {
			t.Errorf("the entry is %q", id)
		}
	}
	p := tenant.open("/screening/" + batch)
	p.waitForHeading("Screening of 2 entities")
	p.waitForText("1 match, 0 unresolved")
	p.waitUntilTextGone("(reading)")
	for _, text := range []string{name, "own:" + hostile, reason, shown, `"><script>alert(1)</script>`, "<b>journey"} {
		p.checkIsText(text)
	}
	p.checkAccessible()
	p.choose("Of", "all entities")
	p.waitFor("columnheader", "Entity", p.waitFor("grid", "Matches"))
	p.press("J")
	p.checkIsText(shown + " " + endless)
	p.checkAccessible()

	p.goTo("/screening/" + batch + "?view=documents")
	p.waitForText("No document")
	goOn := p.stopUploadsAtQuarter()
	p.setFiles("File to upload", tenant.file(hostile+endless[:100]+".pdf", "%PDF-1.4 words"))
	p.waitForText("Sending 25%")
	p.checkAccessible()
	goOn()
	p.checkIsText(hostile + endless[:100] + ".pdf")
	p.fill("textbox", "Or a link", "javascript:alert(1)")
	if e := p.waitFor("button", "Add the link"); e.states["disabled"] != "true" {
		t.Error("a link that is a script can be added")
	}
	p.checkAccessible()
	p.goTo("/screening/" + batch + "?view=history")
	p.waitForText(batch + " (this)")
	p.checkAccessible()

	p.goTo("/screening/name")
	p.fill("searchbox", "Full name", name)
	p.waitForText("1 hit")
	p.checkIsText(`"><script>alert(1)</script>`)
	p.checkAccessible()
	p.goTo("/screening")
	p.checkIsText(name + " and 1 other")
	p.checkAccessible()
}

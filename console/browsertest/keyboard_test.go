package browsertest

import (
	"fmt"
	"strings"
	"testing"
)

// tabTo presses Tab until the one element with a role and a name has the focus, which must be visible to the eye, too.
func (p *tab) tabTo(role, name string) { p.Helper(); p.pressTo("Tab", role, name) }

// tabBackTo is tabTo the other way.
func (p *tab) tabBackTo(role, name string) { p.Helper(); p.pressTo("Shift+Tab", role, name) }

// pressTo presses a key that moves the focus until the one element with a role and a name has it.
func (p *tab) pressTo(key, role, name string) {
	p.Helper()
	var seen []string
	for range 100 {
		p.press(key)
		e := p.focused()
		seen = append(seen, e.role+" "+e.name)
		if e.role != role || !strings.Contains(e.name, name) {
			continue
		}
		style := evaluate[string](p, `(() => {
			const style = getComputedStyle(document.activeElement);
			return style.outlineStyle + " " + style.outlineWidth;
		})()`)
		if strings.HasPrefix(style, "none") || strings.HasSuffix(style, " 0px") {
			p.Errorf("the focus on %s %q has the outline %s: it cannot be seen", role, name, style)
		}
		return
	}
	p.Fatalf("%s does not lead to %s %q, but to %q", key, role, name, seen)
}

// Without a pointer: from the first address over the list of batches to the errors of one, by code, and back.
func TestKeyboardFromFirstAddressToErrors(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.upload(tenant.generate(200, 0.2), "--name", "monday")
	tenant.upload(tenant.generate(5, 0), "--name", "sunday")
	p := tenant.open("/")
	p.waitForHeading("Overview")
	p.tabTo("link", "Batches")
	p.press("Enter")
	p.waitForHeading("Batches")
	p.waitFor("link", "sunday")
	p.press("/")
	p.waitForFocus("searchbox", "")
	p.typeText("mon")
	p.waitUntilGone("link", "sunday")
	p.tabTo("grid", "Batches")
	p.press("ArrowDown", "Enter")
	p.waitForHeading("monday")
	p.waitFor("list", "Errors by code")
	code := strings.Fields(p.findAll("button", "", p.waitFor("list", "Errors by code"))[0].name)[0]
	p.tabTo("button", code)
	p.press("Space")
	p.eventually("the address has the code", func() (bool, string) {
		return strings.Contains(p.address(), "code="+code), p.address()
	})
	p.waitFor("heading", fmt.Sprintf("Errors: %s", code))
	shown := p.address()
	p.reload()
	p.waitFor("heading", fmt.Sprintf("Errors: %s", code))
	p.back()
	p.eventually("the address has no code", func() (bool, string) {
		return !strings.Contains(p.address(), "code="), p.address()
	})
	p.forward()
	p.waitForAddress(shown)
	p.back()
	p.waitUntilGone("heading", fmt.Sprintf("Errors: %s", code))
	p.back()
	p.waitForHeading("Batches")
	p.waitFor("link", "monday")
	p.waitUntilGone("link", "sunday") // what was searched for is part of the address
}

package openapi_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// A browser fetches nothing for the page, and no text inside it ends a script early.
func TestReferenceIsOnePage(t *testing.T) {
	d := load(t)
	var page bytes.Buffer
	errtest.Fatal(t, d.WriteHTML(
		&page,
		[]byte(`window.Redoc = "</script> https://cdn.redoc.ly/redoc/logo-mini.svg"`),
	))
	text := page.String()
	difftest.Equal(t, "ends of scripts", 2, strings.Count(text, "</script"))
	if elsewhere := regexp.MustCompile(`(src|href)="https?:[^"]*"|cdn\.`).FindAllString(text, -1); elsewhere != nil {
		t.Errorf("the page fetches %v, want nothing", elsewhere)
	}
	for _, o := range d.Operations {
		difftest.Contains(t, fmt.Sprintf("the page has no operation %s", o), text, `"operationId":"`+o.ID+`"`)
		for _, p := range slices.Concat(o.Permissions...) {
			difftest.Contains(t, fmt.Sprintf("the page does not name the permission %s of %s", p, o), text, "`"+p+"`")
		}
	}
	for _, part := range []string{"## Getting started", "Librairie du Coin", `"x-codeSamples"`} {
		if !strings.Contains(text, part) {
			t.Errorf("the page does not have %q", part)
		}
	}
	if first, last := strings.Index(
		text,
		`"/oauth2/token"`,
	), strings.Index(
		text,
		`"/.well-known/jwks.json"`,
	); first > last {
		t.Errorf("the first path is at %d and the last at %d, want the order in which they are written", first, last)
	}
}

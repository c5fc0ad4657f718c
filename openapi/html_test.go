package openapi_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// The page fetches nothing, and no text in it can end a script before its end.
func TestTheReferenceIsOnePage(t *testing.T) {
	d := load(t)
	var page bytes.Buffer
	if err := d.WriteHTML(&page, []byte(`window.Redoc = "</script> https://cdn.redoc.ly/redoc/logo-mini.svg"`)); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	if n := strings.Count(text, "</script"); n != 2 {
		t.Errorf("%d ends of scripts", n)
	}
	if elsewhere := regexp.MustCompile(`(src|href)="https?:[^"]*"|cdn\.`).FindAllString(text, -1); elsewhere != nil {
		t.Error(elsewhere)
	}
	for _, o := range d.Operations {
		if !strings.Contains(text, `"operationId":"`+o.ID+`"`) {
			t.Errorf("%s is not there", o)
		}
		for _, p := range o.Permissions {
			if !strings.Contains(text, "`"+p+"`") {
				t.Errorf("%s: %s is not there", o, p)
			}
		}
	}
	if first, last := strings.Index(text, `"/oauth2/token"`), strings.Index(text, `"/.well-known/jwks.json"`); first > last {
		t.Error("the paths are not in the order in which they are written")
	}
}

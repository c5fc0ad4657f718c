package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
)

const (
	entityCommand = "/entitydatacommand/api/v2/entity"
	entityQuery   = "/entitydataquery/api/v2"
	lightSearch   = entityQuery + "/drafts-in-scope/search-entity-drafts-light"
)

// platform calls a platform endpoint with the home's tenant header and returns the status and the data of the reply.
func (d *door) platform(method, path, body string) (int, json.RawMessage) {
	d.t.Helper()
	status, _, text := d.platformAs(d.home.TenantID, method, path, body)
	var envelope struct {
		Data     json.RawMessage `json:"data"`
		Messages []struct {
			Message   string `json:"message"`
			Type      string `json:"type"`
			ErrorCode string `json:"errorCode"`
		} `json:"messages"`
	}
	strict(d.t, text, &envelope)
	return status, envelope.Data
}

func (d *door) platformAs(tenant, method, path, body string) (int, http.Header, []byte) {
	d.t.Helper()
	req, err := http.NewRequest(method, d.home.APIURL+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+d.token)
	req.Header.Set("X-CORRELATION-ID", "walk")
	if tenant != "" {
		req.Header.Set("X-TENANT-ID", tenant)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return do(d.t, req)
}

// take makes a platform call that works and reads its data.
func (d *door) take(method, path, body string, into any) {
	d.t.Helper()
	status, data := d.platform(method, path, body)
	if status != http.StatusOK && status != http.StatusAccepted {
		d.t.Fatalf("%s %s: %d %s", method, path, status, data)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(data, into); err != nil {
		d.t.Fatalf("%v: %s", err, data)
	}
}

// An entity takes part in batches from the moment that its draft is verified, and not before; one token serves both.
func TestAnEntityIsOnboardedByItsDraft(t *testing.T) {
	d := enter(t, home)
	e := d.newEntity(`,"properties":{"legalEntityName":{"type":"Single","value":"ACME"}}`)
	if err := home.importEntities(onboarded()); err != nil {
		t.Fatal(err)
	}
	batch := func() []byte { return file(valid().with("sender", map[string]any{"by_external_id": e})) }
	if s := d.process("", batch()); s.Status != "VALIDATION_FAILED" {
		t.Errorf("before: %s", describe(s))
	}
	verify := entityCommand + "/" + e + "/draft/" + d.newDraft(e, uuid.NewString()) + "/verify"
	if s := d.process("", batch()); s.Status != "VALIDATION_FAILED" {
		t.Errorf("with a draft: %s", describe(s))
	}
	d.take("PUT", verify, `{"data":{"version":1}}`, nil)
	if s := d.process("", batch()); s.Status != "PROCESSED" {
		t.Errorf("verified: %s", describe(s))
	}
	if status, _ := d.platform("PUT", verify, `{"data":{"version":1}}`); status != http.StatusConflict {
		t.Errorf("a replay: %d", status)
	}
}

func TestThePlatformsCommonRules(t *testing.T) {
	d := enter(t, home)
	get := entityQuery + "/entity/" + uuid.NewString()
	for name, tt := range map[string]struct {
		tenant string
		status int
		says   string
	}{
		"right":        {home.TenantID, 404, "entity_not_found"},
		"no tenant":    {"", 400, "MissingTenantHeader"},
		"other tenant": {uuid.NewString(), 403, "TenantMismatch"},
	} {
		status, header, text := d.platformAs(tt.tenant, "GET", get, "")
		if status != tt.status || !bytes.Contains(text, []byte(tt.says)) || header.Get("X-Correlation-Id") != "walk" {
			t.Errorf("%s: %d %v %s", name, status, header, text)
		}
	}
	for _, body := range []string{`{}`, `{"data":null}`, `{"data":{"type":1}}`, `{"data":{"x":1}}`, `{"data":{"type":"` + strings.Repeat("x", 300) + `"}}`, `{`} {
		if status, data := d.platform("POST", entityCommand, body); status != 400 || !bytes.Contains(data, []byte("propertyName")) {
			t.Errorf("%s: %d %s", body, status, data)
		}
	}
	d.token = "x"
	if status, _, text := d.platformAs(home.TenantID, "GET", get, ""); !home.refused(status, t.Name()) {
		t.Errorf("a wrong token: %d %s", status, text)
	}
}

// Access layers are the client's; what is beyond them is not there.
func TestAccessLayers(t *testing.T) {
	ireland, spain := enterNew(t, home.TenantID, "--geographic", "Republic of Ireland"), enterNew(t, home.TenantID, "--geographic", "Spain")
	e := ireland.newEntity(`,"accessLayers":{"geographic":["Republic of Ireland"]}`)
	ireland.take("GET", entityQuery+"/entity/"+e, "", nil)
	spain.ends(404, "GET", entityQuery+"/entity/"+e, "")
}

package browsertest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// hostile is a name that would run a script if a page took it for markup.
const hostile = `<img src=x onerror=alert(1)>`

// quoted returns a text as JSON.
func quoted(text string) string {
	encoded, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string can be encoded
	}
	return string(encoded)
}

// checkIsText waits until the page shows a text that is not its own, and checks that nothing of it became markup.
func (p *tab) checkIsText(text string) {
	p.Helper()
	p.waitForText(text)
	found := evaluate[[]string](p, `[...document.querySelectorAll(
		"[onerror],[onload],[onclick],img[src=x],script:not([src]),a[href^='javascript' i]")]
		.map(e => e.outerHTML.slice(0, 200))`)
	for _, markup := range found {
		p.Errorf("%s has the markup %s", p.address(), markup)
	}
	p.reportComplaints()
}

// What tenants and their clients write is text on every page: names of batches, metadata, lines and what is wrong with
// them, webhooks, entities, documents, files, and what stands in the address.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	bad := strings.ReplaceAll(sampleLine, "ip_address_here", hostile)
	file := tenant.file("bad.jsonl", bad+"\n"+`{"`+hostile+`":`+"\n")
	batch := tenant.upload(file, "--name", hostile, "--metadata", "note="+hostile)
	journey := uuid.NewString()
	var entity, document, webhook struct{ ID string }
	tenant.call("POST", "/entitydatacommand/api/v2/entity", `{"data":{"type":"Company","targetEntity":"Client",
		"properties":{"legalEntityName":{"type":"Single","value":`+quoted(hostile)+`}}}}`,
		&struct{ Data any }{&entity})
	tenant.call("POST", "/entitydatacommand/api/v2/entity/"+entity.ID+"/draft",
		`{"data":{"journeyId":"`+journey+`"}}`, nil)
	tenant.call("POST", "/documentmanagementcommand/api/v2/documentmanagement/virtual", fmt.Sprintf(
		`{"data":{"fileName":%s,"entityId":%q,"documentURL":"https://example.com/?q=%%3Cimg"}}`, quoted(hostile),
		entity.ID),
		&struct{ Data any }{&document})
	tenant.call("POST", "/v1/webhooks",
		`{"url":"https://example.com/<img>","eventTypes":["*"],"name":`+quoted(hostile)+`}`, &webhook)

	p := tenant.open("/")
	p.expect("status of 40[04]") // names that nothing has
	for _, page := range []struct{ path, text string }{
		{"/batches", hostile},
		{"/batches/" + batch, hostile},
		{"/entities/" + entity.ID, hostile},
		{"/documents/" + document.ID, hostile},
		{"/webhooks", hostile},
		{"/webhooks/" + webhook.ID, hostile},
		{"/batches/" + url.PathEscape(hostile), ""},
		{"/batches?name=" + url.QueryEscape(hostile), ""},
		{"/entities/" + url.PathEscape(hostile), ""},
		{"/transactions/" + url.PathEscape(hostile), ""},
		{"/screening/" + url.PathEscape(hostile), ""},
		{"/policies/" + url.PathEscape(hostile), ""},
		{"/no/" + url.PathEscape(hostile), ""},
	} {
		p.goTo(page.path)
		p.waitForHeading("")
		p.checkIsText(page.text)
	}
	p.goTo("/upload")
	p.dropFiles("region", "Files to upload", tenant.file(hostile+".jsonl", bad+"\n"))
	p.checkIsText(hostile + ".jsonl")
	p.checkIsText(hostile + `"`) // the excerpt of the line
}

// sampleLine is a line with a fault that quotes it.
const sampleLine = `{"request_uuid":"1f0a8f4e-6f54-4d0a-8c6b-0d9a5c7b4e15","payment_external_id":"p",` +
	`"transaction_external_id":"t","sender":{"by_external_id":"customer-1"},"receiver":{"external_entity_type":` +
	`"unknown","unknown":{"external_id":"s","full_name":"S"}},"ip_address":"ip_address_here","modification":{` +
	`"external_id":"m","type":"settlement","amount":1,"currency":"EUR","created_at":"2025-11-25T14:03:21.512Z"}}`

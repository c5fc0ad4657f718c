package browsertest

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
)

// createEntity creates an entity with properties of the kind Single and returns its ID.
func (n *tenant) createEntity(properties ...string) string {
	n.Helper()
	var created struct{ Data struct{ ID string } }
	n.call("POST", "/entitydatacommand/api/v2/entity", fmt.Sprintf(
		`{"data":{"type":"Company","targetEntity":"Client","properties":{%s}}}`, singles(properties)), &created)
	return created.Data.ID
}

// singles returns properties, given as keys and values in turn, as members of JSON.
func singles(properties []string) string {
	var members []string
	for i := 0; i < len(properties); i += 2 {
		members = append(members, fmt.Sprintf(`%q:{"type":"Single","value":%q}`, properties[i], properties[i+1]))
	}
	return strings.Join(members, ",")
}

// beginDraft begins a draft of an entity that changes properties, and returns its ID.
func (n *tenant) beginDraft(entityID string, properties ...string) string {
	n.Helper()
	const journey = "d7a2b1c0-6e5f-4d3c-8b2a-1f0e9d8c7b14"
	var draft struct{ Data struct{ ID string } }
	path := "/entitydatacommand/api/v2/entity/" + entityID + "/draft"
	n.call("POST", path, `{"data":{"journeyId":"`+journey+`"}}`, &draft)
	n.call("PUT", path+"/"+draft.Data.ID,
		fmt.Sprintf(`{"data":{"version":1,"properties":{%s}}}`, singles(properties)), nil)
	return draft.Data.ID
}

// An entity is created by a form, gets a draft, which is compared with what is verified, and is verified.
func TestEntityIsVerified(t *testing.T) {
	t.Parallel()
	p := newTenant(t).open("/entities")
	p.waitForText("No entity yet")
	p.click("button", "Create an entity")
	p.fill("textbox", "Name", "Harbour & Quay Ltd")
	p.checkAccessible()
	p.click("button", "Create the entity")
	p.waitForHeading("Harbour & Quay Ltd")
	p.waitForText("Transactions may not name the entity.")
	p.click("button", "Begin a draft")
	p.click("button", "Begin the draft")
	p.waitForText("Nothing differs.")
	p.click("button", "Edit the draft")
	p.fill("textbox", "Property", "legalEntityName")
	p.fill("textbox", "Value", "Harbour & Quay Limited")
	p.press("Enter")
	p.waitForText("1 of 1 field differs.")
	p.waitForText("legalEntityName Harbour & Quay Ltd Harbour & Quay Limited changed")
	p.checkAccessible()
	address := p.address()
	p.goTo("/entities")
	p.waitForHeading("Entities")
	p.press("/")
	p.typeText("harb")
	p.press("Enter")
	p.waitForAddress("/entities?name=harb")
	p.waitForText("1 entity")
	p.checkAccessible()
	p.click("row", "Harbour & Quay Ltd")
	p.waitForHeading("Harbour & Quay Ltd")
	p.goTo(address)
	p.click("button", "Verify the draft")
	p.waitForText("1 field of Harbour & Quay Ltd will be as in the draft.")
	p.checkAccessible()
	p.click("button", "Verify the draft", p.waitFor("dialog", "Verify the draft?"))
	p.waitForHeading("Harbour & Quay Limited")
	p.waitForText("The draft is verified.")
	p.waitForText("Transactions may name the entity.")
	p.waitUntilGone("button", "Verify the draft")
}

// A draft is edited as JSON: what the browser and the service find wrong is shown at its place.
func TestDraftIsEditedAsJSON(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	id := tenant.createEntity("legalEntityName", "ACME Ltd", "country", "Ireland")
	draft := tenant.beginDraft(id, "city", "Dublin")
	p := tenant.open("/entities/" + id + "?draft=" + draft)
	p.click("button", "Edit the draft")
	p.click("button", "Edit all properties as JSON")
	p.fill("textbox", "Properties as JSON", "{\n  \"legalEntityName\": {\"type\": \"Single\", }\n}")
	p.click("button", "Save the draft")
	p.waitForText("Line 2, column 41: Here a key (or no comma before) is expected.")
	p.checkAccessible()
	p.expect("status of 400")
	p.fill("textbox", "Properties as JSON", `{
  "legalEntityName": {"type": "Single", "value": "ACME Limited"},
  "a.b": {"type": "Sing le"},
  "group": {"type": "Collection", "dataGroupId": "none"}
}`)
	p.click("button", "Save the draft")
	p.waitForText(`Line 3, column 11: properties.a.b.type: The type must be one of Single, Collection, Custom.`)
	p.waitForText(`Line 4, column 35: properties.group.dataGroupId: The value must be a UUID.`)
	p.click("button", "Line 4, column 35")
	p.waitForFocus("textbox", "Properties as JSON")
	p.fill("textbox", "Properties as JSON", `{"legalEntityName": {"type": "Single", "value": "ACME Limited"}}`)
	p.click("button", "Save the draft")
	p.waitForText("The draft is changed.")
	p.waitForText("country Ireland – removed")
	p.waitForText("2 of 2 fields differ.")
	p.click("button", "Reject the draft")
	p.click("button", "Reject the draft", p.waitFor("dialog", "Reject the draft?"))
	p.waitForText("The draft is rejected.")
}

// If two drafts change a property, the second one is verified only when somebody has decided.
func TestConflictOfDraftsIsDecided(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	id := tenant.createEntity("legalEntityName", "ACME Ltd")
	first := tenant.beginDraft(id, "legalEntityName", "First")
	second := tenant.beginDraft(id, "legalEntityName", "Second", "city", "Cork")
	p := tenant.open("/entities/" + id + "?draft=" + second)
	p.waitForText("legalEntityName ACME Ltd Second changed")
	tenant.call("PUT", "/entitydatacommand/api/v2/entity/"+id+"/draft/"+first+"/verify", `{"data":{"version":2}}`, nil)
	p.click("button", "Verify the draft")
	p.expect("status of 409")
	dialog := p.waitFor("dialog", "Verify the draft?")
	p.click("button", "Verify the draft", dialog)
	p.waitForText("Another draft has changed legalEntityName")
	p.waitForText("2 fields of First")
	p.checkAccessible()
	p.choose("legalEntityName was changed by another draft", "this draft", dialog)
	p.click("button", "Verify the draft", dialog)
	p.waitForHeading("Second")
}

// eicar is the EICAR test file, which every malware scanner knows.
const eicar = `X5O!P%@AP[4\PZX54(P^)7CC)7}` + `$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`

// An entity without a name is listed by its ID, once, whatever the width of the window is.
func TestEntityWithoutNameIsListedByItsID(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.admin(nil, "entities", "import", "--tenant", tenant.id,
		tenant.file("entities.jsonl", `{"id":"customer 1","status":"Compliant"}`))
	p := tenant.open("/entities")
	for width, want := range map[int64]string{width: "No name Compliant", 390: "customer 1 Compliant"} {
		p.resize(width, height)
		p.waitForText(want)
		difftest.Equal(t, fmt.Sprintf("times that the ID is shown at %d", width), 1,
			strings.Count(p.text(), "customer 1"))
	}
	p.checkAccessible()
}

// A document is checked before it is sent, followed to the end of its scan, and downloaded, archived, cloned and
// deleted.
func TestDocumentFromUploadToDeletion(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	p := tenant.open("/documents")
	p.waitForText("Which documents?")
	p.fill("searchbox", "ID of an entity", "customer 1")
	p.waitForAddress("/documents?entity=customer+1")
	p.waitForText("No document matches.")
	p.checkAccessible()
	p.setFiles("Files", tenant.file("bill.txt", "content"), tenant.file("run.exe", "MZ"), tenant.file("empty.pdf", ""))
	p.waitForText("run.exe: Files that end in .exe are not accepted.")
	p.waitForText("empty.pdf: The file is empty.")
	uploads := p.waitFor("region", "Uploads of documents")
	p.waitForText("bill.txt 7 B Completed")
	p.setFiles("Files", tenant.file("virus.zip", eicar))
	p.waitForText("virus.zip 68 B Infected")
	p.checkAccessible()
	p.waitForText("2 documents")
	p.choose("Status", "Completed")
	p.waitForText("1 document")
	p.click("link", "bill.txt", uploads)
	p.waitForHeading("bill.txt")
	p.click("button", "Make a download link")
	link := p.waitFor("link", "Download bill.txt")
	address, err := on[string](p, link, `function() { return this.rel + " " + this.target + " " + this.href }`)
	if err != nil || !strings.HasPrefix(address, "noopener noreferrer _blank http") ||
		!strings.Contains(address, "X-Amz-Signature=") {
		t.Errorf("the link is %q, %v", address, err)
	}
	p.checkAccessible()
	p.click("button", "Archive")
	p.fill("textbox", "Reason", "Replaced")
	p.press("Enter")
	p.waitForText("Archived because: Replaced")
	p.click("button", "Unarchive")
	p.waitForText("The document is back.")
	p.click("button", "Clone")
	p.fill("textbox", "ID of the entity", "customer 2")
	p.click("button", "Clone the document")
	p.waitForText("Cloned from")
	p.click("button", "Delete the document")
	p.waitForText("is deleted for good")
	p.checkAccessible()
	p.click("button", "Delete the document", p.waitFor("dialog", "Delete the document?"))
	p.waitForAddress("/documents?entity=customer+2")
	p.waitForText("No document matches.")
}

// A document is announced with its size: less than the size limit may await its scan, so one without a size is refused.
func TestDocumentIsAnnouncedWithItsSize(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.admin(nil, "tenant", "set", tenant.id, "unscanned_bytes=1000000")
	p := tenant.open("/documents?entity=customer+1")
	p.waitForText("No document matches.")
	p.setFiles("Files", tenant.file("bill.txt", "content"))
	p.waitForText("bill.txt 7 B Completed")

	tenant.importList("own", listed{id: "1", name: "Ivan Petrov"})
	p.goTo("/screening/" + tenant.screen("j", screened{"e", "Ivan Petrov", ""}) + "?view=documents")
	p.waitForText("No document")
	p.setFiles("File to upload", tenant.file("evidence.txt", "content"))
	p.waitForText("evidence.txt evidence Completed")
	p.setFiles("File to upload", tenant.file("empty.txt", ""))
	p.waitForText("The file is empty.")
}

// While a document is uploaded, its row says how much has gone; other pages can be shown meanwhile.
func TestDocumentUploadShowsItsProgress(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	p := tenant.open("/documents?entity=customer+1")
	p.waitForText("No document matches.")
	goOn := p.stopUploadsAtQuarter()
	p.setFiles("Files", tenant.file("bill.txt", "12345678"))
	p.waitForText("bill.txt 8 B Sending 25%")
	p.checkAccessible()
	p.click("link", "Entities", p.waitFor("navigation", "Areas"))
	p.waitForHeading("Entities")
	if evaluate[bool](p, `dispatchEvent(new Event("beforeunload", {cancelable: true}))`) {
		t.Error("the console can be left without a warning while a document is sent")
	}
	p.back()
	p.waitForText("bill.txt 8 B Sending 25%")
	goOn()
	p.waitForText("bill.txt 8 B Completed")
	p.waitForText("1 document")
}

// sendTransaction stores a modification of the transaction "tx 1/2".
func (n *tenant) sendTransaction(modification, kind, amount, description string) {
	n.Helper()
	n.call("POST", "/tm/realtime/event/transaction/v3", fmt.Sprintf(`{
		"request_uuid":"1f0a8f4e-6f54-4d0a-8c6b-0d9a5c7b4e15","payment_external_id":"p",
		"transaction_external_id":"tx 1/2","description":%q,"sender":{"by_external_id":"customer 1"},
		"receiver":{"external_entity_type":"unknown","unknown":{"external_id":"s","full_name":"Shop"}},
		"modification":{"external_id":%q,"type":%q,"amount":%s,"currency":"EUR","created_at":%q}}`,
		description, modification, kind, amount, time.Now().UTC().Format("2006-01-02T15:04:05")), nil)
}

// Modifications of a transaction are compared, with numbers and times as they were sent.
func TestModificationsBesideEachOther(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.admin(nil, "entities", "import", "--tenant", tenant.id,
		tenant.file("entities.jsonl", `{"id":"customer 1","status":"Compliant"}`))
	tenant.sendTransaction("a", "authorised", "12.50", "Invoice 1")
	p := tenant.open("/transactions")
	p.waitForText("Open a transaction by its ID")
	p.press("/")
	p.typeText("tx 1/2")
	p.press("Enter")
	p.waitForHeading("Transaction tx 1/2")
	p.waitForAddress("/transactions/tx%201%2F2")
	p.waitForText("12.50 EUR")
	p.waitForText("1 modification")
	tenant.sendTransaction("b", "settlement", "12.5000000000000000001", "Invoice 1")
	tenant.sendTransaction("c", "refund", "1e-2", "Invoice 2")
	p.click("button", "Load again")
	p.waitForText("3 modifications")
	p.waitForText("modification.amount 12.5000000000000000001 1e-2 changed")
	p.waitForText("description Invoice 1 Invoice 2 changed")
	p.checkAccessible()
	p.click("radio", "a on the left")
	p.click("radio", "b on the right")
	p.waitForAddress("/transactions/tx%201%2F2?left=a&right=b")
	p.waitForText("modification.amount 12.50 12.5000000000000000001 changed")
	p.reload()
	p.click("checkbox", "Only what differs")
	p.waitUntilTextGone("description")
	p.waitForText("modification.type authorised settlement changed")
	p.goTo("/transactions")
	p.waitForText("Opened last in this browser")
	p.checkAccessible()
	p.expect("status of 404")
	p.goTo("/transactions/dots?id=..")
	p.waitForText("No transaction of this ID is stored.")
	p.goTo("/transactions")
	p.click("link", "tx 1/2")
	p.waitForHeading("Transaction tx 1/2")
}

// Hostile and endless names stay text and inside the window, on every page that shows them.
func TestHostileDataStaysText(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	name := "<img src=x onerror=alert(1)>" + strings.Repeat("W", 200)
	const backwards, shown = "abc\u202egnp.exe", "abc⟨U+202E⟩gnp.exe"
	id := tenant.createEntity("legalEntityName", name, "javascript:alert(1)", backwards, backwards, "x")
	draft := tenant.beginDraft(id, "<script>alert(1)</script>", name, backwards, "y")
	p := tenant.open("/entities/" + id + "?draft=" + draft)
	p.waitForHeading(name)
	p.waitForText(`"` + shown + `" x y changed`)
	p.waitForText("javascript:alert(1) " + shown)
	p.checkAccessible()
	p.goTo("/entities")
	p.waitForText(name)
	p.checkNoSidewaysScroll()
	p.goTo("/documents?entity=" + url.QueryEscape(name))
	p.waitForText("No document matches.")
	p.expect("status of 404")
	p.goTo("/transactions/" + url.PathEscape(name))
	p.waitForText("No transaction of this ID is stored.")
	p.resize(narrowWidth, height)
	p.checkNoSidewaysScroll()
	var created struct{ Data struct{ ID string } }
	tenant.call("POST", "/documentmanagementcommand/api/v2/documentmanagement/virtual", fmt.Sprintf(
		`{"data":{"fileName":%q,"entityId":%q,"friendlyName":%q,"documentURL":"https://example.com/?q=%%3Cb%%3E"}}`,
		name, id, "<b>friendly</b>"), &created)
	p.goTo("/documents/" + created.Data.ID)
	p.waitForHeading(name)
	p.waitForText("<b>friendly</b>")
	p.checkNoSidewaysScroll()
}

package browsertest

import (
	"fmt"
	"strings"
	"testing"
)

// smallPolicy is a policy with a condition that decides one field.
const smallPolicy = `entityType: Company
fields:
  - {name: Legal name, dataKey: legalName, fieldType: Text, categories: [Basic]}
  - name: Source of wealth
    dataKey: sourceOfWealth
    fieldType: Text
    categories: [Risk]
    conditions:
      - id: exposed
        operands:
          - {dataSource: screeningMateriality, fieldName: pepMaterialityStatus, operation: equal, value: [Material]}
`

// Two versions of a policy are compared, and an evaluation names the condition that decided a field.
func TestPolicyIsComparedAndEvaluated(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.sluice("policy", "import", tenant.file("v1.yaml", smallPolicy), "--publish")
	changed := strings.Replace(smallPolicy, "{name: Legal name,", "{name: <img src=x onerror=alert(1)>,", 1)
	tenant.sluice("policy", "import", tenant.file("v2.yaml", changed+
		"  - {name: LEI, dataKey: lei, fieldType: Text, categories: [Basic]}\n"), "--publish")
	p := tenant.open("/policies")
	p.click("link", "Company")
	p.waitForHeading("Policy for Company")
	p.waitForText("3 fields")
	p.checkAccessible()
	p.choose("Show", "Differences")
	p.waitForText("2 fields differ between version 1 and version 2.")
	p.waitForText(`"<img src=x onerror=alert(1)>"`)
	p.checkAccessible()
	p.back()
	p.waitForText("3 fields")
	p.choose("Show", "Evaluate an entity")
	p.fill("textbox", "What is evaluated", `{"properties": {"singleProperties": {}, "customProperties": {}},
		"dataSources": {"screeningMateriality": {"pepMaterialityStatus": "Material"}}}`)
	p.click("button", "Evaluate")
	p.waitForText("3 fields, 0 collections and 0 groups are for this entity")
	p.click("gridcell", "Source of wealth")
	p.waitForText("It is shown because")
	p.waitForText(`screeningMateriality.pepMaterialityStatus equal "Material"`)
	p.checkAccessible()
}

// What is typed in place of a request is never sent, and the page says what is wrong with it.
func TestPolicyRequestMustBeJSON(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.sluice("policy", "import", tenant.file("v1.yaml", smallPolicy), "--publish")
	p := tenant.open("/policies")
	p.click("link", "Company")
	p.waitForHeading("Policy for Company")
	p.choose("Show", "Evaluate an entity")
	p.fill("textbox", "What is evaluated", `{"properties": `)
	p.waitForText("This is not JSON")
	p.waitForState("button", "Evaluate", "disabled", "true")
}

// Events are shown as they come while the console listens; the webhook that it makes for that shows its deliveries,
// sends one again, and is gone when listening ends.
func TestEventsAreShownLive(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	p := tenant.open("/webhooks", "--data", suite.cloud.Data)
	p.waitForText("No webhook yet")
	p.checkAccessible()
	p.click("button", "Start listening")
	p.waitForText("Nothing has come yet.")
	tenant.upload(tenant.generate(50, 0))
	p.waitForText("batchtransaction:ingestionProcessed")
	p.reload()
	p.waitForText("batchtransaction:ingestionProcessed")
	hide := func(hidden bool) { // as another tab in front of it does
		evaluate[any](p, fmt.Sprintf(`Object.defineProperty(document, "hidden", {value: %v, configurable: true});
			document.dispatchEvent(new Event("visibilitychange"))`, hidden))
	}
	hide(true)
	tenant.upload(tenant.file("bad.jsonl", "{}\n"))
	hide(false)
	p.waitForText("batchtransaction:ingestionValidation_failed")
	p.click("link", "sluice console")
	p.waitForHeading("sluice console")
	p.click("button", "Send a test event")
	p.waitForText("Delivered")
	p.checkAccessible()
	p.press("Tab")
	p.click("gridcell", "batchtransaction:ingestionProcessed")
	p.waitForText("What is sent")
	p.checkAccessible()
	p.press("Escape")
	p.goTo("/webhooks")
	p.click("button", "Stop listening")
	p.waitFor("button", "Start listening")
}

// The secret of a new webhook is shown once; a webhook is deleted only after a question.
func TestWebhookIsCreatedAndDeleted(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	p := tenant.open("/webhooks")
	p.click("button", "Create a webhook")
	p.fill("textbox", "Address", "http://receiver.example/hook")
	p.expect("status of 400")
	p.expect("status of 422")
	p.click("button", "Create the webhook")
	p.fill("textbox", "Address", "https://receiver.example/hook")
	p.fill("textbox", "Name", "<b>accounts</b>")
	p.click("button", "Create the webhook")
	p.waitForText("Its secret is shown this once.")
	p.checkAccessible()
	p.click("button", "I have stored it")
	p.click("link", "<b>accounts</b>")
	p.waitForText("receiver.example/hook")
	p.click("button", "Disable the webhook")
	p.waitForText("The webhook is disabled.")
	p.click("button", "Delete the webhook")
	p.click("button", "Go back")
	p.waitUntilGone("dialog", "")
	p.click("button", "Delete the webhook")
	p.click("button", "Delete the webhook", p.waitFor("dialog", ""))
	p.waitForText("No webhook yet")
}

// Operators see tenants, clients and keys, and never a secret.
func TestOperatorSeesTheRegistry(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	p := tenant.open("/operator", "--data", suite.cloud.Data)
	p.fill("searchbox", "Find a tenant or client", tenant.id)
	p.waitFor("gridcell", tenant.id, p.waitFor("grid", "1 tenant"))
	p.waitForText("Keys for access tokens")
	p.checkAccessible()
	if strings.Contains(p.text(), "client_secret") {
		t.Error("the page has a secret")
	}
}

package browsertest

import (
	"testing"

	"github.com/chromedp/cdproto/network"
)

// maxShift is the largest cumulative layout shift that a page may have while it loads. Chromium's score is the share of
// the window that moves, multiplied by the distance. Web Vitals call a score of up to 0.1 good.
const maxShift = 0.05

// shiftsOf is a JavaScript promise of the layout shifts since the page was loaded, without those that follow input.
const shiftsOf = `new Promise(done => new PerformanceObserver(list => done(list.getEntries()
	.filter(e => !e.hadRecentInput)
	.map(e => ({Value: e.value, What: e.sources.map(s => s.node?.nodeType === 1 ?
		s.node.outerHTML.slice(0, 120) + " " + JSON.stringify([s.previousRect.y, s.currentRect.y]) : "")
		.join("\n        ")}))))
	.observe({type: "layout-shift", buffered: true}) ?? setTimeout(() => done([]), 200))`

// Nothing that is shown moves when the rest of a page comes late.
func TestNoLayoutJump(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	batch := tenant.upload(tenant.generate(300, 0.1), "--name", "monday", "--max-rejected", "100%")
	var webhook struct{ ID string }
	tenant.call("POST", "/v1/webhooks", `{"url":"https://receiver.invalid/","eventTypes":["*"]}`, &webhook)
	tenant.sluice("policy", "import", tenant.file("policy.yaml", smallPolicy), "--publish")
	p := tenant.open("/")
	p.waitForHeading("Overview")
	mustCall(p, network.OverrideNetworkState, network.OverrideNetworkStateParams{
		Latency: 400, DownloadThroughput: -1, UploadThroughput: -1})
	for path, text := range map[string]string{
		"/": "Latest batches", "/batches": "monday", "/batches/" + batch: "Errors", "/upload": "Upload",
		"/transactions": "Transactions", "/entities": "Compliant", "/documents": "Documents", "/screening": "Screening",
		"/policies": "Company", "/webhooks": "receiver.invalid", "/webhooks/" + webhook.ID: "Deliveries",
	} {
		p.goTo(path)
		p.waitForText(text)
		p.waitForQuiet()
		sum := 0.0
		shifts := evaluate[[]struct {
			Value float64
			What  string
		}](p, shiftsOf)
		for _, s := range shifts {
			sum += s.Value
		}
		if sum > maxShift {
			t.Errorf("%s shifts by %.3f, more than %.2f", path, sum, maxShift)
			for _, s := range shifts {
				t.Logf("    %.3f %s", s.Value, s.What)
			}
		}
	}
}

// waitForQuiet waits until the page has loaded what it asks for at first: no skeleton is left.
func (p *tab) waitForQuiet() {
	p.Helper()
	p.eventually("a page that has loaded", func() (bool, string) {
		left := evaluate[int](p, `document.querySelectorAll(".skeleton").length`)
		return left == 0, "there are skeletons"
	})
	p.waitForFrames()
}

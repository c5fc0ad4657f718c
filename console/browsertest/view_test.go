package browsertest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"

	"sluice/shared/kit/errtest"
)

// The size of the window, unless a test changes it, and the width of a narrow one.
const (
	width       = 1280
	height      = 800
	narrowWidth = 360
)

// setColours sets what the page is told of the colours that the person prefers: "light" or "dark".
func (p *tab) setColours(scheme string) {
	p.Helper()
	mustCall(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	p.waitForFrames()
}

// resize sets the size of the window.
func (p *tab) resize(width, height int64) {
	p.Helper()
	mustCall(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: 1})
	p.waitForFrames()
}

// waitForFrames waits until the browser has drawn what was changed before.
func (p *tab) waitForFrames() {
	p.Helper()
	evaluate[any](p, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// goOffline takes the browser's network away, or gives it back. The console's own connection to the service is another
// thing: tenant.cutOff.
func (p *tab) goOffline(offline bool) {
	p.Helper()
	mustCall(p, network.OverrideNetworkState, network.OverrideNetworkStateParams{
		Offline: offline, DownloadThroughput: -1, UploadThroughput: -1})
}

// slowUpload lets the browser send at most some bytes a second from now on.
func (p *tab) slowUpload(bytesPerSecond float64) {
	p.Helper()
	mustCall(p, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{DownloadThroughput: -1, UploadThroughput: bytesPerSecond}}})
}

// stopUploadsAtQuarter has the browser wait in every upload that begins from now on, after a quarter of the file. It
// returns what lets the last one go on.
func (p *tab) stopUploadsAtQuarter() (goOn func()) {
	p.Helper()
	evaluate[any](p, `(() => {
		const send = XMLHttpRequest.prototype.send;
		XMLHttpRequest.prototype.send = function(file) {
			this.upload.onprogress({loaded: file.size / 4});
			window.goOn = () => send.call(this, file);
		};
	})()`)
	return func() { evaluate[any](p, `goOn()`) }
}

// axeSource is the text of axe-core, which make test-console installs.
var axeSource = sync.OnceValues(func() (string, error) {
	path := filepath.Join(suite.repository, "bin", "tools", "console-check", "node_modules", "axe-core", "axe.min.js")
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("axe-core is missing: make test-console installs it: %w", err)
	}
	return string(text), nil
})

// axeTags are the rules that are checked: WCAG 2.2 up to level AA, and what axe calls best practices.
var axeTags = []string{"wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"}

// axeFinding is a rule of axe that a page breaks.
type axeFinding struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML           string
		FailureSummary string
	}
}

// axeFindings returns what axe finds in the page as it is.
func (p *tab) axeFindings() []axeFinding {
	p.Helper()
	if !evaluate[bool](p, `typeof axe === "object"`) {
		source := errtest.Must(axeSource())(p)
		// The debugging protocol may evaluate what the page's Content-Security-Policy forbids, so that stays as it is.
		evaluate[any](p, source+"; true")
	}
	tags := errtest.Must(json.Marshal(axeTags))(p)
	return evaluate[[]axeFinding](p, fmt.Sprintf(
		`axe.run(document, {runOnly: {type: "tag", values: %s}, resultTypes: ["violations"]}).then(r =>
			r.violations.map(v => ({
			ID: v.id, Impact: v.impact, Help: v.help,
			Nodes: v.nodes.map(n => ({HTML: n.html, FailureSummary: n.failureSummary}))})))`, tags))
}

// checkAccessible checks the page as it is by axe, in light and dark and in a narrow window, and that nothing but its
// own parts scrolls sideways there. It also reports what the browser complained about up to here.
func (p *tab) checkAccessible() {
	p.Helper()
	known := map[string]bool{}
	for _, view := range []struct {
		name, colours string
		width         int64
	}{{"light", "light", width}, {"dark", "dark", width}, {"narrow", "light", narrowWidth}} {
		p.setColours(view.colours)
		p.resize(view.width, height)
		for _, finding := range p.axeFindings() {
			if known[finding.ID] {
				continue // one view shows it
			}
			known[finding.ID] = true
			p.Errorf("axe, %s, %s: %s (%s): %s", view.name, p.address(), finding.ID, finding.Impact, finding.Help)
			for _, node := range finding.Nodes {
				p.Logf("    %.300s\n    %s", node.HTML, strings.ReplaceAll(node.FailureSummary, "\n", "\n    "))
			}
		}
		p.checkNoSidewaysScroll()
	}
	p.setColours("light")
	p.resize(width, height)
	p.reportComplaints()
}

// checkNoSidewaysScroll checks that the page is not wider than the window.
func (p *tab) checkNoSidewaysScroll() {
	p.Helper()
	wide := evaluate[string](p, `(() => {
		const root = document.documentElement;
		if (root.scrollWidth <= root.clientWidth) return "";
		const over = [...document.body.querySelectorAll("*")].filter(e =>
			e.getBoundingClientRect().right > root.clientWidth + 1);
		return root.scrollWidth + " pixels; the innermost that reach over: " +
			over.slice(-3).map(e => e.outerHTML.slice(0, 160)).join("\n");
	})()`)
	if wide != "" {
		p.Errorf("%s is wider than the window: %s", p.address(), wide)
	}
}

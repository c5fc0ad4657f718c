package browsertest

import (
	"image"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// samplePage is a page by which these tests are tested.
const samplePage = `<!doctype html><html lang="en"><head><title>Sample</title>
<meta name="viewport" content="width=device-width">
<script src="/sample.js" type="module"></script></head><body><main><h1>Sample</h1>
<button id="go" aria-expanded="false">Start the batch</button> <button disabled>Start</button>
<label>Name <input id="name"></label>
<label>State <select id="state"><option value="1">All</option><option value="2">Open</option></select></label>
<label>Files <input type="file" id="files" multiple></label>
<div id="drop" role="region" aria-label="Drop here">Drop here</div>
<a href="/file" download>Report</a> <a href="/second">Second</a>
<p id="said" role="status"></p></main></body></html>`

// sampleScript has it answer.
const sampleScript = `const say = text => { document.getElementById("said").textContent = text; };
const by = id => document.getElementById(id);
by("go").onclick = () => {
	by("go").setAttribute("aria-expanded", "true");
	setTimeout(() => say("started by " + by("name").value), 50);
};
by("state").onchange = e => say("state " + e.target.value);
by("files").onchange = e => say([...e.target.files].map(f => f.name + " " + f.size).join(", "));
by("drop").ondragover = e => e.preventDefault();
by("drop").ondrop = e => {
	e.preventDefault();
	say("dropped " + [...e.dataTransfer.files].map(f => f.name).join(", "));
};
onkeydown = e => { if (e.key === "/") { e.preventDefault(); by("name").focus(); }
	if (e.target === document.body) say("key " + e.key + (e.ctrlKey ? " with Control" : "")); };`

// openSample opens the sample page, with something more in its body, by a policy like the console's.
func openSample(t *testing.T, more string) *tab {
	t.Helper()
	mux := http.NewServeMux()
	serve := func(path, contentType, text string) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Security-Policy",
				"default-src 'none'; script-src 'self'; img-src 'self' data:; connect-src *")
			w.Header().Set("Content-Type", contentType)
			_, _ = w.Write([]byte(text)) // a browser that went away is no failure
		})
	}
	page := strings.Replace(samplePage, "</main>", more+"</main>", 1)
	serve("/{$}", "text/html; charset=utf-8", page)
	serve("/second", "text/html; charset=utf-8", strings.Replace(page, "<h1>Sample", "<h1>Second", 1))
	serve("/sample.js", "text/javascript", sampleScript)
	serve("/file", "text/plain", "content")
	serve("/favicon.ico", "image/x-icon", "")
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p := suite.browser.newTab(t, server.URL)
	p.goTo("/")
	return p
}

// Everything that a person does reaches the page, and elements are found by role and name.
func TestHarnessActs(t *testing.T) {
	t.Parallel()
	p := openSample(t, "")
	p.waitFor("heading", "Sample")
	p.press("j")
	p.waitForText("key j")
	p.press("Control+k")
	p.waitForText("key k with Control")
	p.press("/")
	p.waitForFocus("textbox", "Name")
	difftest.Equal(t, "a key that the page handles has typed", "", p.waitFor("textbox", "Name").value)
	p.fill("textbox", "Name", "old")
	p.fill("textbox", "Name", "monday")
	p.click("button", "Start the")
	p.waitForText("started by monday")
	p.waitForState("button", "Start the batch", "expanded", "true")
	p.press("Shift+Tab", "Tab", "Tab")
	p.waitForFocus("textbox", "Name")
	p.typeText("!")
	p.choose("State", "Open")
	p.waitForText("state 2")
	n := &tenant{TB: t}
	p.setFiles("Files", n.file("a.jsonl", "{}"), n.file("b.jsonl", ""))
	p.waitForText("a.jsonl 2, b.jsonl 0")
	p.dropFiles("region", "Drop here", n.file("c.jsonl", ""))
	p.waitForText("dropped c.jsonl")
	name, content := p.download(func() { p.click("link", "Report") })
	if name != "file.txt" && name != "file" || string(content) != "content" {
		t.Errorf("the download is %q with %q, want file with content", name, content)
	}
	p.click("link", "Second")
	p.waitFor("heading", "Second")
	p.back()
	p.waitForAddress("/")
	p.forward()
	p.waitFor("heading", "Second")
	p.reload()
	p.waitUntilGone("heading", "Sample")
	p.waitUntilTextGone("dropped")
	if found := p.findAll("textbox", ""); len(found) != 1 || found[0].value != "" {
		t.Errorf("the fields are %+v, want one that is empty", found)
	}
	p.checkAccessible()
	p.goOffline(true)
	if evaluate[bool](p, `navigator.onLine`) {
		t.Error("the browser is online")
	}
}

// The service can be taken away from a console, and given back.
func TestHarnessTakesTheServiceAway(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	gate := tenant.withGate()
	p := tenant.open("/no/such/page")
	p.expect("status of 502")
	status := `fetch("/api/v1/webhooks", {cache: "no-store"}).then(r => r.status)`
	for _, want := range []int{200, 502, 200} {
		difftest.Equal(t, "the status", want, evaluate[int](p, status))
		switch want {
		case 200:
			gate.cutOff()
		case 502:
			gate.letThrough()
		}
	}
}

// A caller that waits, or is just being connected, when the gate closes does not get through.
func TestHarnessEndsCallersThatWait(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	g := &gate{TB: t, address: "127.0.0.1:0", service: server.Listener.Addr().String(), open: map[net.Conn]bool{}}
	g.letThrough()
	for _, want := range []string{"HTTP/1.1 404", ""} {
		letGo := g.holdBack()
		caller := errtest.Must(net.Dial("tcp", g.address))(t)
		defer caller.Close()
		if want == "" {
			g.cutOff()
		}
		letGo()
		_, _ = io.WriteString(caller, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") // it may be closed
		if got, _ := io.ReadAll(caller); !strings.HasPrefix(string(got), want) || want == "" && len(got) > 0 {
			t.Errorf("the caller got %q, want %q", got, want)
		}
	}
}

// What no page may do is noticed.
func TestHarnessNotices(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ action, want string }{
		"an error on the console": {`console.error("broken", 7)`, "console.error: broken 7"},
		"an exception":            {`setTimeout(() => { throw new Error("thrown"); })`, "thrown"},
		"a rejection":             {`Promise.reject(new Error("rejected")); 1`, "rejected"},
		"a request elsewhere": {`fetch("http://127.0.0.1:9/elsewhere").catch(() => 0)`,
			"request to another origin: http://127.0.0.1:9/elsewhere"},
		"an inline script": {`const script = document.createElement("script");
			script.textContent = "1"; document.body.append(script);`, "Content-Security-Policy: script-src"},
		"an event handler's markup": {`document.body.innerHTML += "<p onclick=x()>";
			document.body.lastElementChild.click()`, "Content-Security-Policy: script-src"},
		"a dialog":       {`setTimeout(() => alert("hello"))`, "dialog: hello"},
		"a missing file": {`fetch("/missing").then(() => 0)`, "status of 404"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openSample(t, "")
			evaluate[any](p, test.action)
			var found []string
			p.eventually("a complaint of "+test.want, func() (bool, string) {
				found = append(found, p.takeComplaints()...)
				return slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, test.want) }),
					strings.Join(found, "; ")
			})
			p.expect("") // what follows of it is not what is tested
		})
	}
}

// axe finds what it must, and a page that is too wide is noticed.
func TestHarnessChecks(t *testing.T) {
	t.Parallel()
	p := openSample(t, `<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">`)
	findings := p.axeFindings()
	if len(findings) != 1 || findings[0].ID != "image-alt" {
		t.Errorf("axe finds %+v, want image-alt", findings)
	}
	p.setColours("dark")
	if !evaluate[bool](p, `matchMedia("(prefers-color-scheme: dark)").matches`) {
		t.Error("the page is not told of dark colours")
	}
	p.resize(narrowWidth, height)
	difftest.Equal(t, "pixels of a narrow window", narrowWidth, evaluate[int](p, `innerWidth`))
}

// A picture differs from itself in nothing, from one with a moved edge a little, and from another one much.
func TestHarnessCompares(t *testing.T) {
	t.Parallel()
	picture := func(edge int) *image.RGBA {
		window := image.NewRGBA(image.Rect(0, 0, 400, 400))
		for y := range 400 {
			for x := range 400 {
				at := window.PixOffset(x, y)
				if x < edge {
					window.Pix[at] = 255
				}
				window.Pix[at+3] = 255
			}
		}
		return shrunk(window)
	}
	for _, test := range []struct {
		name     string
		a, b     *image.RGBA
		min, max float64
	}{
		{"the same", picture(100), picture(100), 0, 0},
		{"an edge moved by less than a pixel", picture(101), picture(102), 0, 0.02},
		{"another half", picture(100), picture(300), 0.4, 0.6},
		{"another size", picture(100), image.NewRGBA(image.Rect(0, 0, 10, 10)), 1, 1},
	} {
		if got := differentShare(test.a, test.b); got < test.min || got > test.max {
			t.Errorf("%s: %.3f of the pixels differ, want %.3f to %.3f", test.name, got, test.min, test.max)
		}
	}
}

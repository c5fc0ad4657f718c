package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"sluice/shared/kit/errtest"
)

// tab is a tab of the browser with the console in it, seen by one test. Its methods fail the test.
type tab struct {
	testing.TB
	ctx context.Context
	// origin is the only one to which requests may go.
	origin string
	// downloads is the folder in which the browser stores what is downloaded, by the IDs of the downloads.
	downloads string

	// console is the console that it shows; nil in the tests of these tests.
	console *console

	mu         sync.Mutex
	complaints []string
	expected   []*regexp.Regexp
	downloaded download
}

// expect says that the browser may complain in this way, as a regular expression, because the test provokes it.
func (p *tab) expect(pattern string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, regexp.MustCompile(pattern))
}

// observe notes what no page of the console may do. It runs where messages of the browser are read and must not wait.
func (p *tab) observe(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if slices.Contains([]runtime.ConsoleAPICalledType{"error", "warning", "assert"}, e.Type) {
			p.complain("console.%s: %s", e.Type, textOf(e.Args))
		}
	case *runtime.EventExceptionThrown:
		p.complain("exception: %v", &chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails})
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			p.complain("%s %s: %s (%s)", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL)
		}
	case *audits.EventIssueAdded:
		if csp := e.Issue.Details.ContentSecurityPolicyIssueDetails; csp != nil {
			p.complain("Content-Security-Policy: %s forbids %q", csp.ViolatedDirective, csp.BlockedURL)
		}
	case *network.EventRequestWillBeSent:
		if !p.isOwn(e.Request.URL) {
			p.complain("request to another origin: %s", e.Request.URL)
		}
	case *browser.EventDownloadWillBegin:
		p.mu.Lock()
		p.downloaded = download{id: e.GUID, name: e.SuggestedFilename}
		p.mu.Unlock()
	case *browser.EventDownloadProgress:
		p.mu.Lock()
		if p.downloaded.id == e.GUID {
			p.downloaded.state = string(e.State)
		}
		p.mu.Unlock()
	case *page.EventJavascriptDialogOpening:
		if e.Type != "beforeunload" {
			p.complain("dialog: %s", e.Message)
		}
		go func() {
			_, _ = chromedp.Call(p.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}()
	}
}

// isOwn reports whether a request stays with the console.
func (p *tab) isOwn(address string) bool {
	address = strings.TrimPrefix(address, "blob:")
	return strings.HasPrefix(address, p.origin+"/") || strings.HasPrefix(address, "data:")
}

func (p *tab) complain(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complaints = append(p.complaints, fmt.Sprintf(format, args...))
}

// takeComplaints returns what was not expected since the last call.
func (p *tab) takeComplaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := slices.DeleteFunc(p.complaints, func(text string) bool {
		return slices.ContainsFunc(p.expected, func(r *regexp.Regexp) bool { return r.MatchString(text) })
	})
	p.complaints = nil
	return found
}

// reportComplaints fails the test for what the page must not do.
func (p *tab) reportComplaints() {
	p.Helper()
	for _, text := range p.takeComplaints() {
		p.Errorf("the browser reports: %s", text)
	}
}

// textOf returns the arguments of a call of the console as text.
func textOf(args []*runtime.RemoteObject) string {
	var texts []string
	for _, a := range args {
		text := a.Description
		if text == "" && json.Unmarshal(a.Value, &text) != nil {
			text = string(a.Value)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " ")
}

// run runs an action of chromedp.
func (p *tab) run(what string, actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, *patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.Fatalf("%s: %v", what, err)
	}
}

// call calls the browser.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) (R, error) {
	ctx, cancel := context.WithTimeout(p.ctx, *patience)
	defer cancel()
	return chromedp.Call(ctx, command, params)
}

// mustCall calls the browser and fails the test if that fails.
func mustCall[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.Helper()
	result, err := call(p, command, params)
	if err != nil {
		p.Fatalf("%s: %v", command.Method, err)
	}
	return result
}

// evaluate returns the value of an expression in the page; it waits for a promise.
func evaluate[T any](p *tab, expression string) T {
	p.Helper()
	value, err := tryEvaluate[T](p, expression)
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return value
}

// tryEvaluate is evaluate with the error, such as that of a page that is just being replaced.
func tryEvaluate[T any](p *tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(p.ctx, *patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// goTo loads a page of the console, by its path and query.
func (p *tab) goTo(path string) {
	p.Helper()
	p.run("go to "+path, chromedp.Navigate(p.origin+path))
}

// reload loads the page again.
func (p *tab) reload() {
	p.Helper()
	p.run("reload", chromedp.Reload())
}

// back does what the browser's button Back does, within the page or to the one before.
func (p *tab) back() { p.Helper(); p.traverse("back") }

// forward does what the browser's button Forward does.
func (p *tab) forward() { p.Helper(); p.traverse("forward") }

// traverse calls a method of the history once the call has been answered: the page that answers may be gone after it.
func (p *tab) traverse(method string) {
	p.Helper()
	evaluate[any](p, `void setTimeout(() => history.`+method+`())`)
}

// address returns path and query of the page; "" if it is just being replaced.
func (p *tab) address() string {
	p.Helper()
	text, err := tryEvaluate[string](p, `location.href`)
	if err != nil {
		return ""
	}
	u := errtest.Must(url.Parse(text))(p)
	return u.RequestURI()
}

// text returns the text that the page shows, with single spaces in place of others.
func (p *tab) text() string {
	text, _ := tryEvaluate[string](p, `document.body ? document.body.innerText : ""`) // a page being replaced has none
	return strings.Join(strings.Fields(text), " ")
}

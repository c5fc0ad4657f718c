package browsertest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// element is an element as assistive technology is told of it.
type element struct {
	role, name, value string
	// states are such as "focused", "expanded", "checked" and "disabled", with their values as text.
	states map[string]string

	node cdp.BackendNodeID
}

// pause is how long a test waits until it looks again.
const pause = 25 * time.Millisecond

// eventually waits until a condition holds. The condition says what it sees, for the message if it never does.
func (p *tab) eventually(what string, holds func() (ok bool, seen string)) {
	p.Helper()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for deadline := time.Now().Add(*patience); ; <-tick.C {
		ok, seen := holds()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			p.Fatalf("%s: not within %v; %s\naddress: %s\ntext of the page: %.3000s\n%s",
				what, *patience, seen, p.address(), p.text(), p.keepPicture())
		}
	}
}

// keepPicture stores a picture of a page whose test failed and returns a line that says where.
func (p *tab) keepPicture() string {
	result, err := call(p, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	if err != nil {
		return "no picture: " + err.Error()
	}
	dir := filepath.Join(suite.repository, "bin", "console-failures")
	path := filepath.Join(dir, strings.ReplaceAll(p.Name(), "/", "-")+".png")
	if err = os.MkdirAll(dir, 0o700); err == nil {
		err = os.WriteFile(path, result.Data, 0o600)
	}
	if err != nil {
		return "no picture: " + err.Error()
	}
	return "picture: " + path
}

// tryFindAll returns the visible elements with a role ("" for any) and a name: those whose name is exactly that, or
// else those whose name contains it.
func (p *tab) tryFindAll(role, name string, inside ...element) ([]element, error) {
	query := accessibility.QueryAXTreeParams{Role: role}
	if len(inside) > 0 {
		query.BackendNodeID = inside[0].node
	} else {
		document, err := call(p, runtime.Evaluate, runtime.EvaluateParams{Expression: "document"})
		if err != nil {
			return nil, err
		}
		query.ObjectID = document.Result.ObjectID
		defer call(p, runtime.ReleaseObject, runtime.ReleaseObjectParams{ObjectID: query.ObjectID})
	}
	result, err := call(p, accessibility.QueryAXTree, query)
	if err != nil {
		return nil, err
	}
	var exact, containing []element
	for _, node := range result.Nodes {
		e := elementOf(node)
		switch {
		case node.Ignored || len(inside) > 0 && e.node == inside[0].node:
		case e.name == name:
			exact = append(exact, e)
		case strings.Contains(e.name, name):
			containing = append(containing, e)
		}
	}
	if len(exact) > 0 && name != "" {
		return exact, nil
	}
	return append(exact, containing...), nil
}

// elementOf returns a node of the accessibility tree as an element.
func elementOf(node *accessibility.Node) element {
	e := element{role: textValue(node.Role), name: textValue(node.Name), value: textValue(node.Value),
		states: map[string]string{}, node: node.BackendDOMNodeID}
	for _, property := range node.Properties {
		e.states[string(property.Name)] = textValue(property.Value)
	}
	return e
}

// textValue returns a value of the accessibility tree as text.
func textValue(v *accessibility.Value) string {
	if v == nil || v.Value == nil {
		return ""
	}
	var value any
	if json.Unmarshal(v.Value, &value) != nil {
		return ""
	}
	return fmt.Sprint(value)
}

// findAll returns the elements with a role and a name that are there now; it does not wait.
func (p *tab) findAll(role, name string, inside ...element) []element {
	p.Helper()
	found, err := p.tryFindAll(role, name, inside...)
	if err != nil {
		p.Fatalf("find %s %q: %v", role, name, err)
	}
	return found
}

// waitFor waits for the one element with a role and a name and returns it.
func (p *tab) waitFor(role, name string, inside ...element) (found element) {
	p.Helper()
	p.eventually(fmt.Sprintf("one %s %q", role, name), func() (bool, string) {
		all, err := p.tryFindAll(role, name, inside...)
		if err != nil {
			return false, err.Error()
		}
		if len(all) == 1 {
			found = all[0]
			return true, ""
		}
		return false, fmt.Sprintf("there are %d: %.500q; with this role: %.1000q", len(all), namesOf(all),
			namesOf(first(p.tryFindAll(role, "", inside...))))
	})
	return found
}

func first[T any](value T, _ error) T { return value }

// namesOf returns the names of elements.
func namesOf(elements []element) []string {
	var names []string
	for _, e := range elements {
		names = append(names, e.name)
	}
	return names
}

// waitForHeading waits until the page has one heading of level 1, with a text in it, and is not loading, and returns
// the heading.
func (p *tab) waitForHeading(text string) (heading string) {
	p.Helper()
	p.eventually("a heading "+text, func() (bool, string) {
		loading, err := p.tryFindAll("status", "Loading")
		if err != nil || len(loading) > 0 {
			return false, "it is loading"
		}
		found, err := p.tryFindAll("heading", "")
		if err != nil {
			return false, err.Error()
		}
		var tops []string
		for _, h := range found {
			if h.states["level"] == "1" {
				tops = append(tops, h.name)
			}
		}
		if len(tops) == 1 && strings.Contains(tops[0], text) {
			heading = tops[0]
			return true, ""
		}
		return false, "the headings of level 1 are " + strings.Join(tops, ", ")
	})
	return heading
}

// waitUntilGone waits until no element has a role and a name.
func (p *tab) waitUntilGone(role, name string, inside ...element) {
	p.Helper()
	p.eventually(fmt.Sprintf("no %s %q", role, name), func() (bool, string) {
		all, err := p.tryFindAll(role, name, inside...)
		return err == nil && len(all) == 0, fmt.Sprintf("there are %d: %.500q", len(all), namesOf(all))
	})
}

// waitForText waits until the page shows a text; all white space counts as one space.
func (p *tab) waitForText(text string) {
	p.Helper()
	p.eventually(fmt.Sprintf("the text %q", text), func() (bool, string) {
		return strings.Contains(p.text(), text), ""
	})
}

// waitUntilTextGone waits until the page does not show a text.
func (p *tab) waitUntilTextGone(text string) {
	p.Helper()
	p.eventually(fmt.Sprintf("no text %q", text), func() (bool, string) {
		return !strings.Contains(p.text(), text), ""
	})
}

// waitForState waits until the one element with a role and a name has a state, such as "expanded" and "true", and
// returns it.
func (p *tab) waitForState(role, name, state, want string) (found element) {
	p.Helper()
	p.eventually(fmt.Sprintf("%s %q with %s %s", role, name, state, want), func() (bool, string) {
		found = p.waitFor(role, name)
		return found.states[state] == want, fmt.Sprintf("it has the states %v", found.states)
	})
	return found
}

// waitForAddress waits until path and query of the page are these.
func (p *tab) waitForAddress(want string) {
	p.Helper()
	p.eventually("the address "+want, func() (bool, string) { return p.address() == want, "" })
}

// focused returns the element that has the focus; its role is "" if none has.
func (p *tab) focused() element {
	p.Helper()
	active := mustCall(p, runtime.Evaluate, runtime.EvaluateParams{Expression: "document.activeElement"})
	if active.Result.ObjectID == "" {
		return element{}
	}
	defer call(p, runtime.ReleaseObject, runtime.ReleaseObjectParams{ObjectID: active.Result.ObjectID})
	no := false
	tree := mustCall(p, accessibility.GetPartialAXTree, accessibility.GetPartialAXTreeParams{
		ObjectID: active.Result.ObjectID, FetchRelatives: &no})
	return elementOf(tree.Nodes[0])
}

// waitForFocus waits until the one element with a role and a name has the focus.
func (p *tab) waitForFocus(role, name string) {
	p.Helper()
	p.eventually(fmt.Sprintf("focus on %s %q", role, name), func() (bool, string) {
		e := p.focused()
		return e.role == role && strings.Contains(e.name, name), fmt.Sprintf("it is on %s %q", e.role, e.name)
	})
}

// on calls a JavaScript function with an element as this and returns its value.
func on[T any](p *tab, e element, function string) (T, error) {
	var value T
	node, err := call(p, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: e.node})
	if err != nil {
		return value, err
	}
	defer call(p, runtime.ReleaseObject, runtime.ReleaseObjectParams{ObjectID: node.Object.ObjectID})
	yes := true
	result, err := call(p, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		ObjectID: node.Object.ObjectID, FunctionDeclaration: function, ReturnByValue: &yes})
	if err != nil {
		return value, err
	}
	if result.ExceptionDetails != nil {
		return value, fmt.Errorf("%s: %s", function, result.ExceptionDetails.Text)
	}
	if result.Result.Value == nil {
		return value, nil
	}
	return value, json.Unmarshal(result.Result.Value, &value)
}

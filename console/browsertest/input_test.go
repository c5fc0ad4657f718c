package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sluice/shared/kit/errtest"
)

// point is a place in the window at which an element can be clicked.
type point struct {
	X, Y float64
	// Covers is what covers the element there, "" for nothing.
	Covers string
	// element is the one that is there.
	element element
}

// showPoint scrolls to an element and returns its middle. What a label stands for may be covered by the label.
const showPoint = `function() {
	this.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
	const box = this.getBoundingClientRect();
	const x = box.left + box.width / 2, y = box.top + box.height / 2;
	const hit = document.elementFromPoint(x, y);
	const free = hit && (this.contains(hit) || hit.contains(this) || (hit.closest("label")?.control === this));
	return {X: x, Y: y, Covers: free ? "" : hit ? hit.outerHTML.slice(0, 200) : "nothing is there"};
}`

// pointOf waits for the one element with a role and a name, and until it can be clicked.
func (p *tab) pointOf(role, name string, inside ...element) (at point) {
	p.Helper()
	p.eventually(fmt.Sprintf("%s %q that can be clicked", role, name), func() (bool, string) {
		e := p.waitFor(role, name, inside...)
		if e.states["disabled"] == "true" {
			return false, "it is disabled"
		}
		var err error
		at, err = on[point](p, e, showPoint)
		if err != nil {
			return false, err.Error()
		}
		at.element = e
		return at.Covers == "", "it is covered by " + at.Covers
	})
	return at
}

// watchClick lets the next click reach only an element or its label. What comes to another one, because the page has
// moved, is stopped.
const watchClick = `function() {
	const types = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"];
	const watch = {outcome: "nothing has come"};
	const check = event => {
		if (this.contains(event.target) || event.target.closest?.("label")?.control === this) {
			if (event.type === "click") watch.outcome = "";
			return;
		}
		watch.outcome = event.type + " has come to " + (event.target.outerHTML ?? "the page").slice(0, 200);
		event.preventDefault();
		event.stopImmediatePropagation();
	};
	watch.end = () => types.forEach(type => window.removeEventListener(type, check, true));
	types.forEach(type => window.addEventListener(type, check, true));
	window.watchedClick = watch;
}`

// endWatch returns why a click has not reached its element, "" if it has. A page that the click has left is gone with
// its watch.
const endWatch = `(() => {
	const watch = window.watchedClick;
	delete window.watchedClick;
	watch?.end();
	return watch?.outcome ?? "";
})()`

// click clicks the one element with a role and a name. It tries again if the page moves while it does.
func (p *tab) click(role, name string, inside ...element) {
	p.Helper()
	p.eventually(fmt.Sprintf("click %s %q", role, name), func() (bool, string) {
		at := p.pointOf(role, name, inside...)
		if _, err := on[any](p, at.element, watchClick); err != nil {
			return false, err.Error()
		}
		p.run("click "+name, chromedp.MouseClickXY(at.X, at.Y))
		outcome, err := tryEvaluate[string](p, endWatch)
		return err != nil || outcome == "", outcome // after an error, the page is being replaced
	})
}

// fill replaces the text of a field. It tries again if the page replaces the field meanwhile, or moves the focus.
func (p *tab) fill(role, name, text string, inside ...element) {
	p.Helper()
	p.eventually(fmt.Sprintf("fill %s %q", role, name), func() (bool, string) {
		isFocused, err := on[bool](p, p.waitFor(role, name, inside...),
			`function() { this.focus(); this.select(); return document.activeElement === this; }`)
		if err != nil {
			return false, err.Error()
		}
		return isFocused, "it does not take the focus"
	})
	if text == "" {
		p.press("Delete")
		return
	}
	mustCall(p, input.InsertText, input.InsertTextParams{Text: text})
}

// choose chooses an option of a select element by its text.
func (p *tab) choose(name, option string, inside ...element) {
	p.Helper()
	p.eventually(fmt.Sprintf("option %q of %q", option, name), func() (bool, string) {
		e := p.waitFor("combobox", name, inside...)
		options, err := on[[]string](p, e, fmt.Sprintf(`function() {
			const options = [...this.options];
			const chosen = options.find(o => o.label === %q);
			if (!chosen) return options.map(o => o.label);
			this.value = chosen.value;
			this.dispatchEvent(new Event("input", {bubbles: true}));
			this.dispatchEvent(new Event("change", {bubbles: true}));
			return [];
		}`, option))
		if err != nil {
			return false, err.Error()
		}
		return len(options) == 0, fmt.Sprintf("the options are %q", options)
	})
}

// keys are the names of keys that press knows, beside characters.
var keys = map[string]string{
	"Enter": kb.Enter, "Tab": kb.Tab, "Escape": kb.Escape, "Space": " ", "Backspace": kb.Backspace, "Delete": kb.Delete,
	"ArrowUp": kb.ArrowUp, "ArrowDown": kb.ArrowDown, "ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight,
	"Home": kb.Home, "End": kb.End, "PageUp": kb.PageUp, "PageDown": kb.PageDown,
}

// modifiers are the names of keys that press holds down.
var modifiers = map[string]int64{
	"Alt": 1, "Control": 2, "Shift": 8,
}

// press presses keys, one after another: characters, the names of keys, and these after modifiers, as in "Shift+Tab".
func (p *tab) press(names ...string) {
	p.Helper()
	for _, name := range names {
		parts := strings.Split(name, "+")
		key := parts[len(parts)-1]
		if key == "" {
			key, parts = "+", parts[:len(parts)-1]
		}
		var held int64
		for _, modifier := range parts[:len(parts)-1] {
			held |= modifiers[modifier]
		}
		text, ok := keys[key]
		if !ok && utf8.RuneCountInString(key) != 1 {
			p.Fatalf("press does not know the key %q", name)
		} else if !ok {
			text = key
		}
		r, _ := utf8.DecodeRuneInString(text)
		p.pressKey(r, held)
	}
}

// pressKey presses a key while modifiers are held. What it types is part of its going down, as it is at a keyboard: a
// page that handles the key keeps it from being typed. With Control or Alt it types nothing.
func (p *tab) pressKey(r rune, held int64) {
	p.Helper()
	events := kb.Encode(r)
	down, up := *events[0], *events[len(events)-1]
	if len(events) == 3 && held&^modifiers["Shift"] == 0 {
		down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
	}
	for _, event := range []input.DispatchKeyEventParams{down, up} {
		event.Modifiers |= held
		mustCall(p, input.DispatchKeyEvent, event)
	}
}

// typeText types a text where the focus is, key by key.
func (p *tab) typeText(text string) {
	p.Helper()
	for _, r := range text {
		p.press(string(r))
	}
}

// setFiles chooses files in the field for files that has a label.
func (p *tab) setFiles(label string, paths ...string) {
	p.Helper()
	e := p.waitFor("button", label) // as Chromium tells of a field for files
	mustCall(p, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: paths, BackendNodeID: e.node})
}

// dropFiles drags files over an element and drops them there.
func (p *tab) dropFiles(role, name string, paths ...string) {
	p.Helper()
	at := p.pointOf(role, name)
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1}
	for _, step := range []input.DispatchDragEventType{"dragEnter", "dragOver", "drop"} {
		mustCall(p, input.DispatchDragEvent, input.DispatchDragEventParams{Type: step, X: at.X, Y: at.Y, Data: data})
	}
}

// download is what the browser last downloaded.
type download struct{ id, name, state string }

// download does what makes the browser download a file, waits for it, and returns its name and content.
func (p *tab) download(action func()) (name string, content []byte) {
	p.Helper()
	p.mu.Lock()
	p.downloaded = download{}
	p.mu.Unlock()
	action()
	var done download
	p.eventually("a download", func() (bool, string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		done = p.downloaded
		return done.state == "completed", "it is " + done.state
	})
	content = errtest.Must(os.ReadFile(filepath.Join(p.downloads, done.id)))(p)
	return done.name, content
}

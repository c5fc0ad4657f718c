package browsertest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sluice/client"
	"sluice/openapi/wire"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

const (
	// storedText is what the page says of a batch that has ended well.
	storedText = "Everything that was valid is stored."
	// dropZone is the name of the region on which files are dropped.
	dropZone = "Files to upload"
)

// uploadPage opens the upload page and drops files on it.
func uploadPage(n *tenant, paths ...string) *tab {
	n.Helper()
	p := n.open("/upload")
	p.waitForHeading("Upload")
	p.dropFiles("region", dropZone, paths...)
	return p
}

// A file is dropped, checked without anything being sent, uploaded with options when the person says so, and followed
// until it is stored.
func TestUploadFromDropToProcessed(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	p := uploadPage(tenant, tenant.generate(500, 0))
	p.waitForText("Checked on this machine")
	p.waitFor("link", "lines.jsonl Valid")
	p.checkAccessible()
	p.checkScreenshot("upload-checked")
	if list := tenant.sluice("batches", "--json"); strings.TrimSpace(list) != "" {
		t.Errorf("there are batches before the upload: %s", list)
	}
	p.fill("textbox", "Name", "from the page")
	p.click("button", "Add metadata")
	p.waitForFocus("textbox", "Key 1")
	p.typeText("region")
	p.fill("textbox", "Value 1", "north & south")
	p.click("button", "Upload (")
	p.waitForText(storedText)
	p.waitForText("500 lines: 500 accepted, 0 invalid, 500 stored.")
	p.checkAccessible()
	p.click("link", "Show the batch")
	p.eventually("the address is that of a batch", func() (bool, string) {
		return strings.HasPrefix(p.address(), "/batches/"), p.address()
	})
	s, err := tenant.api.Status(t.Context(), strings.TrimPrefix(p.address(), "/batches/"))
	if err != nil || s.Status != client.StatusProcessed || wire.OrZero(s.Name) != "from the page" ||
		s.Metadata["region"] != "north & south" {
		t.Errorf("the batch is %+v, %v", s, err)
	}
}

// What is wrong with the lines of a file is shown by code, by line and page by page, before and without an upload; the
// options say what it leads to.
func TestUploadWithErrors(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	p := uploadPage(tenant, tenant.generate(2000, 0.1))
	p.waitForText("the service would reject the whole batch")
	p.checkAccessible()
	p.click("button", "Show the errors")
	p.click("button", "Next")
	p.waitForText("26 to 50 of")
	code := p.findAll("button", "", p.waitFor("list", "Errors by code"))[0].name
	code = strings.Fields(code)[0]
	p.click("button", code, p.waitFor("list", "Errors by code"))
	p.eventually("the address has the code", func() (bool, string) {
		at, err := url.Parse(p.address())
		return err == nil && at.Query().Get("code") == code && !at.Query().Has("offset"), p.address()
	})
	p.waitForText("Errors: " + code)
	p.reload()
	p.waitForText("Errors: " + code)
	p.back()
	p.waitForText("26 to 50 of")
	p.fill("spinbutton", "From line", "1900")
	p.click("button", "Go")
	p.eventually("the first error is of line 1,900 or later", func() (bool, string) {
		articles, err := p.tryFindAll("article", "")
		return err == nil && len(articles) > 0 && strings.HasPrefix(articles[0].name, "Line 1,9"), p.address()
	})
	name, content := p.download(func() { p.click("link", "Download all errors") })
	var first client.ReportLine
	line, _, _ := strings.Cut(string(content), "\n")
	err := json.Unmarshal([]byte(line), &first)
	if err != nil || name != "lines.errors.jsonl" || len(first.Errors) == 0 {
		t.Errorf("the downloaded %s begins with %.200q, %v", name, line, err)
	}
	p.choose("If lines are invalid", "Drop them, up to a limit")
	p.click("button", "Upload (")
	p.waitForText("Give a number of lines")
	p.fill("textbox", "Limit", "20%")
	p.click("button", "Upload (")
	p.waitForText(storedText)
	p.waitForText("2,000 lines: 1,")
}

// An upload whose connection breaks says so and can be paused; a reload of the page changes nothing; it resumes where
// it was.
func TestUploadPausedAndResumed(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	file := tenant.generate(16_000, 0) // more than 16 MiB: in parts
	gate := tenant.withGate()
	p := uploadPage(tenant, file)
	p.waitForText("Checked on this machine")
	gate.cutOff()
	p.click("button", "Upload (")
	p.waitForText("The connection broke. It is tried again by itself.")
	p.checkAccessible()
	p.click("button", "Pause")
	p.waitFor("button", "Resume")
	p.reload()
	p.waitFor("button", "Resume")
	gate.letThrough()
	p.click("button", "Resume")
	p.waitForText("16,000 lines: 16,000 accepted, 0 invalid, 16,000 stored.")
}

// A broken upload goes on by itself, whether or not the page is there; one can be cancelled and begun again.
func TestUploadGoesOnByItself(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	gate := tenant.withGate()
	p := uploadPage(tenant, tenant.generate(10, 0))
	p.waitForText("Checked on this machine")
	gate.cutOff()
	p.click("button", "Upload (")
	p.waitForText("The connection broke.")
	p.click("button", "Cancel the upload")
	p.click("button", "Cancel the upload", p.waitFor("dialog", ""))
	p.waitForText("The upload was cancelled")
	p.click("button", "Upload (")
	p.waitForText("The connection broke.")
	p.goTo("/batches")
	gate.letThrough()
	p.goTo("/upload")
	p.waitForText(storedText)
}

// Files of which no batch can be made say why, and names are text whatever they are.
func TestUnusableFilesAreExplained(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	folder := filepath.Join(t.TempDir(), "dropped")
	hostile := "<img src=x onerror=alert(1)>\u202Elnosj.jsonl"
	good, err := os.ReadFile(tenant.generate(3, 0))
	if err != nil || os.Mkdir(folder, 0o700) != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{hostile: string(good), "again.jsonl": string(good), "empty.jsonl": "",
		"table.csv": "id,amount\nt1,5\nt2,6\n", "blank.jsonl": "\n\n", ".hidden": "x"} {
		errtest.Fatal(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	p := uploadPage(tenant, folder)
	for name, want := range map[string]string{
		"dropped/empty.jsonl": "The file is empty", "dropped/table.csv": "The file is not JSON Lines",
		"dropped/blank.jsonl": "The file contains no transaction",
	} {
		p.click("link", name)
		p.waitForText(want)
		p.checkAccessible()
	}
	p.click("link", "dropped/<img src=x onerror=alert(1)>·lnosj.jsonl")
	p.waitForText("Checked on this machine")
	p.click("link", "dropped/again.jsonl")
	p.waitForText("Checked on this machine")
	difftest.Equal(t, "a hidden file of a folder was taken", 0, strings.Count(p.text(), ".hidden"))
	p.click("button", "Remove from the console")
	p.waitUntilGone("link", "dropped/again.jsonl")
}

// While a file is on its way, leaving the console is warned of; a file that changes meanwhile is not taken for
// received.
func TestFileThatChangesWhileItIsSent(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	path := tenant.file("growing.jsonl", strings.Repeat(strings.Repeat("x", 1023)+"\n", 100<<10))
	p := tenant.open("/upload")
	p.waitForHeading("Upload")
	p.waitForText("No file is here yet.")
	errtest.Fatal(t, p.console.cmd.Process.Signal(syscall.SIGSTOP))
	p.expect("ERR_UPLOAD_FILE_CHANGED")
	p.expect("Failed to load resource")
	p.dropFiles("region", dropZone, path)
	p.waitForText("growing.jsonl")
	const leave = `dispatchEvent(new Event("beforeunload", {cancelable: true}))`
	if evaluate[bool](p, leave) {
		t.Error("the console can be left without a warning while a file is sent")
	}
	errtest.Fatal(t, os.WriteFile(path, []byte("other"), 0o600))
	errtest.Fatal(t, p.console.cmd.Process.Signal(syscall.SIGCONT))
	p.waitForText("The browser cannot read the file any more.")
	p.click("button", "Forget growing.jsonl")
	p.waitUntilGone("button", "Forget growing.jsonl")
	if !evaluate[bool](p, leave) {
		t.Error("leaving the console is warned of though nothing is sent")
	}
}

// A reload while a file is received ends it: the command drops what has come, and the page says what to do. Dropped
// again, the file is received.
func TestReloadWhileAFileIsReceived(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	spool := t.TempDir()
	path := tenant.generate(2000, 0) // more than 2 MB
	p := tenant.open("/upload", "--spool", spool)
	p.waitForText("No file is here yet.")
	p.slowUpload(50e3)
	p.dropFiles("region", dropZone, path)
	p.waitForText("received by the command")
	p.reload()
	p.waitForText("The file did not arrive completely")
	p.waitForText("the page was closed or reloaded")
	p.waitForText("Drop it again.")
	p.checkAccessible()
	if kept, err := filepath.Glob(filepath.Join(spool, "*", "*")); err != nil || len(kept) > 0 {
		t.Errorf("the command keeps %q of a file that was not received, %v", kept, err)
	}
	p.slowUpload(-1)
	p.dropFiles("region", dropZone, path)
	p.waitForText("Checked on this machine")
}

// When the command ends, it says how the upload goes on; the page says that there is no command any more.
func TestCommandEndsDuringAnUpload(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	gate := tenant.withGate()
	p := uploadPage(tenant, tenant.generate(10, 0))
	p.waitForText("Checked on this machine")
	gate.cutOff()
	p.choose("If lines are invalid", "Drop them, store the others")
	p.click("button", "Upload (")
	p.waitForText("The connection broke.")
	p.expect("ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_SOCKET_NOT_CONNECTED")
	p.console.stop(t)
	want := fmt.Sprintf("lines.jsonl was not uploaded completely; continue with: sluice upload --api-url %s "+
		"--token-url %s --client-id %s --scope tenant/%s lines.jsonl --reject-on-invalid=false\n",
		tenant.apiURL, tenant.tokenURL, tenant.clientID, tenant.id)
	difftest.Contains(t, "the command prints", p.console.output.String(), want)
	p.waitForText("Not up to date")
}

// Several files are uploaded in the same way by one click, each as a batch of its own.
func TestUploadOfSeveralFiles(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	whole := errtest.Must(os.ReadFile(tenant.generate(6, 0)))(t)
	lines := strings.SplitAfter(string(whole), "\n")
	p := uploadPage(tenant, tenant.file("one.jsonl", strings.Join(lines[:1], "")),
		tenant.file("two.jsonl", strings.Join(lines[1:3], "")), tenant.file("three.jsonl", strings.Join(lines[3:], "")))
	for _, name := range []string{"one.jsonl Valid", "two.jsonl Valid", "three.jsonl Valid"} {
		p.waitFor("link", name)
	}
	p.click("checkbox", "Upload the 2 other checked files in the same way")
	p.fill("textbox", "Name", "together")
	p.click("button", "Upload 3 files")
	for _, name := range []string{"one.jsonl Processed", "two.jsonl Processed", "three.jsonl Processed"} {
		p.waitFor("link", name)
	}
	if list := tenant.sluice("batches", "--name", "together"); strings.Count(list, "PROCESSED") != 3 {
		t.Errorf("the batches are %s, want three", list)
	}
}

// What becomes of a file that another batch has, too, is chosen, and sent as it was chosen.
func TestUploadOfTheSameFile(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	file := tenant.generate(20, 0)
	first := tenant.upload(file)
	p := uploadPage(tenant, file)
	p.waitForText("Checked on this machine")
	for _, choice := range []struct{ text, hint, option string }{
		{"Process it again", "the batch names that other batch", ""},
		{"Reject it if processed", "within 30 days, the batch is rejected.", " --on-duplicate reject"},
		{"Reject it if processed or open", "Of equal files at the same time, one is stored.",
			" --on-duplicate reject_open"},
	} {
		p.choose("If another batch has the same file", choice.text)
		p.waitForText(choice.hint)
		commands := p.commandsOf("command")
		difftest.Contains(t, choice.text, commands[len(commands)-1]+"\n", " lines.jsonl"+choice.option+"\n")
	}
	p.checkAccessible()
	p.click("button", "Upload (")
	p.waitForText("This file was processed as batch " + first)
	difftest.Equal(t, "the request", "reject_open", evaluate[string](p,
		`fetch("/console/files").then(r => r.json()).then(list => list.files[0].upload.options.on_duplicate)`))
	p.click("link", "Show the batch")
	p.waitForText("Another batch has the same file: batch " + first)
}

// A file that is too large is refused before it is sent. The file of this test has no content but its size.
func TestFileThatIsTooLarge(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	path := tenant.file("large.jsonl", "")
	errtest.Fatal(t, os.Truncate(path, 1<<31))
	p := uploadPage(tenant, path)
	p.waitForText("The file is too large.")
	p.checkAccessible()
}

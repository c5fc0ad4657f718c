package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// paper is what these tests read of a document.
type paper struct {
	ID, EntityID, JourneyID, Status                             string
	FileName, FriendlyName, DocumentKey, ErrorCode, DocumentURL *string
	ArchivalReason, PreArchivalStatus                           *string
	DocumentEntityType                                          struct{ Name string }
	IsVirtual, IsCloned, HasRequiredAccessLayers                bool
}

func (d *door) paper(id string) paper {
	d.t.Helper()
	var p paper
	d.take("GET", documentQueries+"/"+id, "", &p)
	return p
}

// eventually polls to a deadline.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); !done(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// fetch downloads by a signed URL, as a browser would.
func fetch(t *testing.T, link string) (int, http.Header, string) {
	t.Helper()
	resp, err := http.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

func (d *door) link(id string) string {
	d.t.Helper()
	var link string
	d.take("GET", documentQueries+"/signedurl/"+id, "", &link)
	return link
}

func (d *door) cloneOf(id, data string) string {
	d.t.Helper()
	var c struct{ Id string }
	d.take("PUT", documentCommands+"/"+id+"/clone", `{"data":`+data+`}`, &c)
	return c.Id
}

const eicar = `X5O!P%@AP[4\PZX54(P^)7CC)7}` + `$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`

// From nothing to a file that can be read, and to its end with the last document that has it.
func TestTheLifeOfADocument(t *testing.T) {
	d := enter(t, home)
	entity := uuid.NewString()
	var n newDocument
	d.take("POST", documentCommands, `{"data":{"fileName":"Straße 1.pdf","entityId":"`+entity+`","journeyId":"j"}}`, &n)
	if p := d.paper(n.ID); p.Status != "Processing" || p.EntityID != entity || p.IsVirtual || p.DocumentEntityType.Name != "Entity" || *p.FileName != "Straße 1.pdf" {
		t.Errorf("%+v", p)
	}
	d.ends(404, "GET", documentQueries+"/signedurl/"+n.ID, "")
	to := upload{URL: n.SignedURLToUpload, Method: "PUT", RequiredHeaders: n.RequiredHeaders}
	if code, text := put(t, upload{URL: to.URL, Method: "PUT"}, []byte("x")); code != 403 {
		t.Errorf("without the required header: %d %s", code, text)
	}
	if code, text := put(t, to, []byte("a bill")); code != 200 {
		t.Fatalf("%d %s", code, text)
	}
	if code, text := put(t, to, []byte("another bill")); code != 412 {
		t.Errorf("a second upload: %d %s", code, text)
	}
	eventually(t, "the file is not scanned", func() bool { return d.paper(n.ID).Status == "Completed" })
	copied := d.cloneOf(n.ID, `{"EntityId":"other","DocumentDataKey":"k"}`)
	if p := d.paper(copied); p.Status != "Completed" || !p.IsCloned || p.EntityID != "other" || p.JourneyID != "j" || *p.DocumentKey != *d.paper(n.ID).DocumentKey {
		t.Errorf("%+v", p)
	}
	link := d.link(n.ID)
	code, header, text := fetch(t, link)
	if disposition := header.Get("Content-Disposition"); code != 200 || text != "a bill" || disposition != "attachment; filename*=UTF-8''"+url.PathEscape("Straße 1.pdf") {
		t.Errorf("%d %q %s", code, disposition, text)
	}
	if code, text := put(t, upload{URL: link, Method: "PUT"}, []byte("x")); code != 403 {
		t.Errorf("upload by a download URL: %d %s", code, text)
	}
	d.ends(202, "DELETE", documentCommands+"/"+n.ID, "")
	d.ends(404, "GET", documentQueries+"/"+n.ID, "")
	if code, _, text := fetch(t, d.link(copied)); code != 200 || text != "a bill" {
		t.Errorf("the clone's: %d %s", code, text)
	}
	d.ends(202, "DELETE", documentCommands+"/"+copied, "")
	if code, _, text := fetch(t, link); code != 404 && code != 403 {
		t.Errorf("after the last: %d %s", code, text)
	}
	for _, group := range []string{"/entity/" + entity, "/entity/other", "/entity/other/journey/j"} {
		var left []paper
		if d.take("GET", documentQueries+group, "", &left); len(left) > 0 {
			t.Errorf("%s: %+v", group, left)
		}
	}
	// The upload URL lives on. What comes by it now belongs to nothing and goes at once, so that it can come again.
	for range 2 {
		eventually(t, "an upload without a document stays", func() bool {
			code, _ := put(t, to, []byte("too late"))
			return code == 200
		})
	}
}

// The file goes with its last document, in whichever order they go, and also when all go at once.
func TestFilesGoWithTheirLastDocument(t *testing.T) {
	d := enter(t, home)
	for name, remove := range map[string]func(ids []string){
		"original first": func(ids []string) {
			for _, id := range ids {
				d.ends(202, "DELETE", documentCommands+"/"+id, "")
			}
		},
		"original last": func(ids []string) {
			for i := range ids {
				d.ends(202, "DELETE", documentCommands+"/"+ids[len(ids)-1-i], "")
			}
		},
		"at once": func(ids []string) {
			errs := make(chan int)
			for _, id := range ids {
				go func() {
					status, _, _ := d.platformAs(home.TenantID, "DELETE", documentCommands+"/"+id, "")
					errs <- status
				}()
			}
			for range ids {
				if status := <-errs; status != 202 {
					t.Errorf("at once: %d", status)
				}
			}
		},
	} {
		n, status := d.document(uuid.NewString(), "a bill")
		if status != "Completed" {
			t.Fatal(status)
		}
		ids := []string{n.ID}
		for range 3 {
			ids = append(ids, d.cloneOf(ids[len(ids)-1], "{}"))
		}
		link := d.link(ids[2])
		if code, _, _ := fetch(t, link); code != 200 {
			t.Fatalf("%s: %d", name, code)
		}
		remove(ids)
		if code, _, text := fetch(t, link); code != 403 && code != 404 {
			t.Errorf("%s: %d %s", name, code, text)
		}
		for _, id := range ids {
			d.ends(404, "GET", documentQueries+"/"+id, "")
			d.ends(400, "DELETE", documentCommands+"/"+id, "")
		}
	}
}

// Clones that are made while their source goes have a file, or are not made.
func TestCloneWhileDeleting(t *testing.T) {
	d := enter(t, home)
	for range 5 {
		n, _ := d.document(uuid.NewString(), "a bill")
		gone := make(chan int)
		go func() {
			status, _, _ := d.platformAs(home.TenantID, "DELETE", documentCommands+"/"+n.ID, "")
			gone <- status
		}()
		copies := make([]string, 4)
		for i := range copies {
			copies[i] = uuid.NewString()
		}
		got := d.together(len(copies), "PUT", documentCommands+"/"+n.ID+"/clone", func(i int) string { return `{"data":{"Id":"` + copies[i] + `"}}` })
		if status := <-gone; status != 202 || got[202]+got[404] != len(copies) {
			t.Errorf("deleted %d, cloned %v", status, got)
		}
		for _, id := range copies {
			if status, _ := d.platform("GET", documentQueries+"/"+id, ""); status == 200 {
				if code, _, text := fetch(t, d.link(id)); code != 200 || text != "a bill" {
					t.Errorf("a clone without its file: %d %s", code, text)
				}
				d.ends(202, "DELETE", documentCommands+"/"+id, "")
			}
		}
	}
}

// What the scan finds is the document's status, and only a clean file can be read.
func TestOutcomesOfFiles(t *testing.T) {
	h := another(t, "MaxUploadBytes=100", "DownloadUrlLifetime=1")
	d := enter(t, h)
	for content, want := range map[string]string{
		strings.Repeat("x", 99): "Completed", strings.Repeat("x", 100): "Completed", strings.Repeat("x", 101): "Error CLIENT_SIDE_ERROR",
		eicar: "Infected INFECTED_FILE", "": "Completed", "MZ": "Completed",
	} {
		n, status := d.document(uuid.NewString(), content)
		p := d.paper(n.ID)
		if p.ErrorCode != nil {
			status += " " + *p.ErrorCode
		}
		if status != want {
			t.Errorf("%.20q: %s, want %s", content, status, want)
		}
		if want != "Completed" {
			d.ends(404, "GET", documentQueries+"/signedurl/"+n.ID, "")
			continue
		}
		link := d.link(n.ID)
		if code, _, text := fetch(t, link); code != 200 || text != content {
			t.Errorf("%.20q: %d %.20q", content, code, text)
		}
		if len(content) == 99 {
			eventually(t, "a download URL does not end", func() bool { code, _, _ := fetch(t, link); return code == 403 })
		}
	}
	var n newDocument
	status, _, text := d.platformAs(h.TenantID, "POST", documentCommands, `{"data":{"fileName":"setup.exe","entityId":"e"}}`)
	if err := json.Unmarshal(text, &struct{ Data any }{&n}); err != nil || status != 202 || !strings.Contains(string(text), `"type":"Warning","errorCode":"INVALID_MIME_TYPE"`) {
		t.Fatalf("%d %s", status, text)
	}
	put(t, upload{URL: n.SignedURLToUpload, Method: "PUT", RequiredHeaders: n.RequiredHeaders}, []byte("x"))
	eventually(t, "a file of a kind that is not taken", func() bool {
		p := d.paper(n.ID)
		return p.Status == "Error" && *p.ErrorCode == "INVALID_MIME_TYPE"
	})
}

// A refused or wrong file gives way to a new one; clones keep theirs.
func TestAnotherFile(t *testing.T) {
	d := enter(t, home)
	n, _ := d.document(uuid.NewString(), eicar)
	copied := d.cloneOf(n.ID, "{}")
	var again newDocument
	d.take("PUT", documentCommands+"/updateFile", `{"data":{"id":"`+n.ID+`","fileName":"b.pdf"}}`, &again)
	if again.ID != n.ID || d.paper(n.ID).Status != "Processing" || d.paper(copied).Status != "Infected" {
		t.Errorf("%+v", again)
	}
	if code, text := put(t, upload{URL: again.SignedURLToUpload, Method: "PUT", RequiredHeaders: again.RequiredHeaders}, []byte("a clean bill")); code != 200 {
		t.Fatalf("%d %s", code, text)
	}
	eventually(t, "the new file is not scanned", func() bool { return d.paper(n.ID).Status == "Completed" })
	if code, _, text := fetch(t, d.link(n.ID)); code != 200 || text != "a clean bill" {
		t.Errorf("%d %s", code, text)
	}
	before := d.link(n.ID)
	got := d.together(3, "PUT", documentCommands+"/updateFile", func(i int) string { return fmt.Sprintf(`{"data":{"id":%q,"fileName":"%d.pdf"}}`, n.ID, i) })
	if got[202] == 0 || got[202]+got[409] != 3 || d.paper(n.ID).Status != "Processing" {
		t.Errorf("at once: %v", got)
	}
	if code, _, _ := fetch(t, before); code != 403 && code != 404 {
		t.Errorf("the replaced file: %d", code)
	}
}

package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

const (
	documentCommands = "/documentmanagementcommand/api/v2/documentmanagement"
	documentQueries  = "/documentmanagementquery/api/documentmanagement"
)

type newDocument struct {
	ID                string
	SignedURLToUpload string `json:"signedUrlToUpload"`
	RequiredHeaders   map[string]string
}

// document creates a document, uploads its file and waits for the scan's outcome.
func (d *door) document(entity, content string) (newDocument, string) {
	d.t.Helper()
	var n newDocument
	d.take("POST", documentCommands, `{"data":{"fileName":"a.zip","entityId":"`+entity+`"}}`, &n)
	if code, text := put(d.t, upload{URL: n.SignedURLToUpload, Method: "PUT", RequiredHeaders: n.RequiredHeaders}, []byte(content)); code != 200 {
		d.t.Fatalf("upload: %d %s", code, text)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-tick.C {
		var m struct{ Status string }
		if d.take("GET", documentQueries+"/"+n.ID, "", &m); m.Status != "Processing" {
			return n, m.Status
		}
	}
	d.t.Fatal("the file is not scanned")
	return n, ""
}

func TestDocumentFileGoesWithItsLastReference(t *testing.T) {
	d := enter(t, home)
	n, status := d.document(uuid.NewString(), "PK\x03\x04 an archive is a document too")
	if status != "Completed" {
		t.Fatal(status)
	}
	var c struct{ Id string }
	d.take("PUT", documentCommands+"/"+n.ID+"/clone", `{"data":{}}`, &c)
	var link string
	d.take("GET", documentQueries+"/signedurl/"+c.Id, "", &link)
	fetch := func() (int, string) {
		resp, err := http.Get(link)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	d.take("DELETE", documentCommands+"/"+n.ID, "", nil)
	if code, text := fetch(); code != 200 || !strings.HasPrefix(text, "PK") {
		t.Errorf("the clone's file: %d %s", code, text)
	}
	d.take("DELETE", documentCommands+"/"+c.Id, "", nil)
	if code, text := fetch(); code != 403 && code != 404 {
		t.Errorf("after the last reference: %d %s", code, text)
	}
	if code, text := d.platform("DELETE", documentCommands+"/"+c.Id, ""); code != 400 {
		t.Errorf("deleted again: %d %s", code, text)
	}
}

// A URL outlives its document; what is put there then goes at once, and nobody ever sees it.
func TestUploadForADeletedDocument(t *testing.T) {
	d := enter(t, home)
	var n newDocument
	d.take("POST", documentCommands, `{"data":{"fileName":"late.txt","entityId":"`+uuid.NewString()+`"}}`, &n)
	d.take("DELETE", documentCommands+"/"+n.ID, "", nil)
	file := upload{URL: n.SignedURLToUpload, Method: "PUT", RequiredHeaders: n.RequiredHeaders}
	if code, text := put(t, file, []byte("late")); code != 200 {
		t.Fatalf("%d %s", code, text)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	// The URL writes only where there is nothing.
	for deadline := time.Now().Add(time.Minute); ; <-tick.C {
		if code, _ := put(t, file, []byte("late")); code == 200 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the file stays")
		}
	}
}

func TestInfectedDocument(t *testing.T) {
	d := enter(t, home)
	n, status := d.document(uuid.NewString(), eicar)
	if status != "Infected" {
		t.Error(status)
	}
	if code, text := d.platform("GET", documentQueries+"/signedurl/"+n.ID, ""); code != 404 {
		t.Errorf("download: %d %s", code, text)
	}
}

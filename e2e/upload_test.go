package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestTheURLTakesOneUpload(t *testing.T) {
	onboard(t, home)
	d := enter(t, home)
	u := d.newBatch("")
	if u.Method != "PUT" || u.RequiredHeaders["If-None-Match"] != "*" || len(u.RequiredHeaders) != 1 || u.MaxBytes != 2147483647 ||
		!u.ExpiresAt.After(time.Now()) {
		t.Errorf("%+v", u)
	}
	content := file(valid())

	without := u
	without.RequiredHeaders = nil
	if code, text := put(t, without, content); code != 403 {
		t.Errorf("without If-None-Match: %d %s", code, text)
	}
	for name, altered := range map[string]string{
		"key":       strings.Replace(u.URL, u.BatchID, "0"+u.BatchID[1:], 1) + "&x=1",
		"signature": u.URL[:len(u.URL)-4] + "0000",
		"lifetime":  strings.Replace(u.URL, "X-Amz-Expires=900", "X-Amz-Expires=90000", 1),
	} {
		if altered == u.URL {
			t.Fatalf("the URL has no %s to alter: %s", name, u.URL)
		}
		wrong := u
		wrong.URL = altered
		if code, text := put(t, wrong, content); code != 403 {
			t.Errorf("altered %s: %d %s", name, code, text)
		}
	}
	if resp, err := http.Get(u.URL); err != nil || resp.StatusCode != 403 {
		t.Errorf("GET of an upload URL: %v %v", resp, err)
	}
	if code, text := put(t, u, content); code != 200 {
		t.Fatalf("the right upload: %d %s", code, text)
	}
	if code, text := put(t, u, content); code != 412 {
		t.Errorf("a second upload: %d %s", code, text)
	}
	if s, _ := d.follow(u.BatchID); s.Status != "PROCESSED" {
		t.Error(describe(s))
	}
	if code, text := put(t, u, content); code != 412 {
		t.Errorf("an upload after the end: %d %s", code, text)
	}
}

// An upload that breaks off leaves nothing: the same URL takes the next try.
func TestAnAbortedUpload(t *testing.T) {
	onboard(t, home)
	d := enter(t, home)
	u := d.newBatch("")
	content := file(valid(), valid())
	target, err := url.Parse(u.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, sent := range []int{0, 1, len(content) / 2, len(content) - 1} {
		conn, err := net.Dial("tcp", target.Host)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: %s\r\nIf-None-Match: *\r\nContent-Length: %d\r\n\r\n%s",
			target.RequestURI(), target.Host, len(content), content[:sent])
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, conn) // until the server has given up, whatever it says
		conn.Close()
		if code, _, text := d.call("GET", base+"batch/status/"+u.BatchID, "", ""); code != 202 || !strings.Contains(string(text), "not yet uploaded") {
			t.Errorf("after %d of %d bytes: %d %s", sent, len(content), code, text)
		}
	}
	if code, text := put(t, u, content); code != 200 {
		t.Fatalf("the retry: %d %s", code, text)
	}
	if s, _ := d.follow(u.BatchID); s.Status != "PROCESSED" || *s.Counts.Total != 2 {
		t.Error(describe(s))
	}
}

// A batch has at most so many transactions, 20 million unless set otherwise, however small its file is.
func TestTooManyTransactions(t *testing.T) {
	h := another(t, "MaxTransactions=3", "ChunkBytes=1500")
	onboard(t, h)
	d := enter(t, h)
	for _, n := range []int{2, 3, 4} {
		var lines []fmt.Stringer
		for range n - 1 {
			lines = append(lines, valid())
		}
		u := d.newBatch(`{"reject_on_invalid": false}`)
		if code, text := put(t, u, append(file(lines...), "\n\nno JSON\n\n"...)); code != 200 {
			t.Fatalf("%d %s", code, text)
		}
		s, _ := d.follow(u.BatchID)
		_, r := d.result(u.BatchID)
		switch {
		case n <= 3 && (s.Status != "PROCESSED" || *s.Counts.Ingested != int64(n-1) || r.ErrorsFileURL == ""):
			t.Errorf("%d transactions: %s %+v", n, describe(s), r)
		case n > 3 && (s.Status != "VALIDATION_FAILED" || r.ErrorsFileURL != "" || r.Valid == nil || *r.Valid || r.Message != *s.ErrorMessage ||
			r.Message != "The file contains 4 transactions; a batch may contain at most 3. Split the file into several batches."):
			t.Errorf("%d transactions: %s %+v", n, describe(s), r)
		}
	}
}

func TestLimitsOfTheURL(t *testing.T) {
	const limit = 2000
	h := another(t, fmt.Sprintf("MaxUploadBytes=%d", limit), "UploadUrlLifetime=1")
	onboard(t, h)
	d := enter(t, h)
	content := file(valid())
	for _, size := range []int{limit - 1, limit, limit + 1} {
		u := d.newBatch("")
		if u.MaxBytes != limit {
			t.Errorf("max_bytes %d", u.MaxBytes)
		}
		padded := string(content) + strings.Repeat(" ", size-len(content))
		if code, text := put(t, u, []byte(padded)); code != 200 {
			t.Fatalf("%d bytes: %d %s", size, code, text)
		}
		s, _ := d.follow(u.BatchID)
		if size <= limit && s.Status != "PROCESSED" || size > limit && (s.Status != "ERROR" || !strings.Contains(*s.ErrorMessage, "2000")) {
			t.Errorf("%d bytes: %s", size, describe(s))
		}
	}
	u := d.newBatch("")
	for deadline := time.Now().Add(10 * time.Second); ; {
		if code, _ := put(t, upload{URL: u.URL, Method: "PUT", RequiredHeaders: map[string]string{"If-None-Match": `"wrong"`}}, nil); code == 200 {
			t.Fatal("a URL was taken with another header than the signed one")
		}
		if time.Now().After(u.ExpiresAt.Add(time.Second)) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the URL says it lives until %v", u.ExpiresAt)
		}
	}
	if code, text := put(t, u, content); code != 403 {
		t.Errorf("an expired URL: %d %s", code, text)
	}
}

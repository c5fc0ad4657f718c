package e2e

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/google/uuid"

	"sluice/client"
	"sluice/shared/kit/errtest"
)

// attackRounds is the number of documents whose links are attacked with each scanner.
const attackRounds = 100

// A download link serves what was scanned or nothing, whatever is uploaded to its key after the file was deleted,
// replaced or lost. The scanners are slow, so that unscanned bytes would be there to be read for a while.
func TestLinksServeOnlyScannedFiles(t *testing.T) {
	t.Parallel()
	for _, scanner := range []struct {
		name  string
		cloud *sharedCloud
		// head begins every file.
		head string
	}{
		{"the built-in check", narrowCloud, ""}, // of one upload at a time
		{"clamd", clamdCloud, ""},
		{"GuardDuty", guardDutyCloud, "# scan takes 150ms\n"},
	} {
		t.Run(scanner.name, func(t *testing.T) {
			api := scanner.cloud.begin(t)
			a := &linkAttack{t: t, api: api, storage: operatorStorage(api.environment), head: scanner.head}
			var workers sync.WaitGroup
			for first := range attackWorkers {
				workers.Go(func() {
					for i := first; i < attackRounds; i += attackWorkers {
						a.round(i)
					}
				})
			}
			workers.Wait()
			t.Logf("%d rounds, %d reads, %d uploads of unscanned bytes accepted, %d reads of unscanned bytes",
				attackRounds, a.reads.Load(), a.accepted.Load(), a.leaks.Load())
			assert(t, a.leaks.Load() <= 0, "%d reads of unscanned bytes, want none", a.leaks.Load())
			assert(t, a.accepted.Load() != 0, "no upload of unscanned bytes was accepted: the test attacks nothing")
		})
	}
}

// attempts is how often a round tries to upload unscanned bytes and reads the link.
const attempts = 10

// attackWorkers is the number of rounds that run at once.
const attackWorkers = 10

// linkAttack uploads unscanned bytes to the keys of scanned files and reads the files' download links all the while.
type linkAttack struct {
	t                      *testing.T
	api                    *session
	storage                *s3.Client
	head                   string
	reads, accepted, leaks atomic.Int64
}

// unscanned is in what is uploaded after the scan. Every scanner finds the malware, so that it never becomes clean.
const unscanned = "unscanned " + eicar

// round attacks the link of one document.
func (a *linkAttack) round(i int) {
	document := a.api.createDocument("a.txt", uuid.NewString(), "")
	if code, text := put(a.t, document.upload(), []byte(a.head+"scanned")); code != 200 {
		a.t.Errorf("upload: %d %s, want 200", code, text)
		return
	}
	eventually(a.t, "the scan of a document", func() bool {
		return a.api.readDocument(document.ID).Status == "Completed"
	})
	link := a.api.downloadURL(document.ID)
	expectFile(a.t, link, a.head+"scanned")

	// Also a round that fails ends its reader.
	stop := make(chan struct{})
	var reader sync.WaitGroup
	defer reader.Wait()
	defer close(stop)
	reader.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				a.read(link)
			}
		}
	})
	switch i % 3 {
	case 0:
		a.api.deleteDocument(document.ID)
	case 1:
		a.api.mustCall("PUT", documentCommands+"/updateFile",
			`{"data":{"id":"`+document.ID+`","fileName":"b.txt"}}`, nil)
	case 2:
		a.loseObject(link)
	}
	for range attempts {
		if code, _ := put(a.t, document.upload(), []byte(a.head+unscanned)); code == 200 {
			a.accepted.Add(1)
		}
		a.read(link)
	}
}

// read reads a link and counts what must not be read.
func (a *linkAttack) read(link string) {
	_, _, text := download(a.t, link)
	a.reads.Add(1)
	if strings.Contains(text, unscanned) {
		a.leaks.Add(1)
	}
}

// loseObject deletes the object of a link from storage, as an operator or a rule of the bucket might.
func (a *linkAttack) loseObject(link string) {
	u, err := url.Parse(link)
	if err != nil {
		a.t.Error(err)
		return
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	errtest.Fatal(a.t,
		errtest.Of(a.storage.DeleteObject(a.t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: &key})))
}

// An upload URL accepts no header that would mark the file as clean, or fill it from another object: storage refuses
// what is not signed.
func TestUploadURLsAcceptNoOtherHeaders(t *testing.T) {
	api := begin(t)
	clean, _ := api.uploadDocument(uuid.NewString(), "clean")
	u := ok(url.Parse(api.downloadURL(clean.ID)))(t)
	for name, value := range map[string]string{
		"x-amz-tagging":                   "sluice-verdict=clean",
		"x-amz-copy-source":               u.Path,
		"x-amz-meta-note":                 "x",
		"x-amz-acl":                       "public-read",
		"x-amz-website-redirect-location": "https://example.com/",
	} {
		t.Run(name, func(t *testing.T) {
			document := api.createDocument("a.txt", uuid.NewString(), "")
			upload := document.upload()
			upload.RequiredHeaders = maps.Clone(upload.RequiredHeaders)
			upload.RequiredHeaders[name] = value
			code, text := put(t, upload, []byte(eicar))
			assert(t, code/100 == 4, "upload: %d %s, want 403", code, text)
			api.expectDocument(document.ID, "Processing")
			expectPut(t, 200, document.upload(), []byte("x"))
		})
	}
}

// What is not scanned yet is read by nobody: not by the operator, and not by way of a copy.
func TestUnscannedUploadsAreNotRead(t *testing.T) {
	api := clamdCloud.begin(t)
	storage := operatorStorage(api.environment)
	document := api.createDocument("a.txt", uuid.NewString(), "")
	for name, u := range map[string]client.Upload{"document": document.upload(), "batch": api.newUpload(true)} {
		expectPut(t, 200, u, []byte(heldFile))
		target := ok(url.Parse(u.URL))(t)
		bucket, key, _ := strings.Cut(strings.TrimPrefix(target.Path, "/"), "/")
		read := func() string {
			out, err := storage.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: &key})
			if err != nil {
				var api smithy.APIError
				if errors.As(err, &api) {
					return api.ErrorCode()
				}
				return err.Error()
			}
			defer out.Body.Close()
			return "read"
		}
		got := read()
		assert(t, got == "AccessDenied", "%s before the scan: %s, want AccessDenied", name, got)
		copied := key + "-copy"
		if _, err := storage.CopyObject(t.Context(), &s3.CopyObjectInput{Bucket: &bucket, Key: &copied,
			CopySource: aws.String(bucket + "/" + key)}); err == nil {
			t.Errorf("%s before the scan: it was copied, want AccessDenied", name)
		}
		select {
		case heldScans <- struct{}{}:
		case <-time.After(patience):
			t.Fatalf("%s: no scan has begun after %v", name, patience)
		}
		eventually(t, "the scan of the "+name, func() bool { return read() == "read" })
	}
}

// heldFile is a file that clamdCloud scans only when the scan is let through heldScans.
const heldFile = `{"held":true}`

var heldScans = make(chan struct{})

// startClamdCloud starts a local cloud that scans by a server of this suite. The server speaks clamd's INSTREAM command
// and finds the EICAR test file.
func startClamdCloud() (*Environment, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		for { // as long as the suite runs
			if conn, err := listener.Accept(); err == nil {
				go answerInstream(conn)
			}
		}
	}()
	return startShared("--set", "MalwareScan=clamd", "--set", "ClamdAddress=tcp://"+listener.Addr().String())
}

// answerInstream scans the one file of a connection. A connection that breaks is the caller's affair.
func answerInstream(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	if command, err := r.ReadString(0); err != nil || command != "zINSTREAM\x00" {
		return
	}
	var file bytes.Buffer
	for {
		var size uint32
		if err := binary.Read(r, binary.BigEndian, &size); err != nil {
			return
		}
		if size == 0 {
			break
		}
		if _, err := io.CopyN(&file, r, int64(size)); err != nil {
			return
		}
	}
	if file.String() == heldFile {
		<-heldScans
	} else {
		<-time.After(150 * time.Millisecond) // the time in which an attacker reads
	}
	reply := "stream: OK"
	if strings.Contains(file.String(), eicar) {
		reply = "stream: Eicar-Test-Signature FOUND"
	}
	fmt.Fprintf(conn, "%s\x00", reply)
}

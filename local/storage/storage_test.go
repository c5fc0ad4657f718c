package storage

import (
	"bytes"
	"context"
	"crypto/sha256"
	enc "encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"sluice/local/template"
)

// The one server of this test binary; there can be no second.
var (
	address string
	told    struct {
		sync.Mutex
		all []Created
		err error
	}
	now = time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC)
)

const bucket = "toy-uploads"

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "storage-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	address = listener.Addr().String()
	config := Config{Address: address, Dir: dir, Region: "eu-west-1", Buckets: []string{bucket}, Now: func() time.Time { return now },
		IAM: keepers(),
		Created: func(c Created) error {
			told.Lock()
			defer told.Unlock()
			told.all = append(told.all, c)
			return told.err
		}}
	if _, err := Start(context.Background(), config); err == nil {
		panic("no error although the port is in use")
	}
	listener.Close()
	for range 2 { // the second start finds the bucket there
		s, err := Start(context.Background(), config)
		if err != nil {
			panic(err)
		}
		if code := m.Run(); code != 0 {
			return code
		}
		http.DefaultClient.CloseIdleConnections()
		s.Close()
		<-s.Ended()
	}
	return 0
}

func client(id, secret string) *s3.Client {
	return s3.New(s3.Options{Region: "eu-west-1", BaseEndpoint: aws.String("http://" + address), UsePathStyle: true,
		RetryMaxAttempts: 1, Credentials: credentials.NewStaticCredentialsProvider(id, secret, "")})
}

func presign(t *testing.T, key string, lives time.Duration) (string, http.Header) {
	t.Helper()
	r, err := s3.NewPresignClient(client("function", "function-secret")).PresignPutObject(t.Context(),
		&s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key, IfNoneMatch: aws.String("*")}, s3.WithPresignExpires(lives))
	if err != nil {
		t.Fatal(err)
	}
	return r.URL, r.SignedHeader
}

func put(t *testing.T, url, body string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPut, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func events0(key string) []Created {
	told.Lock()
	defer told.Unlock()
	var found []Created
	for _, c := range told.all {
		if c.Key == key {
			found = append(found, c)
		}
	}
	return found
}

func unique(name string) string { return fmt.Sprintf("uploads/%s-%d", name, time.Now().UnixNano()) }

func TestSignedUpload(t *testing.T) {
	key := unique("signed é+ x")
	url, signed := presign(t, key, time.Minute)
	if names := len(signed); names != 2 || signed.Get("If-None-Match") != "*" {
		t.Errorf("signed headers %v: a client would have to send more than If-None-Match", signed)
	}
	if status, text := put(t, url, "x"); status != 403 {
		t.Errorf("without the header: %d %s", status, text)
	}
	if status, text := put(t, strings.Replace(url, "signed", "sighed", 1), "x", "If-None-Match", "*"); status != 403 {
		t.Errorf("another key: %d %s", status, text)
	}
	if status, text := put(t, url, "hello", "If-None-Match", "*"); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	if status, text := put(t, url, "again", "If-None-Match", "*"); status != 412 {
		t.Errorf("the second time: %d %s", status, text)
	}
	want := []Created{{Bucket: bucket, Key: key, Size: 5, ETag: "5d41402abc4b2a76b9719d911017c592", Event: "ObjectCreated:Put", Time: now}}
	if diff := cmp.Diff(want, events0(key)); diff != "" {
		t.Error(diff)
	}
	expired, _ := presign(t, unique("late"), time.Second)
	for deadline := time.Now().Add(10 * time.Second); ; {
		status, text := put(t, expired+"", "x", "If-None-Match", "no") // a wrong header keeps it from succeeding early
		if status == 403 && strings.Contains(text, "expired") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the URL does not expire: %d %s", status, text)
		}
	}
}

func TestRacingUploadsHaveOneWinner(t *testing.T) {
	key := unique("race")
	url, _ := presign(t, key, time.Minute)
	var wg sync.WaitGroup
	won := make(chan int, 16)
	for i := range 16 {
		wg.Go(func() {
			if status, _ := put(t, url, fmt.Sprint(i), "If-None-Match", "*"); status == 200 {
				won <- i
			}
		})
	}
	wg.Wait()
	if len(won) != 1 || len(events0(key)) != 1 {
		t.Errorf("%d winners, %d events", len(won), len(events0(key)))
	}
}

// A client that goes away in the middle leaves nothing, and its next try works.
func TestAbortedUploadLeavesNothing(t *testing.T) {
	for _, sent := range []int{0, 1, 99_999} {
		key := unique("aborted")
		url, _ := presign(t, key, time.Minute)
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		path := strings.TrimPrefix(url, "http://"+address)
		fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: %s\r\nIf-None-Match: *\r\nContent-Length: 100000\r\n\r\n%s", path, address, strings.Repeat("x", sent))
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadAll(conn) // until the server is done with it
		conn.Close()
		_, err = client("root", "root-secret").HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: &key})
		var gone *types.NotFound
		if !errors.As(err, &gone) || len(events0(key)) != 0 {
			t.Errorf("after %d bytes: %v, events %v", sent, err, events0(key))
		}
		if status, text := put(t, url, strings.Repeat("x", 100_000), "If-None-Match", "*"); status != 200 || len(events0(key)) != 1 {
			t.Errorf("after %d bytes: the next try gives %d %s, %d events", sent, status, text, len(events0(key)))
		}
	}
}

func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return fmt.Sprint(err)
}

func TestRefusedObjectsCannotBeRead(t *testing.T) {
	c := client("root", "root-secret")
	key, other := unique("refused"), unique("copy")
	if _, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key, Body: strings.NewReader("x")}); err != nil {
		t.Fatal(err)
	}
	tag := func(value string) {
		t.Helper()
		if _, err := c.PutObjectTagging(t.Context(), &s3.PutObjectTaggingInput{Bucket: aws.String(bucket), Key: &key,
			Tagging: &types.Tagging{TagSet: []types.Tag{{Key: aws.String("sluice-verdict"), Value: &value}}}}); err != nil {
			t.Fatal(err)
		}
	}
	read := func() error {
		_, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: &key})
		return err
	}
	tag("clean")
	if err := read(); err != nil {
		t.Errorf("clean: %v", err)
	}
	tag("refused")
	if err := read(); code(err) != "AccessDenied" {
		t.Errorf("read: %v", err)
	}
	if _, err := c.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: &key}); err == nil {
		t.Error("its head can be read")
	}
	if _, err := c.CopyObject(t.Context(), &s3.CopyObjectInput{Bucket: aws.String(bucket), Key: &other,
		CopySource: aws.String(bucket + "/" + key)}); code(err) != "AccessDenied" {
		t.Errorf("copy: %v", err)
	}
	url, _ := presign(t, key, time.Minute)
	if status, _ := put(t, url, "again", "If-None-Match", "*"); status != 412 {
		t.Errorf("a second upload: %d", status)
	}
}

func TestMultipartAndCopyTellToo(t *testing.T) {
	c := client("function", "function-secret")
	key, copied := unique("parts"), unique("copied")
	created, err := c.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: aws.String(bucket), Key: &key})
	if err != nil {
		t.Fatal(err)
	}
	var parts []types.CompletedPart
	for i, size := range []int{5 << 20, 7} {
		n := int32(i + 1)
		part, err := c.UploadPart(t.Context(), &s3.UploadPartInput{Bucket: aws.String(bucket), Key: &key, UploadId: created.UploadId,
			PartNumber: &n, Body: bytes.NewReader(make([]byte, size))})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, types.CompletedPart{ETag: part.ETag, PartNumber: &n})
	}
	if _, err := c.CompleteMultipartUpload(t.Context(), &s3.CompleteMultipartUploadInput{Bucket: aws.String(bucket), Key: &key,
		UploadId: created.UploadId, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CopyObject(t.Context(), &s3.CopyObjectInput{Bucket: aws.String(bucket), Key: &copied,
		CopySource: aws.String(bucket + "/" + key)}); err != nil {
		t.Fatal(err)
	}
	for key, event := range map[string]string{key: "ObjectCreated:CompleteMultipartUpload", copied: "ObjectCreated:Copy"} {
		got := events0(key)
		if len(got) != 1 || got[0].Event != event || got[0].Size != 5<<20+7 || got[0].ETag == "" || strings.Contains(got[0].ETag, `"`) {
			t.Errorf("%s: %+v", key, got)
		}
	}
}

func TestUploadsWithChecksums(t *testing.T) {
	c := client("function", "function-secret")
	key := unique("sum")
	if _, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key, Body: strings.NewReader("hello"),
		ChecksumAlgorithm: types.ChecksumAlgorithmSha256}); err != nil {
		t.Fatal(err)
	}
	got, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: &key, ChecksumMode: types.ChecksumModeEnabled,
		Range: aws.String("bytes=1-3"), IfMatch: aws.String(`"5d41402abc4b2a76b9719d911017c592"`)})
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if text, err := io.ReadAll(got.Body); string(text) != "ell" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	wrong := sha256.Sum256([]byte("other"))
	_, err = c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String(key + "x"), Body: strings.NewReader("hello"),
		ChecksumSHA256: aws.String(enc.StdEncoding.EncodeToString(wrong[:]))})
	if err == nil {
		t.Error("a wrong checksum is accepted")
	}
	if _, err := client("function", "wrong").ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(bucket)}); code(err) != "SignatureDoesNotMatch" {
		t.Errorf("a wrong secret: %v", err)
	}
	if _, err := client("nobody", "x").ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(bucket)}); code(err) != "InvalidAccessKeyId" {
		t.Errorf("an unknown key: %v", err)
	}
}

func TestNotification(t *testing.T) {
	c := Created{Bucket: "b", Key: "uploads/a b+c/é", Size: 7, ETag: "e", VersionID: "v", Event: "ObjectCreated:Put", Time: now}
	text, err := c.Notification("eu-west-1", "r")
	if err != nil {
		t.Fatal(err)
	}
	var raw struct{ Records []map[string]any }
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"eventVersion": "2.1", "eventSource": "aws:s3", "awsRegion": "eu-west-1", "eventName": "ObjectCreated:Put",
		"eventTime": "2026-01-02T03:04:05.678Z", "userIdentity": map[string]any{"principalId": "AWS:LOCAL"},
		"requestParameters": map[string]any{"sourceIPAddress": "127.0.0.1"},
		"responseElements":  map[string]any{"x-amz-request-id": "r", "x-amz-id-2": "r"},
		"s3": map[string]any{"s3SchemaVersion": "1.0", "configurationId": "local",
			"bucket": map[string]any{"name": "b", "arn": "arn:aws:s3:::b", "ownerIdentity": map[string]any{"principalId": "LOCAL"}},
			"object": map[string]any{"key": "uploads/a+b%2Bc/%C3%A9", "size": 7.0, "eTag": "e", "versionId": "v",
				"sequencer": fmt.Sprintf("%018X", now.UnixNano()), "urlDecodedKey": ""}}}
	if diff := cmp.Diff(want, raw.Records[0]); diff != "" {
		t.Error(diff)
	}
	var e events.S3Event
	if err := json.Unmarshal(text, &e); err != nil || e.Records[0].S3.Object.URLDecodedKey != c.Key {
		t.Errorf("decodes to %q, %v", e.Records[0].S3.Object.URLDecodedKey, err)
	}
	all := template.Notification{Events: []string{"s3:ObjectCreated:*"}, Prefix: "uploads/"}
	for _, test := range []struct {
		change func(*Created, *template.Notification)
		want   bool
	}{
		{func(*Created, *template.Notification) {}, true},
		{func(c *Created, _ *template.Notification) { c.Key = "upload" }, false},
		{func(_ *Created, n *template.Notification) { n.Suffix = "é" }, true},
		{func(_ *Created, n *template.Notification) { n.Suffix = "e" }, false},
		{func(_ *Created, n *template.Notification) { n.Events = []string{"s3:ObjectCreated:Put"} }, true},
		{func(_ *Created, n *template.Notification) { n.Events = []string{"s3:ObjectCreated:Copy"} }, false},
		{func(_ *Created, n *template.Notification) { n.Events = []string{"s3:ObjectRemoved:*"} }, false},
	} {
		c, n := c, all
		test.change(&c, &n)
		if c.Matches(n) != test.want {
			t.Errorf("%+v of %+v: not %v", n, c, test.want)
		}
	}
}

package storage

import (
	"crypto/sha256"
	enc "encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestSignedUpload(t *testing.T) {
	key := uniqueKey("signed é+ x")
	url, signed := presignPut(t, key, time.Minute)
	if names := len(signed); names != 2 || signed.Get("If-None-Match") != "*" {
		t.Errorf("signed headers %v: a client would have to send more than If-None-Match", signed)
	}
	if status, text := put(t, url, "x"); status != 403 {
		t.Errorf("PUT without the signed header: status %d, want 403: %s", status, text)
	}
	if status, text := put(t, strings.Replace(url, "signed", "sighed", 1), "x", "If-None-Match", "*"); status != 403 {
		t.Errorf("PUT to another key: status %d, want 403: %s", status, text)
	}
	if status, text := put(t, url, "hello", "If-None-Match", "*"); status != 200 {
		t.Fatalf("PUT: status %d, want 200: %s", status, text)
	}
	if status, text := put(t, url, "again", "If-None-Match", "*"); status != 412 {
		t.Errorf("second PUT: status %d, want 412: %s", status, text)
	}
	want := []CreatedObject{
		{
			Bucket: bucket,
			Key:    key,
			Size:   5,
			ETag:   "5d41402abc4b2a76b9719d911017c592",
			Event:  "ObjectCreated:Put",
			Time:   now,
		},
	}
	difftest.Equal(t, "createdWithKey", want, createdWithKey(key))
	expired, _ := presignPut(t, uniqueKey("late"), time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-tick.C {
		status, text := put(t, expired, "x", "If-None-Match",
			"no") // the wrong header prevents success before it expires
		if status == 403 && strings.Contains(text, "expired") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("PUT with an expired URL: status %d, want 403: %s", status, text)
		}
	}
}

func TestRacingUploadsHaveOneWinner(t *testing.T) {
	key := uniqueKey("race")
	url, _ := presignPut(t, key, time.Minute)
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
	difftest.Equal(t, "result", []any{1, 1}, []any{len(won), len(createdWithKey(key))})
}

// An upload whose client disconnects leaves nothing behind, and the next attempt succeeds.
func TestAbortedUploadLeavesNothing(t *testing.T) {
	for _, sent := range []int{0, 1, 99_999} {
		key := uniqueKey("aborted")
		url, _ := presignPut(t, key, time.Minute)
		conn, err := net.Dial("tcp", address)
		errtest.Fatal(t, err)
		path := strings.TrimPrefix(url, "http://"+address)
		fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: %s\r\nIf-None-Match: *\r\nContent-Length: 100000\r\n\r\n%s", path,
			address, strings.Repeat("x", sent))
		errtest.Fatal(t, conn.(*net.TCPConn).CloseWrite())
		_, _ = io.ReadAll(conn) // wait for the server to handle the request
		conn.Close()
		_, err = client("root",
			"root-secret").HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: &key})
		var gone *types.NotFound
		if !errors.As(err, &gone) || len(createdWithKey(key)) != 0 {
			t.Errorf("after %d bytes: HEAD returns %v, want NotFound; events %v, want none", sent, err,
				createdWithKey(key))
		}
		if status, text := put(t, url, strings.Repeat("x", 100_000), "If-None-Match", "*"); status != 200 ||
			len(createdWithKey(key)) != 1 {
			t.Errorf("after %d bytes: the next PUT returns %d with %d events, want 200 with 1: %s", sent, status,
				len(createdWithKey(key)), text)
		}
	}
}

// errorCode returns the S3 error code of err, and its text if it has none.
func errorCode(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return fmt.Sprint(err)
}

func TestRefusedObjectsCannotBeRead(t *testing.T) {
	c := client("root", "root-secret")
	key, other := uniqueKey("refused"), uniqueKey("copy")
	errtest.Fatal(t, errtest.Of(c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key,
		Body: strings.NewReader("x")})))
	tag := func(value string) {
		t.Helper()
		errtest.Fatal(t,
			errtest.Of(c.PutObjectTagging(t.Context(),
				&s3.PutObjectTaggingInput{Bucket: aws.String(bucket), Key: &key,
					Tagging: &types.Tagging{TagSet: []types.Tag{{Key: aws.String("sluice-verdict"), Value: &value}}}})))
	}
	read := func() error {
		_, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: &key})
		return err
	}
	tag("clean")
	errtest.Is(t, "GET of a clean object", read(), nil)
	tag("refused")
	if err := read(); errorCode(err) != "AccessDenied" {
		t.Errorf("GET of a refused object: %v, want AccessDenied", err)
	}
	errtest.Fails(t, "HEAD of a refused object",
		errtest.Of(c.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: &key})))
	for _, source := range []string{key, strings.Replace(key, "refused", "%72efused", 1), url.QueryEscape(key)} {
		if _, err := c.CopyObject(t.Context(), &s3.CopyObjectInput{Bucket: aws.String(bucket), Key: &other,
			CopySource: aws.String(bucket + "/" + source)}); errorCode(err) != "AccessDenied" {
			t.Errorf("copy of a refused object as %s: %v, want AccessDenied", source, err)
		}
	}
	signed, _ := presignPut(t, key, time.Minute)
	difftest.Reply(t, "second PUT: status", 412)(put(t, signed, "again", "If-None-Match", "*"))
}

// An object that is not tagged clean is read by the scanner alone, also if a clean one was under its key before.
func TestOnlyCleanObjectsAreRead(t *testing.T) {
	root, scanner := client("root", "root-secret"), client("scanner", "scanner-secret")
	key := "scanned/" + uniqueKey("object")
	write := func() {
		t.Helper()
		errtest.Fatal(t,
			errtest.Of(root.PutObject(t.Context(),
				&s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key, Body: strings.NewReader("x")})))
	}
	tag := func(value string) {
		t.Helper()
		errtest.Fatal(t,
			errtest.Of(root.PutObjectTagging(t.Context(),
				&s3.PutObjectTaggingInput{Bucket: aws.String(bucket), Key: &key,
					Tagging: &types.Tagging{TagSet: []types.Tag{{Key: aws.String("sluice-verdict"), Value: &value}}}})))
	}
	expect := func(state, byRoot, byScanner string) {
		t.Helper()
		for reader, want := range map[*s3.Client]string{root: byRoot, scanner: byScanner} {
			out, err := reader.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: &key})
			if err == nil {
				out.Body.Close()
			}
			difftest.Equal(t, fmt.Sprintf("%s, read by the scanner %v", state, reader == scanner), want, errorCode(err))
		}
		_, err := root.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: &key})
		if (err == nil) != (byRoot == "<nil>") {
			t.Errorf("%s: HEAD returns %v, want what GET returns", state, err)
		}
	}
	const ok, denied = "<nil>", "AccessDenied"
	write()
	expect("without a tag", denied, ok)
	tag("clean")
	expect("tagged clean", ok, ok)
	write()
	expect("another object under the key", denied, ok)
	tag("other")
	expect("tagged otherwise", denied, ok)
	tag("refused")
	expect("tagged refused", denied, denied)
	if _, err := root.CopyObject(t.Context(), &s3.CopyObjectInput{Bucket: aws.String(bucket),
		Key: aws.String(key + "-copy"), CopySource: aws.String(bucket + "/" + key)}); errorCode(err) != denied {
		t.Errorf("copy: %v, want AccessDenied", err)
	}
}

func TestUploadsWithChecksums(t *testing.T) {
	c := client("function", "function-secret")
	key := uniqueKey("sum")
	errtest.Fatal(t, errtest.Of(c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key,
		Body: strings.NewReader("hello"), ChecksumAlgorithm: types.ChecksumAlgorithmSha256})))
	got, err := c.GetObject(
		t.Context(),
		&s3.GetObjectInput{Bucket: aws.String(bucket), Key: &key, ChecksumMode: types.ChecksumModeEnabled,
			Range: aws.String("bytes=1-3"), IfMatch: aws.String(`"5d41402abc4b2a76b9719d911017c592"`)},
	)
	errtest.Fatal(t, err)
	defer got.Body.Close()
	difftest.Equal(t, "read", "ell", string(errtest.Must(io.ReadAll(got.Body))(t)))
	wrong := sha256.Sum256([]byte("other"))
	_, err = c.PutObject(
		t.Context(),
		&s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String(key + "x"), Body: strings.NewReader("hello"),
			ChecksumSHA256: aws.String(enc.StdEncoding.EncodeToString(wrong[:]))},
	)
	errtest.Fails(t, "PUT with a wrong checksum", err)
	if _, err := client("function", "wrong").ListObjectsV2(t.Context(),
		&s3.ListObjectsV2Input{Bucket: aws.String(bucket)}); errorCode(
		err,
	) != "SignatureDoesNotMatch" {
		t.Errorf("request with a wrong secret: %v, want SignatureDoesNotMatch", err)
	}
	if _, err := client("nobody", "x").ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(
		bucket)}); errorCode(
		err,
	) != "InvalidAccessKeyId" {
		t.Errorf("request with an unknown key: %v, want InvalidAccessKeyId", err)
	}
}

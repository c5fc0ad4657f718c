package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"sluice/client"
)

// cutTransport breaks every connection that uploads one part, in the middle of the part.
type cutTransport struct{ part string }

var errCut = errors.New("the connection was cut")

// RoundTrip sends half of the body of that part, and every other request as it is.
func (c cutTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPut && r.URL.Query().Get("partNumber") == c.part {
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(io.MultiReader(io.LimitReader(r.Body, r.ContentLength/2), failingReader{}))
	}
	return http.DefaultTransport.RoundTrip(r)
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errCut }

// fileOf returns lines that fill a file of a size: one transaction, and white space.
func fileOf(size int) []byte {
	content := jsonLines(validLine())
	blank := append(bytes.Repeat([]byte(" "), 200_000), '\n')
	for len(content)+len(blank) <= size {
		content = append(content, blank...)
	}
	return append(content, bytes.Repeat([]byte("\n"), size-len(content))...)
}

// A large upload that breaks off goes on where it was, also from a file in which a part has changed meanwhile.
func TestResumedUpload(t *testing.T) {
	api := largeCloud.begin(t)
	const partSize, size = smallestPart, 2*smallestPart + 1000
	config := api.config()
	config.HTTP = &http.Client{Transport: cutTransport{"3"}}
	config.Pause = func(context.Context, time.Duration) error { return nil }
	broken := ok(client.New(config))(t)
	content := fileOf(size)
	length := int64(len(content))
	u, err := broken.CreateUploadWith(t.Context(), client.UploadOptions{RejectOnInvalid: true,
		Upload: client.UploadMultipart, ContentLength: &length, PartChecksums: true})
	require(t, err == nil && u.PartCount == 3 && u.PartSize == partSize,
		"the upload is %+v, %v; want three parts of 5 MiB", u, err)
	changed := bytes.Clone(content)
	changed[partSize+7] = '\t'
	err = broken.UploadParts(t.Context(), u.BatchID, bytes.NewReader(changed), length, client.PartsOptions{Parallel: 1})
	require(t, errors.As(err, new(*client.UnreachableError)), "the upload that is cut: %v, want an UnreachableError",
		err)
	path := writeFile(t, "batch.jsonl", content)
	api.runFor(0, []string{"the service has 5.2 MB already", "differ from the file: 1 part", "PROCESSED"},
		"upload", "--resume", u.BatchID, path)
}

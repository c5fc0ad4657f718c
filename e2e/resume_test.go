package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
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
	t.Parallel()
	const partSize, size = 5 << 20, 2*5<<20 + 1000
	cloud := newCloud(t, "UploadPartBytes=5242880")
	onboardEntities(t, cloud)
	broken, err := client.New(client.Config{APIURL: cloud.APIURL, TokenURL: cloud.TokenURL, ClientID: cloud.ClientID,
		ClientSecret: cloud.ClientSecret, Scope: cloud.Scope, HTTP: &http.Client{Transport: cutTransport{"3"}},
		Pause: func(context.Context, time.Duration) error { return nil }})
	must(t, err)
	content := fileOf(size)
	length := int64(len(content))
	u, err := broken.CreateUploadWith(t.Context(), client.UploadOptions{RejectOnInvalid: true,
		Upload: client.UploadMultipart, ContentLength: &length, PartChecksums: true})
	if err != nil || u.PartCount != 3 || u.PartSize != partSize {
		t.Fatalf("the upload is %+v, %v; want three parts of 5 MiB", u, err)
	}
	changed := bytes.Clone(content)
	changed[partSize+7] = '\t'
	err = broken.UploadParts(t.Context(), u.BatchID, bytes.NewReader(changed), length, client.PartsOptions{Parallel: 1})
	if !errors.As(err, new(*client.UnreachableError)) {
		t.Fatalf("the upload that is cut: %v, want an UnreachableError", err)
	}
	path := writeFile(t, "batch.jsonl", content)
	stdout, stderr, code, err := cloud.runSluice(append([]string{"upload", "--resume", u.BatchID, path},
		cloud.connection()...)...)
	if err != nil || code != 0 || !strings.Contains(stdout, "the service has 5.2 MB already") ||
		!strings.Contains(stdout, "differ from the file: 1 part") || !strings.Contains(stdout, "PROCESSED") {
		t.Errorf("the resumed upload: %v, exit code %d, stdout %q, stderr %q; want one part kept, one replaced, and "+
			"PROCESSED", err, code, stdout, stderr)
	}
}

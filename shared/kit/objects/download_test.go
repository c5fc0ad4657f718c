package objects_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/objects"
)

// A download is an attachment of the right kind under a safe name, and no two URLs are the same.
func TestDownloadURLs(t *testing.T) {
	cfg := aws.Config{Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}
	bucket := objects.New(cfg, "b", objects.Options{Now: func() time.Time { return now }})
	sign := func(d objects.Download) (text string, query url.Values) {
		t.Helper()
		signed := errtest.Must(bucket.SignGet(t.Context(), "documents/t/x", d, time.Minute))(t)
		u := errtest.Must(url.Parse(signed.URL))(t)
		return signed.URL, u.Query()
	}
	for name, tt := range map[string]struct {
		download          objects.Download
		disposition, mime string
	}{
		"a name of another script": {objects.Download{FileName: "Straße 1.pdf", MediaType: "application/pdf"},
			"Stra%C3%9Fe%201.pdf", "application/pdf"},
		"no name, no kind": {objects.Download{}, "file", "application/octet-stream"},
		"quotes and semicolons": {objects.Download{FileName: `a"; b'(c).txt`}, "a%22%3B%20b%27%28c%29.txt",
			"application/octet-stream"},
		"a path": {objects.Download{FileName: `../..\a.txt`}, "_._.._a.txt",
			"application/octet-stream"},
		"line breaks": {objects.Download{FileName: "a\r\nSet-Cookie: x.txt"}, "a__Set-Cookie%3A%20x.txt",
			"application/octet-stream"},
		"right-to-left override": {objects.Download{FileName: "invoice\u202Efdp.exe"}, "invoice_fdp.exe",
			"application/octet-stream"},
		"dots at the end": {objects.Download{FileName: "a.exe."}, "a.exe_", "application/octet-stream"},
	} {
		t.Run(name, func(t *testing.T) {
			_, query := sign(tt.download)
			for parameter, want := range map[string]string{
				"response-content-disposition": "attachment; filename*=UTF-8''" + tt.disposition,
				"response-content-type":        tt.mime,
				"response-cache-control":       "no-store",
			} {
				difftest.Equal(t, parameter, want, query.Get(parameter))
			}
		})
	}
	first, _ := sign(objects.Download{})
	if second, _ := sign(objects.Download{}); first == second {
		t.Errorf("two calls gave the same URL %s, want two", first)
	}
}

func TestFileNameProblem(t *testing.T) {
	for _, name := range []string{"a.exe/", `a.exe\`, "../a.pdf", "invoice\u202efdp.exe", "a\nb.pdf", "a.exe.",
		"a.exe "} {
		if objects.FileNameProblem(name) == "" {
			t.Errorf("%q is accepted", name)
		}
	}
	for _, name := range []string{"a.pdf", "Straße 1.pdf", "passport", ".pdf"} {
		difftest.Equal(t, fmt.Sprintf("%q is refused", name), "", objects.FileNameProblem(name))
	}
}

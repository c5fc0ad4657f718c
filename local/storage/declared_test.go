package storage

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/objects"
)

// uploadsBucket returns the bucket as a function uses it.
func uploadsBucket() *objects.Bucket {
	return objects.New(aws.Config{Region: "eu-west-1", BaseEndpoint: aws.String("http://" + address),
		Credentials: credentials.NewStaticCredentialsProvider("function", "function-secret", ""), RetryMaxAttempts: 1,
	}, bucket, objects.Options{PathStyle: true})
}

// putSigned sends a body with the headers that a signed URL requires, some of them changed.
func putSigned(t *testing.T, signed objects.SignedURL, body string, changed ...string) (int, string) {
	t.Helper()
	headers := slices.Clone(changed)
	for name, value := range signed.Headers {
		if !slices.Contains(changed, name) {
			headers = append(headers, name, value)
		}
	}
	return put(t, signed.URL, body, headers...)
}

func sha256Of(body string) []byte {
	sum := sha256.Sum256([]byte(body))
	return sum[:]
}

// Storage takes only the content that was declared when its URL was signed.
func TestDeclaredContent(t *testing.T) {
	uploads := uploadsBucket()
	for name, tt := range map[string]struct {
		declared objects.Content
		body     string
		changed  []string
		status   int
		code     string
	}{
		"the length":   {objects.Content{Size: 5}, "hello", nil, 200, ""},
		"a byte less":  {objects.Content{Size: 5}, "hell", nil, 403, "SignatureDoesNotMatch"},
		"a byte more":  {objects.Content{Size: 5}, "hello!", nil, 403, "SignatureDoesNotMatch"},
		"the checksum": {objects.Content{SHA256: sha256Of("hello")}, "hello", nil, 200, ""},
		"another file": {objects.Content{SHA256: sha256Of("hello")}, "jello", nil, 400, "BadDigest"},
		"another checksum": {objects.Content{SHA256: sha256Of("hello")}, "jello",
			[]string{"X-Amz-Checksum-Sha256", base64.StdEncoding.EncodeToString(sha256Of("jello"))}, 403,
			"SignatureDoesNotMatch"},
		"both":                   {objects.Content{Size: 5, SHA256: sha256Of("hello")}, "hello", nil, 200, ""},
		"nothing":                {objects.Content{SHA256: sha256Of("")}, "", nil, 200, ""},
		"something, not nothing": {objects.Content{SHA256: sha256Of("")}, "x", nil, 400, "BadDigest"},
	} {
		t.Run(name, func(t *testing.T) {
			key := uniqueKey("declared")
			signed := errtest.Must(uploads.SignPutOfContent(t.Context(), key, tt.declared, time.Minute))(t)
			status, text := putSigned(t, signed, tt.body, tt.changed...)
			if status != tt.status || !strings.Contains(text, tt.code) {
				t.Errorf("PUT of %q answers %d %s, want %d %s", tt.body, status, text, tt.status, tt.code)
			}
			if stored := len(createdWithKey(key)) > 0; stored != (tt.status == 200) {
				t.Errorf("the object is stored: %t, want %t", stored, !stored)
			}
		})
	}
	t.Run("without the checksum", func(t *testing.T) {
		signed := errtest.Must(uploads.SignPutOfContent(t.Context(), uniqueKey("declared"),
			objects.Content{SHA256: sha256Of("hello")}, time.Minute))(t)
		difftest.Reply(t, "PUT without the header answers", 403)(put(t, signed.URL, "hello", "If-None-Match", "*"))
	})
}

// partsUpload is an upload in parts of one object.
type partsUpload struct {
	*testing.T
	uploads *objects.Bucket
	key, id string
}

func newPartsUpload(t *testing.T, withChecksums bool) partsUpload {
	t.Helper()
	u := partsUpload{T: t, uploads: uploadsBucket(), key: uniqueKey("parts")}
	var err error
	if u.id, err = u.uploads.StartParts(t.Context(), u.key, withChecksums); err != nil || u.id == "" {
		t.Fatalf("StartParts returned %q, %v", u.id, err)
	}
	return u
}

func (u partsUpload) sign(number int32, size int, sum []byte) objects.SignedURL {
	u.Helper()
	p := objects.Part{Number: number, Size: int64(size)}
	if sum != nil {
		p.SHA256 = base64.StdEncoding.EncodeToString(sum)
	}
	return errtest.Must(u.uploads.SignPart(u.Context(), u.key, u.id, p, time.Minute))(u)
}

// send stores a part and returns it as it is listed.
func (u partsUpload) send(number int32, body string) {
	u.Helper()
	if status, text := putSigned(u.T, u.sign(number, len(body), nil), body); status != 200 {
		u.Fatalf("part %d: %d %s", number, status, text)
	}
}

func (u partsUpload) list() []objects.Part {
	u.Helper()
	return errtest.Must(u.uploads.ListParts(u.Context(), u.key, u.id))(u)
}

func (u partsUpload) complete(parts []objects.Part) error {
	return u.uploads.CompleteParts(u.Context(), u.key, u.id, parts)
}

// The URL of a part takes only what was signed, and parts are listed with their checksums.
func TestSignedParts(t *testing.T) {
	u := newPartsUpload(t, true)
	large := strings.Repeat("0123456789abcdef", objects.MinPartSize/16)
	for _, tt := range []struct {
		name   string
		signed objects.SignedURL
		body   string
		status int
	}{
		{"a byte less", u.sign(1, 6, sha256Of("hello!")), "hello", 403},
		{"another content", u.sign(1, 5, sha256Of("hello")), "jello", 400},
		{"the last part", u.sign(2, 5, sha256Of("hello")), "hello", 200},
		{"a part", u.sign(1, len(large), sha256Of(large)), large, 200},
		{"the same part again", u.sign(1, len(large), sha256Of(large)), large, 200},
	} {
		if status, text := putSigned(t, tt.signed, tt.body); status != tt.status {
			t.Errorf("%s: %d %s, want %d", tt.name, status, text, tt.status)
		}
	}
	parts := u.list()
	for i, body := range []string{large, "hello"} {
		want := base64.StdEncoding.EncodeToString(sha256Of(body))
		if len(parts) != 2 || parts[i].Number != int32(i+1) || parts[i].Size != int64(len(body)) ||
			parts[i].SHA256 != want {
			t.Errorf("the stored parts are %+v, want part %d of %d bytes with the checksum %s", parts, i+1, len(body),
				want)
		}
	}
	errtest.Fatal(t, u.complete(parts))
	got := createdWithKey(u.key)
	if len(got) != 1 || got[0].Size != int64(len(large)+5) || got[0].Event != "ObjectCreated:CompleteMultipartUpload" {
		t.Errorf("storage reports %+v, want one completed object", got)
	}
}

// Of several requests that complete an upload at the same time, each succeeds or learns that another one does.
func TestConcurrentCompletion(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", objects.MinPartSize/16)
	for range 10 {
		u := newPartsUpload(t, false)
		u.send(1, large)
		parts := u.list()
		results := make(chan error)
		for range 6 {
			go func() { results <- u.complete(parts) }()
		}
		for range 6 {
			err := <-results
			if err != nil && !errors.Is(err, objects.ErrNoUpload) && !errors.Is(err, objects.ErrChanged) {
				t.Errorf("completion: %v, want success, ErrNoUpload or ErrChanged", err)
			}
		}
		if len(createdWithKey(u.key)) == 0 {
			t.Error("storage reports no object")
		}
	}
}

// An upload in parts is completed with exactly the parts that are stored, and only once.
func TestCompletionOfParts(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", objects.MinPartSize/16)
	u := newPartsUpload(t, false)
	u.send(1, large)
	u.send(2, "two")
	parts := u.list()
	for name, refused := range map[string][]objects.Part{
		"a part that is not stored": append(slices.Clone(parts), objects.Part{Number: 3, ETag: parts[1].ETag}),
		"another ETag":              {parts[0], {Number: 2, ETag: parts[0].ETag}},
		"the wrong order":           {parts[1], parts[0]},
		"a part twice":              {parts[0], parts[0], parts[1]},
	} {
		errtest.Is(t, name, u.complete(refused), objects.ErrPartsDiffer)
	}
	u.send(2, "too")
	errtest.Is(t, "a part that has changed meanwhile", u.complete(parts), objects.ErrPartsDiffer)
	errtest.Fatal(t, u.complete(u.list()))
	errtest.Is(t, "ListParts after the completion", errtest.Of(u.uploads.ListParts(t.Context(), u.key, u.id)),
		objects.ErrNoUpload)
	difftest.Reply(t, "a part after the completion", http.StatusNotFound)(putSigned(t, u.sign(2, 3, nil), "two"))
	errtest.Is(t, "AbortParts after the completion", u.uploads.AbortParts(t.Context(), u.key, u.id), nil)
	difftest.Len(t, "storage reports", 1, createdWithKey(u.key))

	small := newPartsUpload(t, false)
	small.send(1, "small")
	small.send(2, "two")
	errtest.Is(t, "a part that is too small", small.complete(small.list()), objects.ErrPartsDiffer)
	for _, call := range []string{"first", "repeated"} {
		errtest.Is(t, call+" AbortParts", small.uploads.AbortParts(t.Context(), small.key, small.id), nil)
	}
	errtest.Is(t, "completion after it was aborted", small.complete([]objects.Part{{Number: 1, ETag: parts[0].ETag}}),
		objects.ErrNoUpload)

	second := newPartsUpload(t, false)
	second.key = u.key
	second.id = errtest.Must(second.uploads.StartParts(t.Context(), second.key, false))(t)
	second.send(1, "other")
	errtest.Is(t, "completion where there is an object", second.complete(second.list()), objects.ErrChanged)
}

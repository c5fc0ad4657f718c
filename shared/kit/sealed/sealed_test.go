package sealed_test

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"sluice/shared/access/auth/fakekms"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/sealed"
)

func newBox(t *testing.T) *sealed.Box {
	t.Helper()
	s, err := fakekms.New(t.TempDir())
	if err == nil {
		err = s.EnsureSymmetric("master")
	}
	errtest.Fatal(t, err)
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return sealed.New(kms.New(kms.Options{
		Region: "local", BaseEndpoint: &web.URL, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
	}), "master")
}

func TestSealAndOpen(t *testing.T) {
	b := newBox(t)
	for _, text := range []string{"", "secret", string(bytes.Repeat([]byte{0xff, 0}, 100_000))} {
		first, err1 := b.Seal(t.Context(), "tenant", sealed.Webhook, []byte(text))
		second, err2 := b.Seal(t.Context(), "tenant", sealed.Webhook, []byte(text))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if bytes.Equal(first, second) || text != "" && bytes.Contains(first, []byte(text)) {
			t.Errorf("a text of %d bytes: the sealed ones are the same, or it can be read", len(text))
		}
		got, err := b.Open(t.Context(), "tenant", sealed.Webhook, first)
		if err != nil || string(got) != text {
			t.Errorf("a text of %d bytes was opened as one of %d, %v", len(text), len(got), err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	b := newBox(t)
	text := errtest.Must(b.Seal(t.Context(), "tenant", sealed.Webhook, []byte("secret")))(t)
	for name, in := range map[string]struct{ tenant, purpose string }{
		"another tenant":           {"tenant2", sealed.Webhook},
		"another purpose":          {"tenant", sealed.ExternalAuthentication},
		"a tenant that is shorter": {"tenan", "t" + sealed.Webhook},
	} {
		errtest.Fails(t, name, errtest.Of(b.Open(t.Context(), in.tenant, in.purpose, text)))
	}
	for i := range text {
		damaged := bytes.Clone(text)
		damaged[i] ^= 1
		errtest.Fails(t, fmt.Sprintf("with byte %d damaged", i),
			errtest.Of(b.Open(t.Context(), "tenant", sealed.Webhook, damaged)))
		errtest.Fails(t, fmt.Sprintf("cut to %d bytes", i),
			errtest.Of(b.Open(t.Context(), "tenant", sealed.Webhook, text[:i])))
	}
}

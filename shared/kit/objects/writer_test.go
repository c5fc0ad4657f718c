package objects_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"sluice/shared/kit/errtest"
	"sluice/shared/kit/objects"
)

// Writers that take each other's memory write what was written to them, also at the same time.
func TestWritersDoNotMixObjects(t *testing.T) {
	var stored sync.Map
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			stored.Store(r.URL.Path, body)
		}
	}))
	defer server.Close()
	b := objects.New(aws.Config{Region: "eu-west-1", BaseEndpoint: &server.URL,
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}, "bucket",
		objects.Options{PathStyle: true})
	content := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, i*i*i) }
	var running sync.WaitGroup
	for i := range 40 {
		running.Go(func() {
			w := b.Create(t.Context(), fmt.Sprint(i))
			if i%2 == 0 {
				w.Grow(i * i * i)
			}
			errtest.Must(w.Write(content(i)))(t)
			errtest.Fatal(t, w.Close())
			if _, err := w.Write([]byte("x")); err == nil {
				t.Error("a closed writer takes bytes")
			}
		})
	}
	running.Wait()
	for i := range 40 {
		if got, _ := stored.Load(fmt.Sprintf("/bucket/%d", i)); !bytes.Equal(got.([]byte), content(i)) {
			t.Errorf("object %d has %d other bytes", i, len(got.([]byte)))
		}
	}
}

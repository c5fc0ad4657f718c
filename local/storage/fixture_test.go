package storage

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"sluice/local/template"
	"sluice/shared/kit/errtest"
)

// A process can run one server only, so all tests share this one.
var (
	address string
	now     = time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC)

	// created collects what the server passes to OnCreated.
	created struct {
		sync.Mutex
		objects []CreatedObject
	}
)

const (
	bucket = "toy-uploads"
	// page is the origin of web pages that may upload to the bucket, closedBucket one that is closed to all.
	page         = "https://app.example.com"
	closedBucket = "toy-closed"
)

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
	defer listener.Close()
	config := Config{
		Address: listener.Addr().String(),
		Dir:     dir,
		Region:  "eu-west-1",
		Buckets: []string{bucket, closedBucket},
		CORS: map[string][]template.CORSRule{bucket: {{
			ID: "Pages", Origins: []string{page}, Methods: []string{http.MethodPut},
			Headers: []string{"if-none-match", "x-amz-*"}, Exposed: []string{"ETag"}, MaxAge: 60,
		}}},
		Now: func() time.Time { return now },
		IAM: newTestIAM(),
		OnCreated: func(o CreatedObject) error {
			created.Lock()
			defer created.Unlock()
			created.objects = append(created.objects, o)
			return nil
		},
	}
	if _, err := Start(context.Background(), config); err == nil {
		panic("Start returned no error although the port is in use")
	}
	for range 2 { // the second start finds an existing bucket
		if config.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			panic(err)
		}
		address = config.Listener.Addr().String()
		config.Address = address
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

func presignPut(t *testing.T, key string, lifetime time.Duration) (string, http.Header) {
	t.Helper()
	r := errtest.Must(s3.NewPresignClient(client("function", "function-secret")).PresignPutObject(t.Context(),
		&s3.PutObjectInput{
			Bucket:      aws.String(bucket),
			Key:         &key,
			IfNoneMatch: aws.String("*"),
		}, s3.WithPresignExpires(lifetime)))(t)
	return r.URL, r.SignedHeader
}

func put(t *testing.T, url, body string, headers ...string) (int, string) {
	t.Helper()
	r := errtest.Must(http.NewRequest(http.MethodPut, url, strings.NewReader(body)))(t)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp := errtest.Must(http.DefaultClient.Do(r))(t)
	defer resp.Body.Close()
	text := errtest.Must(io.ReadAll(resp.Body))(t)
	return resp.StatusCode, string(text)
}

// createdWithKey returns the objects with a key that OnCreated was called for.
func createdWithKey(key string) []CreatedObject {
	created.Lock()
	defer created.Unlock()
	var found []CreatedObject
	for _, o := range created.objects {
		if o.Key == key {
			found = append(found, o)
		}
	}
	return found
}

func uniqueKey(name string) string { return fmt.Sprintf("uploads/%s-%d", name, time.Now().UnixNano()) }

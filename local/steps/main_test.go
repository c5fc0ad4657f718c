// Package steps contains only tests. They run the steps of a batch, and the object store that the steps use, against a
// real S3 server and a real DynamoDB server. They are part of this module because the S3 server is.
package steps

import (
	"context"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/uuid"

	"sluice/local/iam"
	"sluice/local/storage"
	"sluice/shared/kit/objects"
)

const (
	uploadsBucket = "steps-uploads"
	workBucket    = "steps-work"
)

// s3 configures clients of the S3 server, of which a process can run only one.
var s3 aws.Config

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "steps-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	address := listener.Addr().String()
	owner, err := iam.New(iam.Config{Operator: iam.Key{ID: "root", Secret: "root-secret"},
		Resources: []iam.Resource{
			{ARN: "arn:aws:s3:::" + uploadsBucket, Policy: map[string]any{"Statement": map[string]any{
				"Effect": "Deny", "Principal": "*", "Action": "s3:GetObject",
				"Resource": "arn:aws:s3:::" + uploadsBucket + "/*",
				"Condition": map[string]any{
					"StringEquals": map[string]any{"s3:ExistingObjectTag/sluice-verdict": "refused"},
				},
			}}},
		}})
	if err != nil {
		panic(err)
	}
	server, err := storage.Start(context.Background(), storage.Config{
		Listener: listener, Address: address, Dir: dir, Region: "us-east-1",
		Buckets: []string{uploadsBucket, workBucket}, Now: time.Now, IAM: owner,
		OnCreated: func(storage.CreatedObject) error { return nil },
	})
	if err != nil {
		panic(err)
	}
	s3 = aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String("http://" + address),
		Credentials: credentials.NewStaticCredentialsProvider("root", "root-secret", ""),
	}
	s3.HTTPClient = http.DefaultClient // its connections are closed below, because the server waits for them
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	server.Close()
	<-server.Ended()
	return code
}

// bucket returns a client of a bucket.
func bucket(name string) *objects.Bucket {
	return objects.New(s3, name, objects.Options{PathStyle: true})
}

// uniqueKey returns a key that no other test, and no other run of the same test, uses.
func uniqueKey(prefix string) string { return prefix + "/" + uuid.NewString() }

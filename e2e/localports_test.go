package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// DynamoDB answers only who has keys of the local cloud, and no web page may read what it answers.
func TestDatabaseAnswersOnlyKeysOfTheCloud(t *testing.T) {
	skipWithout(t, processes)
	t.Parallel()
	tables := func(key, secret string) error {
		db := dynamodb.New(dynamodb.Options{
			Region: environment.Region, BaseEndpoint: &environment.DynamoDBURL, RetryMaxAttempts: 1,
			Credentials: credentials.NewStaticCredentialsProvider(key, secret, ""),
		})
		_, err := db.Scan(t.Context(), &dynamodb.ScanInput{
			TableName: aws.String(environment.Prefix + "-clients"), Limit: aws.Int32(1),
		})
		return err
	}
	if err := tables(environment.AccessKeyID, environment.SecretAccessKey); err != nil {
		t.Errorf("with the cloud's keys: %v", err)
	}
	for name, keys := range map[string][2]string{
		"unknown key": {"local", "local"}, "wrong secret": {environment.AccessKeyID, "wrong"},
	} {
		if err := tables(keys[0], keys[1]); err == nil {
			t.Errorf("with %s: no error", name)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodOptions} {
		request, err := http.NewRequestWithContext(t.Context(), method, environment.DynamoDBURL,
			strings.NewReader(`{"TableName":"`+environment.Prefix+`-clients"}`))
		must(t, err)
		request.Header.Set("Origin", "https://evil.example.com")
		request.Header.Set("Access-Control-Request-Method", "POST")
		request.Header.Set("Content-Type", "application/x-amz-json-1.0")
		request.Header.Set("X-Amz-Target", "DynamoDB_20120810.Scan")
		// The server behind it takes any signature.
		request.Header.Set("X-Amz-Date", "20260101T000000Z")
		request.Header.Set("Authorization",
			"AWS4-HMAC-SHA256 Credential=local/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
		resp, err := http.DefaultClient.Do(request)
		must(t, err)
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		assert(t, err == nil && resp.StatusCode >= 400 && !strings.Contains(string(text), "Items"),
			"%s without the cloud's keys: %s %s, %v; want a refusal", method, resp.Status, text, err)
		for name := range resp.Header {
			assert(t, !strings.HasPrefix(name, "Access-Control-"), "%s: the reply has the header %s", method, name)
		}
	}
}

// What the S3 server prints about an upload that was broken off is in its log and not on the operator's terminal.
func TestForeignLogLinesAreInTheLog(t *testing.T) {
	upload := begin(t, functionLog).newUpload(true)
	u := ok(url.Parse(upload.URL))(t)
	log := environment.logFile("s3.log")
	eventually(t, "a line in the S3 server's log", func() bool {
		conn, err := net.Dial("tcp", u.Host)
		must(t, err)
		defer conn.Close()
		ok(fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: %s\r\nIf-None-Match: *\r\nContent-Length: "+
			"1000\r\n\r\n%s",
			u.RequestURI(), u.Host, "the beginning"))(t)
		conn.Close()
		text, err := os.ReadFile(log)
		return err == nil && strings.Contains(string(text), "INTERNAL ERROR")
	})
	if printed := environment.cloud.output.String(); strings.Contains(printed, "INTERNAL ERROR") {
		t.Errorf("the local cloud printed\n%s", printed)
	}
}

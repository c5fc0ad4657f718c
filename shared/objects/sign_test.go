package objects_test

import (
	"context"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"sluice/shared/objects"
)

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// A URL dies with the credentials that signed it. Where they tell when that is, the reply says so; those of a Lambda
// function do not tell, so the template keeps every lifetime short.
func TestSignedURLsEndWithTheirCredentials(t *testing.T) {
	for name, tt := range map[string]struct {
		left time.Duration // of the credentials; 0: they do not tell
		want time.Duration // of the URL; 0: none is signed
	}{
		"credentials that do not tell":    {0, 15 * time.Minute},
		"credentials that live longer":    {15*time.Minute + time.Second, 15 * time.Minute},
		"credentials that live as long":   {15 * time.Minute, 15 * time.Minute},
		"credentials that end before":     {15*time.Minute - time.Second, 15*time.Minute - time.Second},
		"credentials in their last":       {time.Second, time.Second},
		"credentials that are as good as": {time.Second - 1, 0},
		"credentials that have ended":     {-time.Minute, 0},
	} {
		creds := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret", SessionToken: "session",
				CanExpire: tt.left != 0, Expires: now.Add(tt.left)}, nil
		})
		bucket := objects.New(aws.Config{Region: "eu-central-1", Credentials: creds}, "b",
			objects.Options{Now: func() time.Time { return now }})
		signed, err := bucket.SignPut(t.Context(), "uploads/t/x", 15*time.Minute)
		if tt.want == 0 {
			if err == nil {
				t.Errorf("%s: signed until %v", name, signed.Expires)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		u, err := url.Parse(signed.URL)
		if err != nil || !signed.Expires.Equal(now.Add(tt.want)) ||
			u.Query().Get("X-Amz-Expires") != strconv.Itoa(int(tt.want.Seconds())) {
			t.Errorf("%s: %v, %s", name, signed.Expires, signed.URL)
		}
	}
}

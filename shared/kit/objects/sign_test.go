package objects_test

import (
	"context"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"sluice/shared/kit/errtest"
	"sluice/shared/kit/objects"
)

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// A URL is valid no longer than the credentials that signed it. If they say when they expire, so does the signed URL;
// those of a Lambda function do not, so the template keeps every lifetime short.
func TestSignedURLsExpireWithTheirCredentials(t *testing.T) {
	for name, tt := range map[string]struct {
		// left is how long the credentials are valid; 0 if that is not known.
		left time.Duration
		// want is how long the URL is valid; 0 if none is signed.
		want time.Duration
	}{
		"unknown":             {0, 15 * time.Minute},
		"longer by a second":  {15*time.Minute + time.Second, 15 * time.Minute},
		"as long":             {15 * time.Minute, 15 * time.Minute},
		"shorter by a second": {15*time.Minute - time.Second, 15*time.Minute - time.Second},
		"one second":          {time.Second, time.Second},
		"less than a second":  {time.Second - 1, 0},
		"expired":             {-time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			creds := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret", SessionToken: "session",
					CanExpire: tt.left != 0, Expires: now.Add(tt.left)}, nil
			})
			bucket := objects.New(aws.Config{Region: "eu-central-1", Credentials: creds}, "b",
				objects.Options{Now: func() time.Time { return now }})
			signed, err := bucket.SignPutOf(t.Context(), "uploads/t/x", 0, 15*time.Minute)
			if tt.want == 0 {
				if err == nil {
					t.Errorf("signed until %v, want an error", signed.Expires)
				}
				return
			}
			errtest.Fatal(t, err)
			u, err := url.Parse(signed.URL)
			if err != nil || !signed.Expires.Equal(now.Add(tt.want)) ||
				u.Query().Get("X-Amz-Expires") != strconv.Itoa(int(tt.want.Seconds())) {
				t.Errorf("got a URL until %v: %s, want it until %v", signed.Expires, signed.URL, now.Add(tt.want))
			}
		})
	}
}

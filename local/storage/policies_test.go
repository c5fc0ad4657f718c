package storage

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"sluice/local/iam"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func newStatement(effect, actions string, resources ...any) map[string]any {
	var list []any
	for _, a := range strings.Fields(actions) {
		list = append(list, "s3:"+a)
	}
	return map[string]any{"Sid": "The" + list[0].(string)[3:], "Effect": effect, "Action": list, "Resource": resources}
}

func policyOf(statements ...any) map[string]any { return map[string]any{"Statement": statements} }

// newTestIAM returns the principals of these tests: root, a function with all permissions that the tests need below
// uploads/, one that may only read below narrow/ and write below narrow/out/, and a scanner. Below scanned/, only the
// scanner may read what is not tagged clean.
func newTestIAM() *iam.Service {
	const all = "arn:aws:s3:::" + bucket
	denyRefused := newStatement("Deny", "GetObject GetObjectVersion", all+"/*")
	denyRefused["Principal"] = "*"
	denyRefused["Condition"] = map[string]any{
		"StringEquals": map[string]any{"s3:ExistingObjectTag/sluice-verdict": "refused"},
	}
	denyUnscanned := newStatement("Deny", "GetObject GetObjectVersion", all+"/scanned/*")
	denyUnscanned["Principal"] = "*"
	denyUnscanned["Condition"] = map[string]any{
		"StringNotEquals": map[string]any{"s3:ExistingObjectTag/sluice-verdict": "clean"},
		"ArnNotEquals":    map[string]any{"aws:PrincipalArn": []any{"arn:aws:iam::000000000000:role/scanner"}},
	}
	denyPlainHTTP := newStatement("Deny", "*", all, all+"/*")
	denyPlainHTTP["Principal"], denyPlainHTTP["Condition"] = "*", map[string]any{
		"Bool": map[string]any{"aws:SecureTransport": "false"},
	}
	allowListing := newStatement("Allow", "ListBucket", all)
	allowListing["Condition"] = map[string]any{"StringLike": map[string]any{"s3:prefix": "narrow/*"}}
	s, err := iam.New(iam.Config{Account: "000000000000", Operator: iam.Key{ID: "root", Secret: "root-secret"},
		Roles: []iam.Role{
			{Name: "function", Key: iam.Key{ID: "function", Secret: "function-secret"},
				Policies: []any{
					policyOf(newStatement("Allow",
						"GetObject PutObject PutObjectTagging ListMultipartUploadParts AbortMultipartUpload",
						all+"/uploads/*")),
				}},
			{Name: "scanner", Key: iam.Key{ID: "scanner", Secret: "scanner-secret"},
				Policies: []any{policyOf(newStatement("Allow", "GetObject", all+"/scanned/*"))}},
			{Name: "narrow", Key: iam.Key{ID: "narrow", Secret: "narrow-secret"}, Policies: []any{policyOf(
				newStatement("Allow", "GetObject", all+"/narrow/*"),
				newStatement("Allow", "PutObject", all+"/narrow/out/*"),
				allowListing,
			)}},
		},
		Resources: []iam.Resource{{ARN: all, Policy: policyOf(denyPlainHTTP, denyRefused, denyUnscanned)}},
	})
	if err != nil {
		panic(err)
	}
	return s
}

// Each S3 operation needs a permission of its own, on the object that it concerns.
func TestPolicies(t *testing.T) {
	root, narrow := client("root", "root-secret"), client("narrow", "narrow-secret")
	bucketName := aws.String(bucket)
	for _, key := range []string{"narrow/in", "narrow/out/1", "wide/in"} {
		errtest.Fatal(t, errtest.Of(root.PutObject(t.Context(), &s3.PutObjectInput{Bucket: bucketName, Key: &key,
			Body: strings.NewReader("x")})))
	}
	get := func(key string) error {
		_, err := narrow.GetObject(t.Context(),
			&s3.GetObjectInput{Bucket: bucketName, Key: &key, Range: aws.String("bytes=0-0")})
		return err
	}
	write := func(key string) error {
		_, err := narrow.PutObject(t.Context(),
			&s3.PutObjectInput{Bucket: bucketName, Key: &key, Body: strings.NewReader("x")})
		return err
	}
	tagged := func(key string) error {
		_, err := narrow.PutObject(t.Context(),
			&s3.PutObjectInput{Bucket: bucketName, Key: &key, Body: strings.NewReader("x"), Tagging: aws.String("a=b")})
		return err
	}
	multipart := func(key string) error {
		_, err := narrow.CreateMultipartUpload(t.Context(),
			&s3.CreateMultipartUploadInput{Bucket: bucketName, Key: &key})
		return err
	}
	abort := func(key string) error {
		made, err := root.CreateMultipartUpload(t.Context(),
			&s3.CreateMultipartUploadInput{Bucket: bucketName, Key: &key})
		errtest.Fatal(t, err)
		_, err = narrow.AbortMultipartUpload(t.Context(),
			&s3.AbortMultipartUploadInput{Bucket: bucketName, Key: &key, UploadId: made.UploadId})
		return err
	}
	copied := func(from, to string) error {
		_, err := narrow.CopyObject(t.Context(),
			&s3.CopyObjectInput{Bucket: bucketName, Key: &to, CopySource: aws.String(bucket + "/" + from)})
		return err
	}
	list := func(prefix *string) error {
		_, err := narrow.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: bucketName, Prefix: prefix})
		return err
	}
	remove := func(key string) error {
		_, err := narrow.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: bucketName, Key: &key})
		return err
	}
	head := func(key string) error {
		_, err := narrow.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: bucketName, Key: &key})
		return err
	}
	_, buckets := narrow.ListBuckets(t.Context(), &s3.ListBucketsInput{})
	_, tagging := narrow.PutObjectTagging(
		t.Context(),
		&s3.PutObjectTaggingInput{Bucket: bucketName, Key: aws.String("narrow/out/1"),
			Tagging: &types.Tagging{TagSet: []types.Tag{{Key: aws.String("a"), Value: aws.String("b")}}}},
	)
	const ok, denied = "<nil>", "AccessDenied"
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"read":           {get("narrow/in"), ok},
		"read elsewhere": {get("wide/in"), denied},
		// without s3:ListBucket a missing object is denied, too
		"read a missing object":           {get("narrow/none"), denied},
		"read a missing object elsewhere": {get("wide/none"), denied},
		"head":                            {head("narrow/in"), ok},
		// a response to HEAD has no body with an error code
		"head elsewhere":                     {head("wide/in"), "Forbidden"},
		"write":                              {write("narrow/out/2"), ok},
		"write elsewhere":                    {write("narrow/in"), denied},
		"write with tags":                    {tagged("narrow/out/3"), denied},
		"tag":                                {tagging, denied},
		"begin a multipart upload":           {multipart("narrow/out/4"), ok},
		"begin a multipart upload elsewhere": {multipart("narrow/4"), denied},
		"abort a multipart upload":           {abort("narrow/out/5"), denied},
		"copy":                               {copied("narrow/in", "narrow/out/6"), ok},
		"copy from elsewhere":                {copied("wide/in", "narrow/out/7"), denied},
		"copy to elsewhere":                  {copied("narrow/in", "narrow/8"), denied},
		"list":                               {list(aws.String("narrow/out/")), ok},
		"list elsewhere":                     {list(aws.String("wide/")), denied},
		"list everything":                    {list(nil), denied},
		"delete":                             {remove("narrow/out/1"), denied},
		"list the buckets":                   {buckets, denied},
		"read what the signer may not read":  {signedRead(t, "wide/in"), "403"},
		"read by a signed URL":               {signedRead(t, "narrow/in"), ok},
	} {
		t.Run(name, func(t *testing.T) {
			difftest.Equal(t, fmt.Sprintf("error: %v", test.err), test.want, errorCode(test.err))
		})
	}
}

// signedRead reads an object with a URL signed by the narrow function. Signing needs no permission; using the URL needs
// that of the signer.
func signedRead(t *testing.T, key string) error {
	t.Helper()
	r := errtest.Must(s3.NewPresignClient(client("narrow", "narrow-secret")).PresignGetObject(t.Context(),
		&s3.GetObjectInput{Bucket: aws.String(bucket), Key: &key}, s3.WithPresignExpires(time.Minute)))(t)
	resp := errtest.Must(http.Get(r.URL))(t)
	defer resp.Body.Close()
	text := errtest.Must(io.ReadAll(resp.Body))(t)
	if resp.StatusCode == http.StatusForbidden && !strings.Contains(string(text), "<Code>AccessDenied</Code>") {
		t.Errorf("refused with %s, want the code AccessDenied", text)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%d", resp.StatusCode)
	}
	return nil
}

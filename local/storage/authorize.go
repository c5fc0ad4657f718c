package storage

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/valyala/fasthttp"
	"github.com/versity/versitygw/auth"
	versity "github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/s3api/utils"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"

	"sluice/local/iam"
)

// accounts tells the gateway which access keys exist and what the policies of their owners allow. The gateway
// determines what a request asks for: its actions, the source of a copy, each object of a deletion, the signer of a
// signed URL.
type accounts struct{ iam *iam.Service }

var _ auth.PolicyEvaluator = accounts{}

// errReadOnly is returned for changes: the accounts are those of the template.
var errReadOnly = auth.ErrNoSuchUser

// GetUserAccount returns the owner of an access key.
func (a accounts) GetUserAccount(keyID string) (auth.Account, error) {
	principal, ok := a.iam.PrincipalByKey(keyID)
	if !ok {
		return auth.Account{}, auth.ErrNoSuchUser
	}
	role := auth.RoleUser
	if principal.IsOperator() {
		role = auth.RoleAdmin
	}
	return auth.Account{Access: principal.Key().ID, Secret: principal.Key().Secret, Role: role}, nil
}

// EvaluatePolicy returns a decision for every action on every resource.
func (a accounts) EvaluatePolicy(
	keyID, _ string, actions []auth.Action, resources []string, conditionValues map[string][]string,
) (auth.PolicyEvaluation, error) {
	principal, ok := a.iam.PrincipalByKey(keyID)
	if !ok {
		return auth.PolicyEvaluation{}, auth.ErrNoSuchUser
	}
	out := auth.PolicyEvaluation{PrincipalArn: principal.ARN()}
	for _, resource := range resources {
		for i, action := range actions {
			err := principal.Authorize(iam.Request{
				Action: string(action), Resource: resource,
				ConditionValues: conditionLookup(principal, conditionValues),
				IsUnknown:       isObjectTag, // this is before the object is looked for; authorizeByTags asks again
			})
			appendDecision(&out.Decisions, i == 0, err)
		}
	}
	return out, nil
}

// The gateway's decisions, whose type it does not export.
const (
	noMatch = iota
	allow
	deny
)

// appendDecision appends the decision that err expresses to the last row of the matrix, or to a new one.
func appendDecision[Decision ~int](matrix *[][]Decision, newRow bool, err error) {
	if newRow {
		*matrix = append(*matrix, nil)
	}
	decision := Decision(allow)
	var denied iam.DeniedError
	if errors.As(err, &denied) {
		if decision = noMatch; denied.Statement != "" {
			decision = deny
		}
	}
	row := &(*matrix)[len(*matrix)-1]
	*row = append(*row, decision)
}

// isObjectTag reports whether the value of a condition key is a tag of the object that is read.
func isObjectTag(key string) bool { return strings.HasPrefix(key, iam.ObjectTagPrefix) }

// requireOneAuth refuses a request whose URL is signed and which has the header Authorization, too, as AWS does.
// Clients that send their access token to every address would otherwise be found out there only.
func requireOneAuth(ctx context.Context) error {
	r, ok := ctx.(*fasthttp.RequestCtx)
	if !ok || !r.QueryArgs().Has("X-Amz-Signature") || len(r.Request.Header.Peek("Authorization")) == 0 {
		return nil
	}
	return s3err.APIError{Code: "InvalidArgument", HTTPStatusCode: http.StatusBadRequest,
		Description: "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query " +
			"string parameter or the Authorization header should be specified"}
}

// conditionLookup returns the function that looks up condition keys of a principal's request in values. Within one
// machine there is no TLS, so aws:SecureTransport is always true: policies that require it must not deny everything.
func conditionLookup(p *iam.Principal, values map[string][]string) func(key string) []string {
	return func(key string) []string {
		switch key {
		case "aws:securetransport":
			return []string{"true"}
		case "aws:principalarn":
			return []string{p.RoleARN()}
		}
		for name, values := range values {
			if strings.EqualFold(name, key) {
				return values
			}
		}
		return nil
	}
}

// ResolveAccounts returns those key IDs that do not exist.
func (a accounts) ResolveAccounts(keyIDs []string) ([]string, error) {
	var unknown []string
	for _, id := range keyIDs {
		if _, err := a.GetUserAccount(id); err != nil {
			unknown = append(unknown, id)
		}
	}
	return unknown, nil
}

// ListUserAccounts returns nothing: only the gateway's own administration, which is not served, asks for it.
func (a accounts) ListUserAccounts() ([]auth.Account, error) { return nil, nil }

// CreateAccount fails: accounts cannot be changed.
func (accounts) CreateAccount(auth.Account) error { return errReadOnly }

// UpdateUserAccount fails: accounts cannot be changed.
func (accounts) UpdateUserAccount(string, auth.MutableProps) error { return errReadOnly }

// DeleteUserAccount fails: accounts cannot be changed.
func (accounts) DeleteUserAccount(string) error { return errReadOnly }

// Shutdown does nothing: there is nothing to release.
func (accounts) Shutdown() error { return nil }

// bucketARN is the beginning of the ARNs of buckets.
const bucketARN = "arn:aws:s3:::"

// principalOf returns the principal that the gateway has authenticated for a request.
func (b *backend) principalOf(ctx context.Context) (*iam.Principal, bool) {
	account, _ := ctx.Value(string(utils.ContextKeyAccount)).(auth.Account)
	return b.iam.PrincipalByKey(account.Access)
}

// authorizeByTags returns an error if the policy of the bucket denies reading an object because of its tags. The
// gateway itself does not support conditions on tags.
func (b *backend) authorizeByTags(ctx context.Context, bucket, key, version string) error {
	denied := s3err.GetAPIError(s3err.ErrAccessDenied)
	principal, ok := b.principalOf(ctx)
	if !ok {
		return denied
	}
	tags, err := b.Backend.GetObjectTagging(ctx, bucket, key, version)
	if errors.Is(err, s3err.GetAPIError(s3err.ErrNoSuchKey)) {
		return nil // the gateway reports it
	}
	if err != nil {
		return err // tags that cannot be read must not count as none
	}
	action := "s3:GetObject"
	if version != "" {
		action = "s3:GetObjectVersion"
	}
	lookup := func(name string) []string {
		wanted, ok := strings.CutPrefix(name, iam.ObjectTagPrefix)
		if !ok {
			return conditionLookup(principal, nil)(name)
		}
		for tag, value := range tags {
			if strings.EqualFold(tag, wanted) {
				return []string{value}
			}
		}
		return nil
	}
	request := iam.Request{Action: action, Resource: bucketARN + bucket + "/" + key, ConditionValues: lookup}
	if principal.AuthorizeByResource(request) != nil {
		return denied
	}
	return nil
}

// hideMissing turns the error that an object does not exist into a denial unless the caller may list the bucket, as S3
// does.
func (b *backend) hideMissing(ctx context.Context, bucket string, err error) error {
	if !errors.Is(err, s3err.GetAPIError(s3err.ErrNoSuchKey)) {
		return err
	}
	principal, ok := b.principalOf(ctx)
	if ok && principal.IsAllowed(iam.Request{Action: "s3:ListBucket", Resource: bucketARN + bucket}) {
		return err
	}
	return s3err.GetAPIError(s3err.ErrAccessDenied)
}

// authorizeCopySource is authorizeByTags for the source of a copy, in the form bucket/key?versionId=version and with
// characters escaped as the client chose. It must be read as the gateway reads it: the tags of an object under another
// name would say nothing.
func (b *backend) authorizeCopySource(ctx context.Context, source string) error {
	bucket, key, version, err := versity.ParseCopySource(source)
	if err != nil {
		return err
	}
	return b.authorizeByTags(ctx, bucket, key, version)
}

// GetObject reads an object unless the policy of its bucket denies that because of the object's tags.
func (b *backend) GetObject(ctx context.Context, in *s3.GetObjectInput) (*s3.GetObjectOutput, error) {
	if err := requireOneAuth(ctx); err != nil {
		return nil, err
	}
	if err := b.authorizeByTags(ctx, deref(in.Bucket), deref(in.Key), deref(in.VersionId)); err != nil {
		return nil, err
	}
	out, err := b.openObject(ctx, in)
	if err != nil {
		return out, b.hideMissing(ctx, deref(in.Bucket), err)
	}
	// Another object may have taken the place of the one whose tags were read. This one is open now, so that
	// its tags, or the tags of an even later object, are read here.
	if err := b.authorizeByTags(ctx, deref(in.Bucket), deref(in.Key), deref(in.VersionId)); err != nil {
		if out.Body != nil {
			_ = out.Body.Close()
		}
		return nil, err
	}
	return out, nil
}

// HeadObject is allowed and denied like GetObject.
func (b *backend) HeadObject(ctx context.Context, in *s3.HeadObjectInput) (*s3.HeadObjectOutput, error) {
	if err := b.authorizeByTags(ctx, deref(in.Bucket), deref(in.Key), deref(in.VersionId)); err != nil {
		return nil, err
	}
	out, err := b.Backend.HeadObject(ctx, in)
	return out, b.hideMissing(ctx, deref(in.Bucket), err)
}

// UploadPartCopy copies a part unless its source may not be read.
func (b *backend) UploadPartCopy(ctx context.Context, in *s3.UploadPartCopyInput) (s3response.CopyPartResult, error) {
	if err := b.authorizeCopySource(ctx, deref(in.CopySource)); err != nil {
		return s3response.CopyPartResult{}, err
	}
	return b.Backend.UploadPartCopy(ctx, in)
}

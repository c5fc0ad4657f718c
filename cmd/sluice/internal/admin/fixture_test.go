package admin

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"sluice/cmd/sluice/internal/commandtest"
	"sluice/internal/command"
	"sluice/internal/localcloud"
	"sluice/shared/access/audit"
	"sluice/shared/access/auth/authdb"
	"sluice/shared/access/auth/fakekms"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity/entitydb"
)

// fakeInstallation is a data folder whose local cloud has a DynamoDB server and a KMS, and nothing else.
type fakeInstallation struct {
	data string
	// tenant is the local cloud's own. It is not in the registry.
	tenant   string
	db       *dynamodb.Client
	registry *authdb.Registry
	entities *entitydb.Statuses
	// logFails is set for a log group that cannot be written.
	logFails bool
	// losesStreams is set for a log group that answers the creation of a stream with an error although it was done.
	losesStreams bool
	streams      map[string]bool
	// invokeFails is set if no function can be invoked; invoked are the requests of functions.
	invokeFails bool
	invoked     []string
	// records are the audit records that were written to the log group.
	records []audit.Record
	// endpoint is the address of all services; stack has the alarms and queues of a deployed stack, nil without one.
	endpoint string
	stack    *fakeStack
	// transitions are the records of changes that acts have made.
	transitions []audit.Transition
}

func newFakeInstallation(t *testing.T) *fakeInstallation {
	t.Helper()
	db := dynamotest.Start(t)
	tables := errtest.Must(url.Parse(*db.Options().BaseEndpoint))(t)
	kms := errtest.Must(fakekms.New(t.TempDir()))(t)
	dynamoDB := httputil.NewSingleHostReverseProxy(tables)
	f := &fakeInstallation{}
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.stack != nil && f.stack.serve(w, r) {
			return
		}
		switch target := r.Header.Get("X-Amz-Target"); {
		case strings.HasPrefix(r.URL.Path, "/2015-03-31/functions/"):
			f.serveInvocation(t, w, r)
			return
		case strings.HasPrefix(target, "TrentService."):
			kms.ServeHTTP(w, r)
			return
		case strings.HasPrefix(target, "Logs_20140328."):
			f.serveLogs(t, w, r)
			return
		}
		_ = http.NewResponseController(w).EnableFullDuplex() // for whole answers; see package lateend
		dynamoDB.ServeHTTP(w, r)
	}))
	t.Cleanup(endpoint.Close)
	f.endpoint = endpoint.URL
	f.data, f.tenant = t.TempDir(), uuid.NewString()
	f.db, f.registry, f.entities = db, authdb.New(db, "test-clients"), entitydb.NewStatuses(db, "test-entities")
	text, err := json.Marshal(localcloud.Descriptor{
		AWSEndpointURL: endpoint.URL, Region: "us-east-1", AccessKeyID: "id", SecretAccessKey: "secret",
		Prefix: "test", TenantID: f.tenant,
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(f.data, localcloud.FileName), text, 0o600)
	}
	errtest.Fatal(t, err)
	return f
}

// run runs an admin command on the installation.
func (f *fakeInstallation) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = commandtest.Run(t.Context(), []*cobra.Command{Command()}, slices.Concat([]string{"admin"}, args,
		[]string{"--data", f.data}), &out, &errs)
	return code, out.String(), errs.String()
}

// runAdmin runs a command that must succeed and decodes what it prints.
func runAdmin[T any](t *testing.T, f *fakeInstallation, args ...string) T {
	t.Helper()
	code, stdout, stderr := f.run(t, args...)
	if code != command.ExitOK || stderr != "" {
		t.Fatalf("%v: exit code %d, stderr %q; want 0 and nothing", args, code, stderr)
	}
	var out T
	dec := json.NewDecoder(strings.NewReader(stdout))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&out); err != nil {
		t.Fatalf("%v printed %s: %v", args, stdout, err)
	}
	return out
}

// wantError runs a command that must fail with one line that contains a text.
func (f *fakeInstallation) wantError(t *testing.T, text string, args ...string) {
	t.Helper()
	code, stdout, stderr := f.run(t, args...)
	if code != command.ExitFailed || stdout != "" || !strings.Contains(stderr, text) ||
		strings.Count(stderr, "\n") != 1 {
		t.Errorf("%v: exit code %d, stdout %q, stderr %q; want 2, nothing and one line with %q",
			args, code, stdout, stderr, text)
	}
}

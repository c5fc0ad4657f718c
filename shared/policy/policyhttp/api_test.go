package policyhttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"

	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/httpapitest"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/kit/errtest"
	"sluice/shared/policy"
	"sluice/shared/policy/policyhttp"
	"sluice/shared/policy/policytest"
)

const (
	tenant        = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"
	commands      = "/policycommand/api/v2/policies"
	queries       = "/policyquery/api/v4/policies"
	groupCommands = "/policycommand/api/data-group"
	groupQueries  = "/policyquery/api/data-group"
)

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// api is the endpoints of policies on a real store.
type api struct {
	t      *testing.T
	routes []httpapi.Route
	// trail is the audit trail of the endpoints.
	trail  *bytes.Buffer
	call   func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)
	caller httpapi.Caller
}

func newAPI(t *testing.T) *api {
	t.Helper()
	return newAPIOn(t, policytest.NewStore(t))
}

func newAPIOn(t *testing.T, store policy.Store) *api {
	t.Helper()
	paging := errtest.Must(platform.NewPaging(platform.NewPagingKey()))(t)
	clock, trail := func() time.Time { return now }, &bytes.Buffer{}
	s := &policyhttp.Policies{Store: store, Paging: paging, Now: clock, NewID: uuid.NewString}
	log := audit.New(trail, clock, func(context.Context) string { return "request" })
	return &api{t: t, routes: s.Routes(), trail: trail,
		call: httpapi.Lambda(platform.ProblemHandler(s.Routes(), nil, log, slog.New(slog.DiscardHandler), clock)),
		caller: httpapi.Caller{Tenant: tenant, Client: "c", Expires: now.Add(time.Hour),
			Permissions: []string{permission.PolicyConfigurationAccess, permission.PolicyConfigurationCreate,
				permission.PolicyConfigurationEdit, permission.PolicyConfigurationApprove,
				permission.PolicyConfigurationArchive}},
	}
}

// as returns the same endpoints for another caller.
func (a *api) as(change func(c *httpapi.Caller)) *api {
	other := *a
	change(&other.caller)
	return &other
}

// in returns the same endpoints for a subtest.
func (a *api) in(t *testing.T) *api {
	other := *a
	other.t = t
	return &other
}

// send sends a request and returns the status and the text of the reply.
func (a *api) send(method, path, body string) (int, string) {
	a.t.Helper()
	r := errtest.Must(a.call(a.t.Context(), httpapitest.NewPlatformRequest(a.t, a.caller, method, path, body)))(a.t)
	return r.StatusCode, r.Body
}

// succeed sends a request that must succeed, and decodes the data of the reply into into, which may be nil. Data that
// is given goes into an envelope.
func (a *api) succeed(method, path, data string, into any) {
	a.t.Helper()
	want := http.StatusAccepted
	if strings.HasPrefix(path, "/policyquery/") {
		want = http.StatusOK
	}
	status, text := a.send(method, path, envelope(data))
	if status != want {
		a.t.Fatalf("%s %s %.300s: got %d %.500s, want %d", method, path, data, status, text, want)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal([]byte(text), &platform.Envelope{Data: into}); err != nil {
		a.t.Fatalf("%s: %v", text, err)
	}
}

func envelope(data string) string {
	if data == "" {
		return ""
	}
	return `{"data":` + data + `}`
}

// refuse sends a request that must be refused with a status and a code, and returns the problem.
func (a *api) refuse(status int, code, method, path, data string) platform.Problem {
	a.t.Helper()
	got, text := a.send(method, path, envelope(data))
	var p platform.Problem
	if err := json.Unmarshal([]byte(text), &p); err != nil || got != status || p.ErrorCode != code {
		a.t.Errorf("%s %s %.300s: got %d %.500s, want %d %s", method, path, data, got, text, status, code)
	}
	return p
}

// refuseProperty sends a request that must be refused for one property, whose error has a type.
func (a *api) refuseProperty(property, validator, method, path, data string) {
	a.t.Helper()
	p := a.refuse(400, platform.CodeValidation, method, path, data)
	if len(p.ValidationErrors) != 1 || p.ValidationErrors[0].PropertyName != property ||
		p.ValidationErrors[0].ValidatorType != validator {
		a.t.Errorf("%s %s %.200s: got %.500v, want one %s of %s", method, path, data, p.ValidationErrors, validator,
			property)
	}
}

// newPolicy creates a policy whose first draft is in the workspace w, and returns its ID.
func (a *api) newPolicy() string {
	a.t.Helper()
	var created policyhttp.VersionCreated
	a.succeed("POST", commands, `{"entityType":"Company","workspaceId":"w"}`, &created)
	if created.VersionNumber != 1 || created.Status != policy.Draft || created.WorkspaceID != "w" {
		a.t.Errorf("got %+v, want version 1, a draft in w", created)
	}
	return created.EntityPolicyID
}

// fieldData returns the data of a field with a data key and more members.
func fieldData(dataKey, more string) string {
	return fmt.Sprintf(`{"name":%q,"dataKey":%q,"fieldType":"TextBox","categories":["Basic"]%s}`, dataKey, dataKey,
		more)
}

// collectionData returns the data of a field that is a collection of the items of a data group.
func collectionData(dataKey, groupID string) string {
	return strings.Replace(fieldData(dataKey, `,"fieldTypeId":"`+groupID+`"`), "TextBox", "Collection", 1)
}

// addField adds a field to the draft of a workspace and returns its ID.
func (a *api) addField(id, workspace, data string) string {
	a.t.Helper()
	var created policyhttp.FieldCreated
	a.succeed("POST", commands+"/"+id+"/fields?workspaceId="+workspace, data, &created)
	return created.FieldID
}

// publish publishes the draft of a workspace.
func (a *api) publish(id, workspace string) {
	a.t.Helper()
	a.succeed("PUT", commands+"/"+id+"/publish?workspaceId="+workspace, "", nil)
}

// draft creates a draft in a workspace.
func (a *api) draft(id, workspace string) {
	a.t.Helper()
	a.succeed("POST", commands+"/"+id+"/versions/draft", fmt.Sprintf(`{"workspaceId":%q}`, workspace), nil)
}

// field reads a field of the version that in selects, such as "?workspaceId=w".
func (a *api) field(id, fieldID, in string) (f policyhttp.FieldReply) {
	a.t.Helper()
	a.succeed("GET", queries+"/"+id+"/fields/"+fieldID+in, "", &f)
	return f
}

package httpapi

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awslabs/aws-lambda-go-api-proxy/core"

	"sluice/shared/access"
	"sluice/shared/batch"
	"sluice/shared/fault"
	"sluice/shared/transaction"
)

// Caller is who sends a request, as the authorizer found it in the token and the client registry. Nothing of it comes from
// the request itself.
type Caller struct {
	Tenant      string
	Client      string
	Permissions []string
	Features    []string
	Layers      access.Layers  // never empty
	Settings    batch.Settings // of the tenant
	Expires     time.Time      // of the token
}

// FeatureBatch is what a tenant must have to use the batch interface.
const FeatureBatch = "batch"

// Context returns the caller as an authorizer's context, whose values must be strings. callerOf reads it.
func (c Caller) Context() map[string]any {
	return map[string]any{
		"tenant":      c.Tenant,
		"client":      c.Client,
		"permissions": strings.Join(c.Permissions, " "),
		"features":    strings.Join(c.Features, " "),
		"geographic":  list(c.Layers.Geographic),
		"business":    list(c.Layers.BusinessRelated),
		"maxPast":     strconv.FormatInt(int64(c.Settings.MaxPast/time.Second), 10),
		"maxFuture":   strconv.FormatInt(int64(c.Settings.MaxFuture/time.Second), 10),
		"mainEntity":  string(c.Settings.MainEntity),
		"expires":     strconv.FormatInt(c.Expires.Unix(), 10),
	}
}

// list writes names as one string; a name may hold anything but a line feed.
func list(names []string) string { return strings.Join(names, "\n") }

func unlist(s string) []string { return strings.FieldsFunc(s, func(r rune) bool { return r == '\n' }) }

// grace is how long after its token a call may still arrive here. The authorizer, which decides to the moment, has just let it
// in; this check is for a gateway that keeps the authorizer's answers.
const grace = 10 * time.Second

var errUnauthorized = fault.New(fault.Unauthorized, "unauthorized", "Unauthorized")

// callerOf reads the authorizer's context. A request without one, or whose token has ended since, is not authorized.
func callerOf(ctx context.Context, now time.Time) (Caller, error) {
	gateway, ok := core.GetAPIGatewayContextFromContext(ctx)
	if !ok || gateway.Authorizer == nil {
		return Caller{}, errUnauthorized
	}
	value := func(name string) string {
		s, _ := gateway.Authorizer[name].(string)
		return s
	}
	var errs []error
	number := func(name string) int64 {
		n, err := strconv.ParseInt(value(name), 10, 64)
		if err != nil {
			errs = append(errs, err)
		}
		return n
	}
	c := Caller{
		Tenant: value("tenant"), Client: value("client"),
		Permissions: strings.Fields(value("permissions")), Features: strings.Fields(value("features")),
		Settings: batch.Settings{
			MaxPast:    time.Duration(number("maxPast")) * time.Second,
			MaxFuture:  time.Duration(number("maxFuture")) * time.Second,
			MainEntity: transaction.MainEntityRule(value("mainEntity")),
		},
		Expires: time.Unix(number("expires"), 0),
		Layers:  access.Layers{Geographic: unlist(value("geographic")), BusinessRelated: unlist(value("business"))}.OrDefault(),
	}
	if len(errs) > 0 || c.Tenant == "" || now.After(c.Expires.Add(grace)) {
		return Caller{}, errUnauthorized
	}
	return c, nil
}

// admit says what a caller lacks for a route.
func admit(route Route, c Caller) error {
	if len(route.Permissions) > 0 && !slices.ContainsFunc(route.Permissions, func(p string) bool { return slices.Contains(c.Permissions, p) }) {
		return fault.New(fault.Forbidden, "permission_missing",
			fmt.Sprintf("The client lacks the permission %s.", strings.Join(route.Permissions, " or ")))
	}
	if route.Feature == FeatureBatch && !slices.Contains(c.Features, FeatureBatch) {
		return fault.New(fault.Forbidden, "batch_not_enabled", "The batch feature is not enabled for this tenant. Ask for it to be enabled.")
	}
	return nil
}

package httpapi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/shared/access"
	"sluice/shared/kit/fault"
)

// Caller is the client on whose behalf a request runs, and its tenant, as the authorizer found them in the token and
// the client registry. Nothing of it comes from the request itself.
type Caller struct {
	// Tenant and Client are UUIDs.
	Tenant, Client string
	// TokenID is the jti claim of the token; empty if an authorizer of an earlier release passed it.
	TokenID string
	// Permissions are the rights of the client, see package permission.
	Permissions []string
	// Features are the rights of the tenant.
	Features []string
	// Layers are the client's access layers; at an endpoint they are never empty.
	Layers access.Layers
	// Attributes are further values that the authorizer passes on for an area, for example the tenant's settings. The
	// area names and reads them. A name must differ from those of Context.
	Attributes map[string]string
	// Expires is when the token expires.
	Expires time.Time
}

// Names in an authorizer's context. The authorizer and functions of different releases exchange them: they never
// change.
const (
	contextTenant      = "tenant"
	contextClient      = "client"
	contextTokenID     = "token_id"
	contextPermissions = "permissions"
	contextFeatures    = "features"
	contextGeographic  = "geographic"
	contextBusiness    = "business"
	contextExpires     = "expires"
	// ContextRoute is the path of the route of a request below a greedy path. The gateway logs it.
	ContextRoute = "route"
)

// Context returns the caller as an authorizer's context, whose values must be strings. callerOf reads it.
func (c Caller) Context() map[string]any {
	out := map[string]any{
		contextTenant:      c.Tenant,
		contextClient:      c.Client,
		contextTokenID:     c.TokenID,
		contextPermissions: strings.Join(c.Permissions, " "),
		contextFeatures:    strings.Join(c.Features, " "),
		contextGeographic:  joinLines(c.Layers.Geographic),
		contextBusiness:    joinLines(c.Layers.BusinessRelated),
		contextExpires:     strconv.FormatInt(c.Expires.Unix(), 10),
	}
	for name, value := range c.Attributes {
		out[name] = value
	}
	return out
}

// joinLines writes names as one string; a name may hold anything but a line feed.
func joinLines(names []string) string { return strings.Join(names, "\n") }

func splitLines(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == '\n' })
}

// expiryTolerance is how long after its token's expiry a request is still accepted. The authorizer, which accepts none,
// has just let it pass; this check is for a gateway that caches the authorizer's answers.
const expiryTolerance = 10 * time.Second

var errUnauthorized = fault.New(fault.Unauthorized, "unauthorized", "Unauthorized")

// callerOf reads the authorizer's context. It returns errUnauthorized for a request without one, and for one whose
// token has expired since.
func callerOf(ctx context.Context, now time.Time) (Caller, error) {
	values := map[string]string{}
	for name, value := range GatewayOf(ctx).Authorizer {
		if s, ok := value.(string); ok {
			values[name] = s
		}
	}
	expires, err := strconv.ParseInt(values[contextExpires], 10, 64)
	if err != nil {
		return Caller{}, errUnauthorized
	}
	c := Caller{
		Tenant:      values[contextTenant],
		Client:      values[contextClient],
		TokenID:     values[contextTokenID],
		Permissions: strings.Fields(values[contextPermissions]),
		Features:    strings.Fields(values[contextFeatures]),
		Layers: access.Layers{
			Geographic:      splitLines(values[contextGeographic]),
			BusinessRelated: splitLines(values[contextBusiness]),
		}.OrDefault(),
		Expires: time.Unix(expires, 0),
	}
	if c.Tenant == "" || now.After(c.Expires.Add(expiryTolerance)) {
		return Caller{}, errUnauthorized
	}
	delete(values, ContextRoute)
	own := c.Context()
	maps.DeleteFunc(values, func(name, _ string) bool { _, ok := own[name]; return ok })
	if len(values) > 0 {
		c.Attributes = values
	}
	return c, nil
}

// authorize returns an error that names the permission or feature that the caller lacks for a route, nil if none.
func authorize(route Route, c Caller) error {
	hasPermission := func(p string) bool { return slices.Contains(c.Permissions, p) }
	if len(route.Permissions) > 0 && !slices.ContainsFunc(route.Permissions, hasPermission) {
		return fault.New(fault.Forbidden, "permission_missing",
			fmt.Sprintf("The client lacks the permission %s.", strings.Join(route.Permissions, " or ")))
	}
	if route.Beside != "" && !hasPermission(route.Beside) {
		return fault.Newf(fault.Forbidden, "permission_missing", "The client lacks the permission %s.", route.Beside)
	}
	if route.Feature != "" && !slices.Contains(c.Features, route.Feature) {
		return fault.Newf(fault.Forbidden, route.Feature+"_not_enabled",
			"The %s feature is not enabled for this tenant. Ask for it to be enabled.", route.Feature)
	}
	return nil
}

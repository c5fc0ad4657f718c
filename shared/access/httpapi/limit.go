package httpapi

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/google/uuid"

	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/fault"
)

// Header fields of limited replies, refusals or not. Their values are whole numbers.
const (
	// RemainingHeader is how many requests are left in the tightest window.
	RemainingHeader = "X-Rate-Limit-Remaining"
	// ResetHeader is how many seconds it takes until there are more.
	ResetHeader = "X-Rate-Limit-Reset"
)

// CodeRateLimited is the code of a request over its limit.
const CodeRateLimited = "rate_limited"

// checkLimit counts a request against the limits of its route, and adds the fewest remaining requests to header. It
// returns a fault.Throttled for a request over a limit. A limit that cannot be checked lets the request pass, and is
// logged.
func (a API) checkLimit(ctx context.Context, route Route, c Caller, object string, header http.Header) error {
	if a.Limits == nil || route.Limit == "" {
		return nil
	}
	if route.Limit == ratelimit.TokenRequests {
		return a.countRequest(ctx, addressSubject(GatewayOf(ctx).SourceIP), a.TokenRequests, header)
	}
	settings := ratelimit.ParseSettings(c.Attributes[ratelimit.Attribute])
	if err := a.countRequest(ctx, c.Tenant, settings.Limit(route.Limit), header); err != nil || object == "" {
		return err
	}
	return a.countRequest(ctx, c.Tenant+"/"+object, settings.Limit(route.ObjectLimit), header)
}

// objectOf returns the UUID by which a request names the object of the route's ObjectLimit; "" if there is no such
// limit, or no UUID, so that there is no object.
func objectOf(route Route, r *http.Request) string {
	if route.ObjectLimit == "" {
		return ""
	}
	id, err := uuid.Parse(r.PathValue(route.parameters()[0]))
	if err != nil {
		return ""
	}
	return id.String()
}

// countRequest counts a request against one limit of a subject, and adds what is left to header.
func (a API) countRequest(ctx context.Context, subject string, limit ratelimit.Limit, header http.Header) error {
	d, err := a.Limits.Allow(ctx, subject, limit)
	if err != nil {
		a.Log.ErrorContext(ctx, "a limit was not checked", "limit", limit.Name, "error", err)
	}
	if !d.Limited {
		return nil
	}
	if before, err := strconv.ParseInt(header.Get(RemainingHeader), 10, 64); err != nil || d.Remaining <= before {
		header.Set(RemainingHeader, strconv.FormatInt(d.Remaining, 10))
		header.Set(ResetHeader, inSeconds(d.Reset))
	}
	if d.Allowed {
		return nil
	}
	return fault.Newf(fault.Throttled, CodeRateLimited,
		"Too many requests: the limit %q is used up. Try again in %s s.", limit.Name,
		inSeconds(d.RetryAfter)).WithRetryAfter(d.RetryAfter)
}

// addressSubject returns the subject under which the requests from an address are counted. Of an IPv6 address it is the
// network of 64 bits, all of whose addresses one machine has.
func addressSubject(source string) string {
	address, err := netip.ParseAddr(source)
	if err == nil && address.Unmap().Is6() {
		if network, err := address.WithZone("").Prefix(64); err == nil {
			return "address:" + network.String()
		}
	}
	return "address:" + source
}

// inSeconds returns a time in whole seconds, rounded up.
func inSeconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

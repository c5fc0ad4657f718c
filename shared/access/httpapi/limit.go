package httpapi

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"time"

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

// checkLimit counts a request against the limit of its route, and adds the remaining requests to header. It returns a
// fault.Throttled for a request over the limit. A limit that cannot be checked lets the request pass, and is logged.
func (a API) checkLimit(ctx context.Context, route Route, c Caller, header http.Header) error {
	if a.Limits == nil || route.Limit == "" {
		return nil
	}
	subject, limit := c.Tenant, ratelimit.ParseSettings(c.Attributes[ratelimit.Attribute]).Limit(route.Limit)
	if route.Public {
		subject, limit = addressSubject(GatewayOf(ctx).SourceIP), a.TokenRequests
	}
	d, err := a.Limits.Allow(ctx, subject, limit)
	if err != nil {
		a.Log.ErrorContext(ctx, "a limit was not checked", "limit", limit.Name, "error", err)
	}
	if !d.Limited {
		return nil
	}
	header.Set(RemainingHeader, strconv.FormatInt(d.Remaining, 10))
	header.Set(ResetHeader, inSeconds(d.Reset))
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

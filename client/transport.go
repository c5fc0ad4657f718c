package client

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Transport returns a transport for requests that a program makes itself, for example a proxy: it adds an access token
// to each and leaves everything else as it is. It repeats nothing but a request that is answered 401, once and with a
// new token, if it has no body or has GetBody; of any other one the 401 is the answer, and the next request has a new
// token. A request to another address than Config.APIURL, or to one that is not below its path, is an error, so that
// no token goes elsewhere.
//
// Beside the errors of the transport below, those of fetching a token are returned, such as *TokenError.
func (c *Client) Transport() http.RoundTripper {
	t := &transport{client: c, below: c.config.HTTP.Transport}
	if t.below == nil {
		t.below = http.DefaultTransport
	}
	t.base, _ = url.Parse(c.config.APIURL) // New has parsed it
	return t
}

// APIURL returns the address of the service, without a slash at its end.
func (c *Client) APIURL() string { return c.config.APIURL }

// transport adds access tokens to requests.
type transport struct {
	client *Client
	base   *url.URL
	below  http.RoundTripper
}

// RoundTrip sends a request with an access token.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.checkAddress(req.URL); err != nil {
		closeBody(req)
		return nil, err
	}
	for renewed := false; ; renewed = true {
		token, err := t.client.tokens.get(req.Context())
		if err != nil {
			closeBody(req)
			return nil, err
		}
		sent := req.Clone(req.Context())
		sent.Header.Set("Authorization", "Bearer "+token)
		resp, err := t.below.RoundTrip(sent)
		if err != nil || resp.StatusCode != http.StatusUnauthorized {
			return resp, err
		}
		t.client.tokens.discard(token)
		hasBody := req.Body != nil && req.Body != http.NoBody
		if renewed || hasBody && req.GetBody == nil {
			return resp, nil
		}
		if hasBody {
			body, err := req.GetBody()
			if err != nil {
				return resp, nil
			}
			req = req.Clone(req.Context())
			req.Body = body
		}
		_, _ = io.CopyN(io.Discard, resp.Body, 1<<16) // so that the connection can be used again
		resp.Body.Close()
	}
}

// checkAddress returns an error for an address that is not one of the API.
func (t *transport) checkAddress(u *url.URL) error {
	path, isBelow := strings.CutPrefix(u.EscapedPath(), strings.TrimSuffix(t.base.EscapedPath(), "/"))
	if u.Scheme != t.base.Scheme || u.Host != t.base.Host || !isBelow || path != "" && path[0] != '/' {
		return fmt.Errorf("%s is not an address of the API %s", withoutQuery(u), t.client.config.APIURL)
	}
	return nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

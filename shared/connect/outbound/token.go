package outbound

import (
	"container/list"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// maxTokens is how many access tokens a client keeps.
	maxTokens = 256
	// maxTokenBytes is the length of an access token.
	maxTokenBytes = 16 << 10
	// assumedTokenLifetime is the lifetime of a token whose endpoint does not state it.
	assumedTokenLifetime = time.Minute
	// maxTokenLifetime is the longest lifetime that is believed.
	maxTokenLifetime = 24 * time.Hour
)

// tokenKey names one version of a configuration, and the token that belongs to it: when the configuration changes, so
// may client, secret and endpoint.
type tokenKey struct {
	tenant, configuration string
	version               int64
}

// token is an access token and the end of its use: 80 % of its lifetime after it was asked for.
type token struct {
	key   tokenKey
	value string
	until time.Time
}

// tokens keeps the access tokens that were used last. The zero value is empty. It is safe for concurrent use.
type tokens struct {
	mu sync.Mutex
	// recent is a list of *token, the one used last in front.
	recent list.List
	byKey  map[tokenKey]*list.Element
	// flights make callers that need the same token at the same time ask for it once.
	flights singleflight.Group
}

// get returns the token of a key if there is one that may be used at a time.
func (t *tokens) get(key tokenKey, now time.Time) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.byKey[key]
	if !ok {
		return "", false
	}
	if cached := e.Value.(*token); now.Before(cached.until) {
		t.recent.MoveToFront(e)
		return cached.value, true
	}
	t.remove(e)
	return "", false
}

// put keeps a token. The one that was not used for the longest time makes room.
func (t *tokens) put(added token) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byKey == nil {
		t.byKey = map[tokenKey]*list.Element{}
	}
	if e, ok := t.byKey[added.key]; ok {
		t.remove(e)
	}
	for t.recent.Len() >= maxTokens {
		t.remove(t.recent.Back())
	}
	t.byKey[added.key] = t.recent.PushFront(&added)
}

// forget removes a token that was refused, unless another one has taken its place.
func (t *tokens) forget(key tokenKey, value string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e, ok := t.byKey[key]; ok && e.Value.(*token).value == value {
		t.remove(e)
	}
}

func (t *tokens) remove(e *list.Element) {
	delete(t.byKey, t.recent.Remove(e).(*token).key)
}

// token returns an access token for the configuration of the call. Calls that need the same one at the same time share
// one request, which goes on if the call that began it is given up.
func (c *call) token(ctx context.Context) (string, error) {
	key := c.tokenKey()
	if value, ok := c.client.tokens.get(key, c.client.now()); ok {
		return value, nil
	}
	name := strings.Join([]string{key.tenant, key.configuration, strconv.FormatInt(key.version, 10)}, "\x00")
	flight := c.client.tokens.flights.DoChan(name, func() (any, error) {
		if value, ok := c.client.tokens.get(key, c.client.now()); ok {
			return value, nil
		}
		// The time is for signing an assertion and for the exchange.
		detached, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), 2*c.client.timeout(), errTimeout)
		defer cancel()
		fetched, err := c.fetchToken(detached)
		if err != nil {
			return "", err
		}
		fetched.key = key
		c.client.tokens.put(fetched)
		return fetched.value, nil
	})
	select {
	case result := <-flight:
		return result.Val.(string), result.Err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// fetchToken asks the token endpoint for an access token.
func (c *call) fetchToken(ctx context.Context) (token, error) {
	o := c.configuration.OAuth
	u, err := url.Parse(o.URL)
	if err != nil {
		return token{}, newError(URLRefused, "The URL of the token endpoint is not valid.")
	}
	if err := checkURL(u); err != nil {
		return token{}, atTokenEndpoint(err)
	}
	transport, err := c.tokenTransport(ctx)
	if err != nil {
		return token{}, atTokenEndpoint(err)
	}
	header := http.Header{}
	addHeaders(header, o.Headers)
	form, err := c.tokenForm(ctx, header)
	if err != nil {
		return token{}, err
	}
	header.Set("Content-Type", "application/x-www-form-urlencoded")
	header.Set("Accept", "application/json")
	r := &http.Request{Method: http.MethodPost, URL: u, Header: header}
	setBody(r, form.Encode())
	asked := c.client.now()
	reply, err := c.client.exchange(ctx, transport, r, header)
	if err != nil {
		return token{}, atTokenEndpoint(err)
	}
	return readToken(reply, asked)
}

// tokenTransport returns the connections to the token endpoint, whose certificates follow the endpoint's own rules or
// those of the configuration.
func (c *call) tokenTransport(ctx context.Context) (http.RoundTripper, error) {
	o := c.configuration.OAuth
	certificate, isMTLSEnabled := o.EndpointCertificate, o.IsMTLSEnabled
	if o.UseEndpointMTLS {
		certificate, isMTLSEnabled = c.configuration.EndpointCertificate, c.configuration.IsMTLSEnabled
	}
	return c.transportFor(ctx, certificate, isMTLSEnabled, true)
}

// reservedFormValues are not taken from a configuration's form values.
var reservedFormValues = []string{"grant_type", "client_id", "client_secret", "client_assertion",
	"client_assertion_type"}

// tokenForm returns the form of a token request, and adds a header if that is how the client authenticates.
func (c *call) tokenForm(ctx context.Context, header http.Header) (url.Values, error) {
	o := c.configuration.OAuth
	form := url.Values{"grant_type": {"client_credentials"}}
	for _, v := range o.FormValues {
		if !slices.Contains(reservedFormValues, v.Name) {
			form.Add(v.Name, v.Value.Reveal())
		}
	}
	switch secret := o.ClientSecret.Reveal(); {
	case o.IsJWTClientAssertionEnabled:
		assertion, err := c.assertion(ctx)
		if err != nil {
			return nil, err
		}
		form.Set("client_id", o.ClientID)
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", assertion)
	case o.UseBasicAuthentication:
		// RFC 6749, section 2.3.1: both are encoded as in a form first.
		credentials := url.QueryEscape(o.ClientID) + ":" + url.QueryEscape(secret)
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(credentials)))
	default:
		form.Set("client_id", o.ClientID)
		if secret != "" { // a client that the certificate identifies has no secret
			form.Set("client_secret", secret)
		}
	}
	return form, nil
}

// atTokenEndpoint adds to an *Error where it happened.
func atTokenEndpoint(err error) error {
	if e, ok := err.(*Error); ok {
		return &Error{e.Reason, "At the token endpoint: " + e.Message, 0, e.cause}
	}
	return err
}

// tokenErrors are the codes of token endpoints that are passed on (RFC 6749, section 5.2). Other texts are not: nobody
// knows what a receiver puts into them.
var tokenErrors = []string{"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client",
	"unsupported_grant_type", "invalid_scope"}

// readToken reads the reply to a token request that was begun at a time.
func readToken(reply *Reply, asked time.Time) (token, error) {
	var in struct {
		AccessToken string          `json:"access_token"`
		TokenType   string          `json:"token_type"`
		ExpiresIn   json.RawMessage `json:"expires_in"`
		Error       string          `json:"error"`
	}
	err := json.Unmarshal(reply.Body, &in)
	switch {
	case reply.Status != http.StatusOK && err == nil && slices.Contains(tokenErrors, in.Error):
		return token{}, newError(TokenFailed, "The token endpoint answered with the status "+
			strconv.Itoa(reply.Status)+" and the error "+in.Error+".")
	case reply.Status != http.StatusOK:
		return token{}, newError(TokenFailed, "The token endpoint answered with the status "+
			strconv.Itoa(reply.Status)+".")
	case err != nil || reply.IsTruncated:
		return token{}, newError(TokenFailed, "The reply of the token endpoint is not JSON, or too long.")
	case !strings.EqualFold(in.TokenType, "Bearer"):
		return token{}, newError(TokenFailed, "The token of the token endpoint is not a bearer token.")
	case !isToken(in.AccessToken):
		return token{}, newError(TokenFailed, "The reply of the token endpoint has no usable access_token.")
	}
	lifetime := tokenLifetime(in.ExpiresIn)
	return token{value: in.AccessToken, until: asked.Add(lifetime / 5 * 4)}, nil
}

// isToken reports whether a text can be sent as a bearer token (RFC 6750, section 2.1, and what servers issue beyond).
func isToken(text string) bool {
	return text != "" && len(text) <= maxTokenBytes &&
		!strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// tokenLifetime reads expires_in, a number of seconds that some endpoints send as a string.
func tokenLifetime(raw json.RawMessage) time.Duration {
	text := strings.Trim(string(raw), `"`)
	if text == "" || text == "null" {
		return assumedTokenLifetime
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, maxTokenLifetime.Seconds()) * float64(time.Second))
}

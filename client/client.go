// Package client calls Sluice's HTTP interface: it creates batches and uploads their files, follows their status, reads
// the outcome of validation and the report of invalid lines, and reads stored transactions.
//
// A Client fetches access tokens and renews them by itself. It repeats a call when the connection breaks, when the
// service answers 429 (after the time that Retry-After names), 500, 502, 503 or 504, up to four attempts in all, and
// eight of a 503 with Retry-After, which means that the service is busy. Calls that create something carry a random
// Idempotency-Key, so that their repetitions create it once; a 409 with Retry-After, which means that an earlier
// attempt is still being carried out, is repeated, too. Calls end early when their context does.
//
// Refusals have types of their own: *Error from the interface, *TokenError from the token endpoint, *StorageError from
// the object storage that takes uploads and serves reports, and *UnreachableError when no complete answer came. Their
// texts never contain signed URLs, tokens or the client secret.
//
// Package clienttest has a server for tests of programs that use this package.
package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	basePath = "/tm/realtime/api/transactions/"
	// maxReplyBytes bounds what is read of one reply of the interface.
	maxReplyBytes = 16 << 20
	// maxAttempts is how often a call is sent in all when its failures may be temporary.
	maxAttempts = 4
	// maxBusyAttempts is the same for answers that the service is busy: half a minute in all.
	maxBusyAttempts = 8
	// maxKeyAttempts is the same for answers that an earlier attempt is still being carried out, which lasts for 28
	// seconds if that was killed: 36 seconds in all. maxKeyPause is the longest pause between them.
	maxKeyAttempts = 13
	maxKeyPause    = 4 * time.Second
	// maxAskedPause is the longest pause for which a call waits that the service asks for. A limit for each hour or day
	// may ask for more: the call then fails with the refusal, which says when to try again.
	maxAskedPause = 2 * time.Minute
	// firstRetryDelay is the pause before the second attempt at a call; each further pause is twice as long.
	firstRetryDelay = 200 * time.Millisecond
)

// Config says where the service is and who calls it. APIURL, TokenURL, ClientID, ClientSecret and Scope are required.
type Config struct {
	// APIURL is the address to which the paths of the interface are appended.
	APIURL string
	// TokenURL is the address of the token endpoint itself.
	TokenURL string
	// ClientID and ClientSecret are the credentials of the client, as 'sluice admin client create' prints them.
	ClientID     string
	ClientSecret string
	// Scope is "tenant/" and the ID of the tenant whose data the client works with.
	Scope string

	// OnWait, unless it is nil, is told of each pause that the service asks for (429 or 503 with Retry-After) before it
	// begins, and of the refusal. Several goroutines may call it at once.
	OnWait func(pause time.Duration, refusal error)
	// HTTP sends all requests. If it is nil, the Client makes one of its own that waits at most two minutes for a reply
	// to begin and sets no limit to the duration of an upload.
	HTTP *http.Client
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
	// Pause waits between attempts and between readings of a status. It returns the context's error if the context ends
	// first. Nil means a timer.
	Pause func(context.Context, time.Duration) error
}

// Client calls one service on behalf of one client of a tenant. It is safe for concurrent use.
type Client struct {
	config Config
	tokens tokenCache
}

// New returns a client for the service that c describes. It checks c but sends no request.
func New(c Config) (*Client, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c.APIURL = strings.TrimRight(c.APIURL, "/")
	if c.HTTP == nil {
		c.HTTP = newHTTPClient()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Pause == nil {
		c.Pause = pause
	}
	client := &Client{config: c}
	client.tokens.fetch = client.fetchToken
	client.tokens.now = c.Now
	return client, nil
}

// check reports which required fields are missing, and addresses that cannot be called.
func (c Config) check() error {
	var missing []string
	for _, field := range []struct{ name, value string }{
		{"API URL", c.APIURL}, {"token URL", c.TokenURL}, {"client ID", c.ClientID}, {"client secret", c.ClientSecret},
		{"scope", c.Scope},
	} {
		if field.value == "" {
			missing = append(missing, field.name)
		}
	}
	if missing != nil {
		return fmt.Errorf("the connection is incomplete: missing %s", strings.Join(missing, ", "))
	}
	for _, address := range []string{c.APIURL, c.TokenURL} {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("%q is not an http or https address", address)
		}
		if u.Scheme == "http" && !isThisHost(u.Hostname()) {
			return fmt.Errorf("%q would send secrets in clear: use https, as plain http is for this machine only",
				address)
		}
	}
	return nil
}

// isThisHost reports whether a host name always means this machine.
func isThisHost(name string) bool {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if ip := net.ParseIP(name); ip != nil {
		return ip.IsLoopback()
	}
	for _, domain := range []string{"localhost", "localhost.localstack.cloud"} {
		if name == domain || strings.HasSuffix(name, "."+domain) {
			return true
		}
	}
	return false
}

// newHTTPClient limits the waits in which nothing happens, but not how long an upload takes.
func newHTTPClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = 2 * time.Minute
	t.ExpectContinueTimeout = 2 * time.Second
	t.MaxIdleConnsPerHost = 2 * defaultParallelParts
	return &http.Client{Transport: t}
}

// pause waits for d. If ctx ends first it returns its error.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// call sends in as JSON with an access token and decodes the reply into out. A nil in sends no body. After a 401 it
// fetches a new token and tries again, once; temporary failures are repeated as the package comment says.
func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	return c.send(ctx, method, path, body, nil, out)
}

// send is call for a body that is JSON text already, with further headers.
func (c *Client) send(ctx context.Context, method, path string, body []byte, header http.Header, out any) error {
	renewed := false
	for attempt := 1; ; attempt++ {
		token, err := c.tokens.get(ctx)
		if err != nil {
			return err
		}
		err = c.callOnce(ctx, method, path, token, body, header, out)
		var refused *Error
		if errors.As(err, &refused) && refused.Status == http.StatusUnauthorized && !renewed {
			renewed = true
			c.tokens.discard(token)
			continue
		}
		delay, retry := retryDelay(err, attempt)
		if !retry || ctx.Err() != nil {
			return err
		}
		if err := c.pauseAfter(ctx, err, delay); err != nil {
			return err
		}
	}
}

// keyHeader returns the header of a request with an idempotency key; "" stands for a new random one.
func keyHeader(key string) http.Header {
	if key == "" {
		key = rand.Text()
	}
	return http.Header{"Idempotency-Key": {key}}
}

// callOnce sends one request and decodes its reply into out. An answer other than 200, 201 and 202 is an
// *Error.
func (c *Client) callOnce(ctx context.Context, method, path, token string, body []byte, header http.Header,
	out any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.config.APIURL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	maps.Copy(req.Header, header)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, text, err := c.roundTrip(req, maxReplyBytes)
	if err != nil {
		return err
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted:
	default:
		return newError(resp, text, req.URL, c.config.APIURL)
	}
	if raw, ok := out.(*rawReply); ok {
		*raw = text
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s %s answers %d with something else than the expected JSON (%w); "+
			"is %s the address of the API?", method, withoutQuery(req.URL), resp.StatusCode, err, c.config.APIURL)
	}
	if k, ok := out.(replyKeeper); ok {
		k.keepReply(resp.StatusCode, text)
	}
	if k, ok := out.(headerKeeper); ok {
		k.keepHeader(resp.Header)
	}
	return nil
}

// Original is the part of a decoded reply that keeps what it was decoded from.
type Original struct {
	// Reply is the service's reply, byte for byte, or an item of it. It may have members that the fields do not.
	Reply json.RawMessage `json:"-"`
}

func (o *Original) keepReply(_ int, text []byte) { o.Reply = text }

// replyKeeper is a decoded reply that keeps what it was decoded from.
type replyKeeper interface{ keepReply(status int, text []byte) }

// headerKeeper is a decoded reply that keeps what its header says.
type headerKeeper interface{ keepHeader(http.Header) }

// roundTrip sends a request and reads at most limit bytes of the reply's body, which it closes. If no complete answer
// comes, the error is an *UnreachableError or the context's.
func (c *Client) roundTrip(req *http.Request, limit int64) (*http.Response, []byte, error) {
	resp, err := c.config.HTTP.Do(req)
	if err != nil {
		return nil, nil, unreachable(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, limit))
	if err != nil {
		return resp, nil, unreachable(err)
	}
	return resp, text, nil
}

// retryDelay reports whether another attempt makes sense after the given one failed with err, and how long to wait
// before it.
func retryDelay(err error, attempt int) (time.Duration, bool) {
	limit := maxAttempts
	switch status, _ := askedToWait(err); status {
	case http.StatusServiceUnavailable:
		limit = maxBusyAttempts
	case http.StatusConflict:
		limit = maxKeyAttempts
	}
	if _, pause := askedToWait(err); err == nil || attempt >= limit || pause > maxAskedPause {
		return 0, false
	}
	delay := firstRetryDelay << (attempt - 1)
	var refused *Error
	var refusedToken *TokenError
	var unreachable *UnreachableError
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusConflict:
		return max(min(delay, maxKeyPause), refused.RetryAfter), refused.isTemporary()
	case errors.As(err, &refused):
		return max(delay, refused.RetryAfter), refused.isTemporary()
	case errors.As(err, &refusedToken):
		return max(delay, refusedToken.RetryAfter), refusedToken.Status >= 500 ||
			refusedToken.Status == http.StatusTooManyRequests
	case errors.As(err, &unreachable):
		return delay, true
	}
	return 0, false
}

// pauseAfter waits before another attempt. If the service has asked for the pause, OnWait is told.
func (c *Client) pauseAfter(ctx context.Context, refusal error, d time.Duration) error {
	if _, asked := askedToWait(refusal); asked > 0 && c.config.OnWait != nil {
		c.config.OnWait(d, refusal)
	}
	return c.config.Pause(ctx, d)
}

// askedToWait returns the status of an answer that says when to try again, and how long to wait; 0 for any other error.
func askedToWait(err error) (status int, pause time.Duration) {
	var refused *Error
	var refusedToken *TokenError
	switch {
	case errors.As(err, &refused) && refused.RetryAfter > 0:
		return refused.Status, refused.RetryAfter
	case errors.As(err, &refusedToken) && refusedToken.RetryAfter > 0:
		return refusedToken.Status, refusedToken.RetryAfter
	}
	return 0, 0
}

// Package client talks to Sluice over its wire: tokens, uploads, batch status, validation results, stored transactions. It
// fetches and renews tokens by itself, and tries again what can be tried again.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	basePath      = "/tm/realtime/api/transactions/"
	maxReplyBytes = 16 << 20
	attempts      = 4 // at a call whose failure may pass
)

// Config says where Sluice is and who calls. All texts are required.
type Config struct {
	APIURL       string // without trailing slash; contract paths are appended
	TokenURL     string // the token endpoint itself
	ClientID     string
	ClientSecret string
	Scope        string // tenant/<tenant id>

	HTTP  *http.Client                               // nil: one of its own
	Now   func() time.Time                           // nil: time.Now
	Pause func(context.Context, time.Duration) error // waits between attempts; nil: for real
}

// Client is safe for concurrent use.
type Client struct {
	config Config
	tokens tokens
}

// New checks the configuration; it calls nothing.
func New(c Config) (*Client, error) {
	var missing []string
	for _, v := range []struct{ name, value string }{
		{"API URL", c.APIURL}, {"token URL", c.TokenURL}, {"client id", c.ClientID}, {"client secret", c.ClientSecret}, {"scope", c.Scope},
	} {
		if v.value == "" {
			missing = append(missing, v.name)
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("the connection lacks: %s", strings.Join(missing, ", "))
	}
	for _, address := range []string{c.APIURL, c.TokenURL} {
		if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("%q is not an http or https address", address)
		}
	}
	c.APIURL = strings.TrimRight(c.APIURL, "/")
	if c.HTTP == nil {
		c.HTTP = newHTTP()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Pause == nil {
		c.Pause = pause
	}
	out := &Client{config: c}
	out.tokens.fetch = out.fetchToken
	out.tokens.now = c.Now
	return out, nil
}

// newHTTP limits what can hang, but not how long an upload takes.
func newHTTP() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = 2 * time.Minute
	t.ExpectContinueTimeout = 2 * time.Second
	return &http.Client{Transport: t}
}

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

// call sends an authorized request and decodes its reply into out. A 401 gets one new token; what may pass is tried again.
func (c *Client) call(ctx context.Context, method, path string, in, out any) (status int, err error) {
	var body []byte
	if in != nil {
		if body, err = json.Marshal(in); err != nil {
			return 0, err
		}
	}
	renewed := false
	for attempt := 1; ; attempt++ {
		token, err := c.tokens.get(ctx)
		if err != nil {
			return 0, err
		}
		status, err = c.once(ctx, method, path, token, body, out)
		var refused *Error
		if errors.As(err, &refused) && refused.Status == http.StatusUnauthorized && !renewed {
			renewed = true
			c.tokens.drop(token)
			continue
		}
		wait, again := retryable(err, attempt)
		if !again || ctx.Err() != nil {
			return status, err
		}
		if err := c.config.Pause(ctx, wait); err != nil {
			return 0, err
		}
	}
}

func (c *Client) once(ctx context.Context, method, path, token string, body []byte, out any) (int, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.config.APIURL+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.config.HTTP.Do(req)
	if err != nil {
		return 0, unreachable(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxReplyBytes))
	if err != nil {
		return 0, unreachable(err)
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusAccepted {
		return resp.StatusCode, newError(resp, text)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return resp.StatusCode, fmt.Errorf("%s %s: the reply is not the expected JSON: %w", method, path, err)
	}
	return resp.StatusCode, nil
}

// retryable says whether another attempt makes sense, and after which pause.
func retryable(err error, attempt int) (time.Duration, bool) {
	if err == nil || attempt >= attempts {
		return 0, false
	}
	wait := 200 * time.Millisecond << (attempt - 1)
	var refused *Error
	var away *UnreachableError
	switch {
	case errors.As(err, &refused):
		return max(wait, refused.RetryAfter), refused.mayPass()
	case errors.As(err, &away):
		return wait, true
	}
	return 0, false
}

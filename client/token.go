package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// tokenCache holds one access token and fetches the next one when it is needed. Concurrent callers share one fetch.
type tokenCache struct {
	fetch func(context.Context) (token string, lifetime time.Duration, err error)
	now   func() time.Time

	mu      sync.Mutex
	token   string
	renewAt time.Time
}

// get returns a token that is valid for some time yet.
func (c *tokenCache) get(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token != "" && c.now().Before(c.renewAt) {
		return c.token, nil
	}
	requestedAt := c.now()
	token, lifetime, err := c.fetch(ctx)
	if err != nil {
		return "", err
	}
	// A tenth of the lifetime, at most a minute, is left for calls that are on their way when the token is renewed.
	c.token, c.renewAt = token, requestedAt.Add(lifetime-min(lifetime/10, time.Minute))
	return token, nil
}

// discard forgets a token that the service refused, unless another caller has replaced it already.
func (c *tokenCache) discard(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == token {
		c.token = ""
	}
}

// Authenticate checks the credentials: it fetches an access token, unless one is at hand that later calls would use. A
// refusal is a *TokenError.
func (c *Client) Authenticate(ctx context.Context) error {
	_, err := c.tokens.get(ctx)
	return err
}

// fetchToken fetches a new token and returns its lifetime. It repeats temporary failures.
func (c *Client) fetchToken(ctx context.Context) (string, time.Duration, error) {
	for attempt := 1; ; attempt++ {
		token, lifetime, err := c.fetchTokenOnce(ctx)
		delay, retry := retryDelay(err, attempt)
		if !retry || ctx.Err() != nil {
			return token, lifetime, err
		}
		if err := c.pauseAfter(ctx, err, delay); err != nil {
			return "", 0, err
		}
	}
}

// fetchTokenOnce requests a token by the client credentials grant (RFC 6749, section 4.4).
func (c *Client) fetchTokenOnce(ctx context.Context) (string, time.Duration, error) {
	form := url.Values{
		"grant_type":    {"client_credentials"},
		"client_id":     {c.config.ClientID},
		"client_secret": {c.config.ClientSecret},
		"scope":         {c.config.Scope},
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.config.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return "", 0, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	resp, text, err := c.roundTrip(req, 1<<20)
	if err != nil {
		return "", 0, err
	}
	var reply struct {
		AccessToken      string `json:"access_token"`
		ExpiresIn        int64  `json:"expires_in"`
		Error            string `json:"error"`
		ErrorDescription string `json:"error_description"`
	}
	err = json.Unmarshal(text, &reply)
	switch {
	case resp.StatusCode != http.StatusOK:
		return "", 0, &TokenError{resp.StatusCode, reply.Error, reply.ErrorDescription, withoutQuery(req.URL),
			retryAfter(resp)}
	case err != nil || reply.AccessToken == "":
		return "", 0, fmt.Errorf("%s answers 200 without an access_token; is it the token URL? "+
			"It usually ends with /oauth2/token", withoutQuery(req.URL))
	}
	return reply.AccessToken, time.Duration(reply.ExpiresIn) * time.Second, nil
}

package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// tokens keeps one token and fetches the next when it is needed. Callers that need one at the same time wait for one fetch.
type tokens struct {
	fetch func(context.Context) (text string, lifetime time.Duration, err error)
	now   func() time.Time

	mu      sync.Mutex
	text    string
	renewAt time.Time
}

func (t *tokens) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text != "" && t.now().Before(t.renewAt) {
		return t.text, nil
	}
	asked := t.now()
	text, lifetime, err := t.fetch(ctx)
	if err != nil {
		return "", err
	}
	// A tenth of the life, at most a minute, is left for calls that are on their way.
	t.text, t.renewAt = text, asked.Add(lifetime-min(lifetime/10, time.Minute))
	return text, nil
}

// drop forgets a token that was refused, unless another has taken its place.
func (t *tokens) drop(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text == text {
		t.text = ""
	}
}

func (c *Client) fetchToken(ctx context.Context) (string, time.Duration, error) {
	for attempt := 1; ; attempt++ {
		text, lifetime, err := c.fetchTokenOnce(ctx)
		wait, again := retryable(err, attempt)
		var refused *TokenError
		if errors.As(err, &refused) && refused.Status >= 500 && attempt < attempts {
			wait, again = 200*time.Millisecond<<(attempt-1), true
		}
		if !again || ctx.Err() != nil {
			return text, lifetime, err
		}
		if err := c.config.Pause(ctx, wait); err != nil {
			return "", 0, err
		}
	}
}

func (c *Client) fetchTokenOnce(ctx context.Context) (string, time.Duration, error) {
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {c.config.ClientID}, "client_secret": {c.config.ClientSecret},
		"scope": {c.config.Scope},
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.config.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return "", 0, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	resp, err := c.config.HTTP.Do(req)
	if err != nil {
		return "", 0, unreachable(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return "", 0, unreachable(err)
	}
	var body struct {
		AccessToken      string `json:"access_token"`
		ExpiresIn        int64  `json:"expires_in"` // seconds
		Error            string `json:"error"`
		ErrorDescription string `json:"error_description"`
	}
	err = json.Unmarshal(text, &body)
	switch {
	case resp.StatusCode != http.StatusOK:
		return "", 0, &TokenError{resp.StatusCode, body.Error, body.ErrorDescription}
	case err != nil || body.AccessToken == "":
		return "", 0, fmt.Errorf("the token endpoint's reply has no access_token")
	}
	return body.AccessToken, time.Duration(body.ExpiresIn) * time.Second, nil
}

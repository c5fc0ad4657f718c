package externalauthdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"sluice/shared/connect/externalauth"
	"sluice/shared/kit/dynamo"
)

var _ externalauth.NoticeStore = (*Store)(nil)

// EachDue implements externalauth.NoticeStore.
func (s *Store) EachDue(ctx context.Context, now time.Time, visit func(externalauth.Configuration) error) error {
	query := s.table.SelectIn("notices", "watched = :watched AND notice_at <= :now", dynamo.Item{
		":watched": dynamo.String(watched), ":now": dynamo.String(now.UTC().Format(noticeFormat)),
	})
	for item, err := range s.table.Query(ctx, query) {
		if err != nil {
			return fmt.Errorf("list due notices: %w", err)
		}
		// The index may be late. The configuration itself is read consistently.
		id := strings.TrimPrefix(dynamo.StringAttribute(item, "part"), configurationPrefix)
		c, err := s.Get(ctx, dynamo.StringAttribute(item, "owner"), id)
		if errors.Is(err, externalauth.ErrNotFound) {
			continue
		}
		if err == nil {
			err = visit(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SetNoticed implements externalauth.NoticeStore.
func (s *Store) SetNoticed(ctx context.Context, c externalauth.Configuration) error {
	noticed, err := noticedAttribute(c)
	if err != nil {
		return err
	}
	update, values := "SET noticed = :noticed", dynamo.Item{
		":noticed": noticed, ":version": dynamo.Number(c.Version),
	}
	if next := c.NextNotice(); next.IsZero() {
		update += " REMOVE watched, notice_at"
	} else {
		update += ", watched = :watched, notice_at = :next"
		values[":watched"] = dynamo.String(watched)
		values[":next"] = dynamo.String(next.UTC().Format(noticeFormat))
	}
	err = s.table.Apply(ctx, "record notices",
		s.table.Update(configurationKey(c.Tenant, c.ID), update, "version = :version", values))
	if errors.Is(err, dynamo.ErrRefused) {
		return nil // it was changed or deleted
	}
	return err
}

// secretsBody is all secrets of a configuration, as JSON. Values are in the order of the row's names.
type secretsBody struct {
	Headers      []string `json:"headers,omitempty"`
	ClientSecret string   `json:"client_secret,omitempty"`
	OAuthHeaders []string `json:"oauth_headers,omitempty"`
	FormValues   []string `json:"form_values,omitempty"`
}

// secretsOf returns the secrets of a configuration as JSON, nil if it has no secrets.
func secretsOf(c externalauth.Configuration) ([]byte, error) {
	body := secretsBody{Headers: revealAll(c.Headers)}
	if o := c.OAuth; o != nil {
		body.ClientSecret = o.ClientSecret.Reveal()
		body.OAuthHeaders, body.FormValues = revealAll(o.Headers), revealAll(o.FormValues)
	}
	if body.ClientSecret == "" && body.Headers == nil && body.OAuthHeaders == nil && body.FormValues == nil {
		return nil, nil
	}
	return json.Marshal(body)
}

func revealAll(values []externalauth.NameValue) []string {
	var texts []string
	for _, v := range values {
		texts = append(texts, v.Value.Reveal())
	}
	return texts
}

// withSecrets returns a configuration with the secrets that secretsOf has written for it.
func withSecrets(c externalauth.Configuration, secrets []byte) (externalauth.Configuration, error) {
	var body secretsBody
	if err := json.Unmarshal(secrets, &body); err != nil {
		return externalauth.Configuration{}, fmt.Errorf("read secrets of configuration %s: not valid JSON", c.ID)
	}
	fits := len(body.Headers) == len(c.Headers)
	if fits {
		c.Headers = withValues(c.Headers, body.Headers)
	}
	if c.OAuth != nil && fits {
		o := *c.OAuth
		o.ClientSecret = externalauth.Secret(body.ClientSecret)
		if fits = len(body.OAuthHeaders) == len(o.Headers) && len(body.FormValues) == len(o.FormValues); fits {
			o.Headers, o.FormValues = withValues(o.Headers, body.OAuthHeaders),
				withValues(o.FormValues, body.FormValues)
		}
		c.OAuth = &o
	}
	if !fits {
		return externalauth.Configuration{}, fmt.Errorf("read secrets of configuration %s: not those of its names",
			c.ID)
	}
	return c, nil
}

func withValues(names []externalauth.NameValue, values []string) []externalauth.NameValue {
	var out []externalauth.NameValue
	for i, v := range names {
		out = append(out, externalauth.NameValue{Name: v.Name, Value: externalauth.Secret(values[i])})
	}
	return out
}

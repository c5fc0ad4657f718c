package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
)

// platformPage is how many items one request for a list returns at most.
const platformPage = 100

// platform calls a platform path: in, if it is not nil, is sent as data, and the data of the reply are decoded into
// out, if that is not nil.
func (c *Client) platform(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(map[string]any{"data": in}); err != nil {
			return err
		}
	}
	var envelope struct{ Data json.RawMessage }
	err := c.send(ctx, method, path, body, c.tenantHeader(), &envelope)
	if err != nil || out == nil {
		return err
	}
	if k, ok := out.(replyKeeper); ok {
		k.keepReply(http.StatusOK, envelope.Data)
	}
	return json.Unmarshal(envelope.Data, out)
}

// platformPages calls use with the items of all pages of a list, as they came. Fetch asks for the page of a token.
func platformPages(fetch func(token string, page any) error, use func(item json.RawMessage) error) error {
	for token := ""; ; {
		var page struct {
			Items           []json.RawMessage `json:"items"`
			PaginationToken string            `json:"paginationToken"`
		}
		if err := fetch(token, &page); err != nil {
			return err
		}
		for _, item := range page.Items {
			if err := use(item); err != nil {
				return err
			}
		}
		if page.PaginationToken == token || page.PaginationToken == "" {
			return nil
		}
		token = page.PaginationToken
	}
}

// listPlatform returns all items of a list that is read by GET.
func listPlatform[T any, P keeperOf[T]](ctx context.Context, c *Client, path string) ([]T, error) {
	all := []T{}
	err := platformPages(func(token string, page any) error {
		query := url.Values{"PageSize": {strconv.Itoa(platformPage)}}
		if token != "" {
			query.Set("PaginationToken", token)
		}
		return c.platform(ctx, http.MethodGet, path+"?"+query.Encode(), nil, page)
	}, decodeItems[T, P](&all))
	return all, err
}

// keeperOf is the pointer to a type that keeps its reply.
type keeperOf[T any] interface {
	*T
	replyKeeper
}

// decodeItems returns a function that appends an item to a list, with the reply that it came from.
func decodeItems[T any, P keeperOf[T]](to *[]T) func(json.RawMessage) error {
	return func(reply json.RawMessage) error {
		var item T
		P(&item).keepReply(http.StatusOK, reply)
		err := json.Unmarshal(reply, &item)
		*to = append(*to, item)
		return err
	}
}

package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Values of BatchQuery.States. StateOpen includes the batches that await their upload.
const (
	StateAwaitingUpload = "awaiting_upload"
	StateOpen           = "open"
	StateEnded          = "ended"
)

// BatchQuery selects batches. The zero value selects all of the tenant.
type BatchQuery struct {
	// Statuses are the constants StatusValidationStarted to StatusError that a batch may have; none for any.
	Statuses []string
	// States selects the batches in one of some states, StateAwaitingUpload to StateEnded; none selects all.
	States []string
	// CreatedAfter and CreatedBefore are times between which a batch was created; zero for no bound.
	CreatedAfter, CreatedBefore time.Time
	// ClientID is the client that created the batch; "" for any.
	ClientID string
	// NamePrefix is what the name of the batch begins with.
	NamePrefix string
	// Metadata are pairs that the metadata of the batch have.
	Metadata map[string]string
	// Limit is how many batches a page has at most, 1 to 200; 0 means the service's own, 50.
	Limit int
}

// values returns the parameters of the query for a page.
func (q BatchQuery) values(next string) url.Values {
	v := url.Values{"status": q.Statuses, "state": q.States}
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	for name, t := range map[string]time.Time{"created_after": q.CreatedAfter, "created_before": q.CreatedBefore} {
		if !t.IsZero() {
			v.Set(name, t.UTC().Format(time.RFC3339Nano))
		}
	}
	set("client_id", q.ClientID)
	set("name", q.NamePrefix)
	for key, value := range q.Metadata {
		v.Set("metadata."+key, value)
	}
	if q.Limit != 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	set("next", next)
	return v
}

// Batches returns a page of the tenant's batches, newest first, and what next is for the page that follows; it is ""
// for the first page, and at the end. A page can have fewer batches than the limit, also none, although next is not "".
//
// Of a batch that runs, BytesDone and Counts.Ingested are not known: read its Status. Status.Reply is its item of the
// reply.
func (c *Client) Batches(ctx context.Context, q BatchQuery, next string) (page []Status, nextPage string, err error) {
	path := strings.TrimSuffix(basePath, "/") + "/batch"
	if query := q.values(next).Encode(); query != "" {
		path += "?" + query
	}
	var list struct {
		Batches []json.RawMessage `json:"batches"`
		Next    string            `json:"next"`
	}
	if err := c.call(ctx, http.MethodGet, path, nil, &list); err != nil {
		return nil, "", err
	}
	use := decodeItems(&page)
	for _, item := range list.Batches {
		if err := use(item); err != nil {
			return nil, "", err
		}
	}
	return page, list.Next, nil
}

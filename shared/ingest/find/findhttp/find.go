// Package findhttp serves what has an identifier under /tm/realtime/api/find (docs/contract/batch.md, Find).
package findhttp

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/ingest/find"
	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/fault"
)

// Limits of a page.
const (
	defaultLimit = 50
	maxLimit     = 100
)

// Find answers the route that finds everything by its identifier.
type Find struct {
	Finder *find.Finder
	// Paging seals the tokens of pages.
	Paging *platform.Paging
}

// Routes returns the route.
func (s *Find) Routes() []httpapi.Route {
	return []httpapi.Route{{Method: http.MethodGet, Path: "/tm/realtime/api/find",
		Permissions: []string{permission.BatchRead, permission.TransactionRead}, Limit: ratelimit.TransactionReads,
		Query: []string{"id", "kind", "limit", "next"}, Endpoint: s.Find}}
}

// readers are the permissions of which a caller needs one to find objects of a kind.
var readers = map[find.Kind][]string{
	find.Batch:     {permission.BatchRead},
	find.Entity:    {permission.EntityDataAccessAndSearch, permission.EntityGroupManagementAccessAndSearch},
	find.Document:  {permission.DocumentManagementAccess},
	find.Event:     {permission.WebhookRead},
	find.Screening: {permission.ScreeningAccess},
}

// Find returns what has an identifier: lines and single transactions, and those objects that the caller may read.
func (s *Find) Find(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	values := r.URL.Query()
	q := find.Query{Tenant: caller.Tenant, Layers: caller.Layers, ID: values.Get("id")}
	if err := httpapi.CheckID(fault.InQuery, "id", q.ID, transaction.MaxIDBytes); err != nil {
		return httpapi.Reply{}, err
	}
	kinds, err := readKinds(values)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if q.Limit, err = httpapi.QueryLimit(values, defaultLimit, maxLimit); err != nil {
		return httpapi.Reply{}, err
	}
	query := fmt.Sprint("find ", kinds, " ", q.ID)
	position, err := s.Paging.OpenQuery(caller.Tenant, query, values)
	if err == nil {
		q.After, err = find.ParsePosition(position)
	}
	if err != nil {
		return httpapi.Reply{}, err
	}
	q.Kinds = slices.DeleteFunc(kinds, func(k find.Kind) bool {
		return !k.IsOfLine() && !slices.ContainsFunc(readers[k], func(name string) bool {
			return slices.Contains(caller.Permissions, name)
		})
	})
	found, err := s.Finder.Find(ctx, q)
	if err != nil {
		return httpapi.Reply{}, err
	}
	out := wire.FoundItems{Items: make([]wire.FoundItem, len(found.Items)),
		Searched: wire.SearchedTimes{From: platform.OrNull(found.From), To: found.To}}
	for i, item := range found.Items {
		out.Items[i] = newFoundItem(item)
	}
	out.Next = platform.OrNull(s.Paging.Seal(caller.Tenant, query, found.Next.String()))
	return httpapi.Reply{Body: out}, nil
}

func newFoundItem(item find.Item) wire.FoundItem {
	return wire.FoundItem{
		Kind: string(item.Kind), ID: item.ID, BatchID: platform.OrNull(string(item.Batch)),
		Line:                   platform.OrNull(item.Line),
		TransactionExternalID:  platform.OrNull(item.TransactionID),
		ModificationExternalID: platform.OrNull(item.ModificationID),
		PaymentExternalID:      platform.OrNull(item.PaymentID),
		Status:                 platform.OrNull(item.Status),
		ReceivedAt:             platform.OrNull(item.ReceivedAt),
		Href:                   platform.OrNull(item.Href),
	}
}

// readKinds returns the kind that the query names, or all of them.
func readKinds(values url.Values) ([]find.Kind, error) {
	const name = "kind"
	all := find.Kinds()
	kind := find.Kind(values.Get(name))
	if !values.Has(name) {
		return all, nil
	}
	if !slices.Contains(all, kind) {
		names := strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", ", "), "[]")
		return nil, httpapi.InvalidQuery(values, name, "The value must be one of "+names+".", "enum")
	}
	return []find.Kind{kind}, nil
}

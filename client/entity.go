package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"sluice/openapi/wire"
)

// entityQueries is the path under which entities are read.
const entityQueries = "/entitydataquery/api/v2/entity"

// EntityQuery selects entities. The zero value selects all that the client reaches.
type EntityQuery struct {
	// NamePrefix is what the name of the entity begins with, in any case.
	NamePrefix string
	// Status is the lifecycle status, such as "Compliant"; "" for any.
	Status string
	// Limit is how many entities a page has at most, 1 to 500; 0 means the service's own, 100.
	Limit int
}

// ListedEntity is an entity as a list has it.
type ListedEntity struct {
	wire.ListedEntity
	Original
}

// Entity is an entity with its verified properties.
type Entity struct {
	wire.Entity
	Original
}

// EntityRisk is the risk of an entity.
type EntityRisk = wire.RiskLevel

// AccessLayers say who reaches something, by geography and by business.
type AccessLayers = wire.AccessLayers

// Entities returns a page of the entities that the client reaches, in the order of their names, and the token of the
// page that follows; it is "" for the first page, and at the end. A page can have fewer entities than the limit, also
// none, although there is a token.
func (c *Client) Entities(ctx context.Context, q EntityQuery, token string) (entities []ListedEntity, next string,
	err error) {
	query := url.Values{}
	for name, value := range map[string]string{
		"name": q.NamePrefix, "status": q.Status, "paginationToken": token,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if q.Limit != 0 {
		query.Set("pageSize", strconv.Itoa(q.Limit))
	}
	path := entityQueries
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var page struct {
		Items           []json.RawMessage `json:"items"`
		PaginationToken string            `json:"paginationToken"`
	}
	if err := c.platform(ctx, http.MethodGet, path, nil, &page); err != nil {
		return nil, "", err
	}
	use := decodeItems(&entities)
	for _, item := range page.Items {
		if err := use(item); err != nil {
			return nil, "", err
		}
	}
	return entities, page.PaginationToken, nil
}

// Entity reads an entity. One that does not exist, or that the client's access layers do not reach, is a 404 *Error.
func (c *Client) Entity(ctx context.Context, id string) (Entity, error) {
	var e Entity
	err := c.platform(ctx, http.MethodGet, entityQueries+"/"+url.PathEscape(id), nil, &e)
	return e, err
}

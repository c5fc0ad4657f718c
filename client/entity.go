package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

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
	ID string `json:"id"`
	// Type is Company, Individual, Other or Entity Group; "" for an entity that an earlier release imported.
	Type string `json:"type"`
	// Name is the legal name, full name, name, or first and last names; "" if it has none.
	Name            string `json:"name"`
	LifecycleStatus string `json:"lifecycleStatus"`
	Version         int64  `json:"version"`
	// Reply is the item as it came.
	Reply json.RawMessage `json:"-"`
}

// Entity is an entity with its verified properties.
type Entity struct {
	ID string `json:"id"`
	// Type is as in ListedEntity, and Role is Client or Related Party.
	Type string `json:"type"`
	Role string `json:"role"`
	// LifecycleStatus says whether lines of batches may name the entity; Status is the same.
	LifecycleStatus string `json:"lifecycleStatus"`
	Status          string `json:"status"`
	// Properties are the verified properties by their names; each has a "type" and, if that is "Single", a "value".
	Properties map[string]json.RawMessage `json:"properties"`
	// Risk is nil where no risk has been set.
	Risk *EntityRisk `json:"risk"`
	// Created is nil for an entity that was only imported, and Deleted for one that is not deleted.
	Created *time.Time `json:"created"`
	Deleted *time.Time `json:"deleted"`
	// AlternateID is an ID of the tenant's own; "" if it has none.
	AlternateID             string       `json:"alternateId"`
	AccessLayers            AccessLayers `json:"accessLayers"`
	InScopeJurisdictions    []string     `json:"inScopeJurisdictions"`
	OffboardedJurisdictions []string     `json:"offboardedJurisdictions"`
	EvaluatedJurisdictions  []string     `json:"evaluatedJurisdictions"`
	Version                 int64        `json:"version"`
	PropertiesVersion       int64        `json:"propertiesVersion"`
	// MaskedProperties are the names of properties whose values this client may not see.
	MaskedProperties []string `json:"maskedProperties"`
	// Reply is the data of the reply as they came.
	Reply json.RawMessage `json:"-"`
}

// EntityRisk is the risk of an entity.
type EntityRisk struct {
	Category string `json:"riskCategory"`
	Level    string `json:"riskLevel"`
}

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
	use := decodeItems(&entities, func(e *ListedEntity, reply json.RawMessage) { e.Reply = reply })
	for _, item := range page.Items {
		if err := use(item); err != nil {
			return nil, "", err
		}
	}
	return entities, page.PaginationToken, nil
}

// Entity reads an entity. One that does not exist, or that the client's access layers do not reach, is a 404 *Error.
func (c *Client) Entity(ctx context.Context, id string) (Entity, error) {
	var reply json.RawMessage
	if err := c.platform(ctx, http.MethodGet, entityQueries+"/"+url.PathEscape(id), nil, &reply); err != nil {
		return Entity{}, err
	}
	e := Entity{Reply: reply}
	return e, json.Unmarshal(reply, &e)
}

package documenthttp

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sluice/shared/document"
	"sluice/shared/fault"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
)

// LitePage is the body of POST /entity/paged/lite/v2.
type LitePage struct {
	EntityID          string   `json:"entityId"`
	PageSize          *int     `json:"pageSize"` // absent: 100
	PaginationToken   string   `json:"paginationToken"`
	AdditionalColumns []string `json:"additionalColumns"` // keys of Model
	Status            string   `json:"status"`            // only these
	ExcludeStatus     string   `json:"excludeStatus"`     // not these
}

// liteColumns are the keys of Model that every item has.
var liteColumns = []string{"id", "entityId", "journeyId", "fileName", "documentType", "documentEntityType", "status", "isVirtual",
	"uploadedOn", "hasRequiredAccessLayers"}

var statuses = []string{string(document.Processing), string(document.Completed), "Auto Classifying", string(document.Failed),
	string(document.Infected), string(document.Archived)}

// columns are all keys of Model.
var columns = keys(reflect.TypeFor[Model]())

func keys(t reflect.Type) []string {
	var all []string
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous {
			all = append(all, keys(f.Type)...)
		} else {
			all = append(all, f.Tag.Get("json"))
		}
	}
	return all
}

// Check notes what is wrong with the body.
func (p *LitePage) Check(f *platform.Faults) {
	checkKey(f, "entityId", p.EntityID, true)
	f.Between("pageSize", sizeOf(p.PageSize), 1, maxPage)
	for i, name := range p.AdditionalColumns {
		f.OneOf("additionalColumns."+strconv.Itoa(i), name, columns...)
	}
	checkStatus(f, "status", p.Status)
	checkStatus(f, "excludeStatus", p.ExcludeStatus)
}

func checkStatus(f *platform.Faults, name, value string) {
	if value != "" {
		f.OneOf(name, value, statuses...)
	}
}

// Lite is a page of documents in creation order. It may be short before the end, which is where nextPageToken is null.
type Lite struct {
	Items         []map[string]json.RawMessage `json:"items"`
	ItemsCount    int                          `json:"itemsCount"` // of this page
	NextPageToken *string                      `json:"nextPageToken"`
	HasMoreItems  bool                         `json:"hasMoreItems"`
	ErrorMessage  *string                      `json:"errorMessage"` // always null: an error is no 200
}

// maxReads bounds the work for a page whose statuses are rare.
const maxReads = 10

func (s *Documents) lite(ctx context.Context, c httpapi.Caller, _ *http.Request, in LitePage) (Lite, error) {
	query := strings.Join([]string{"lite", in.Status, in.ExcludeStatus, in.EntityID}, "\n")
	position, err := s.Paging.Open(c.Tenant, query, in.PaginationToken)
	if fault.As(err).Kind == fault.BadRequest {
		var f platform.Faults
		f.Add("paginationToken", "The token does not belong to this search.", platform.BadPaging)
		err = f.Err().Because(err)
	}
	if err != nil {
		return Lite{}, err
	}
	wanted, size, left := slices.Concat(liteColumns, in.AdditionalColumns), sizeOf(in.PageSize), platform.MaxReply
	page := Lite{Items: []map[string]json.RawMessage{}}
	for read := 0; read < maxReads && len(page.Items) < size && left > 0; read++ {
		found, next, err := s.Store.List(ctx, c.Tenant, document.Scope{EntityID: in.EntityID}, position, size-len(page.Items))
		if err != nil {
			return Lite{}, err
		}
		for _, f := range found {
			item, err := in.item(f, c, wanted)
			if err != nil {
				return Lite{}, err
			}
			if item != nil && left.Take(item, errTooMany) != nil {
				next = position // after the last that found room
				break
			}
			if position = f.Position; item != nil {
				page.Items = append(page.Items, item)
			}
		}
		if position = next; position == "" {
			break
		}
	}
	page.ItemsCount, page.HasMoreItems = len(page.Items), position != ""
	page.NextPageToken = given(s.Paging.Seal(c.Tenant, query, position))
	return page, nil
}

// item is what a page shows of a document; nil if it has not the wanted status.
func (p *LitePage) item(f document.Entry, c httpapi.Caller, wanted []string) (map[string]json.RawMessage, error) {
	status := string(f.EffectiveState(f.StoredFile).Status)
	if p.Status != "" && status != p.Status || p.ExcludeStatus != "" && status == p.ExcludeStatus {
		return nil, nil
	}
	return pick(model(f, c), wanted)
}

// pick keeps the named keys of a document.
func pick(m Model, names []string) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for name := range all {
		if !slices.Contains(names, name) {
			delete(all, name)
		}
	}
	return all, nil
}

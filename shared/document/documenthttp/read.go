package documenthttp

import (
	"context"
	"net/http"
	"strconv"

	"sluice/shared/document"
	"sluice/shared/fault"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
)

func (s *Documents) get(ctx context.Context, c httpapi.Caller, r *http.Request) (Model, error) {
	d, file, err := s.read(ctx, c, r.PathValue("id"))
	if err != nil {
		return Model{}, err
	}
	return model(document.Entry{Document: d, StoredFile: file}, c), nil
}

func (s *Documents) group(ctx context.Context, c httpapi.Caller, r *http.Request) ([]Model, error) {
	unique := false
	if text := r.URL.Query().Get("deduplicationEnabled"); text != "" {
		var err error
		if unique, err = strconv.ParseBool(text); err != nil {
			var f platform.Faults
			f.Add("deduplicationEnabled", "The value must be true or false.", "bool_type")
			return nil, f.Err()
		}
	}
	out, left := []Model{}, platform.MaxReply
	err := s.each(ctx, c, document.Scope{EntityID: r.PathValue("entityId"), JourneyID: r.PathValue("journeyId")}, unique, func(f document.Entry) error {
		out = append(out, model(f, c))
		return left.Take(out[len(out)-1], errTooMany)
	})
	return out, err
}

// atOnce is how many documents are read and held together.
const atOnce = 50

// each calls use with the documents of a group in order of creation; unique leaves out those of a file that was there before.
func (s *Documents) each(ctx context.Context, c httpapi.Caller, g document.Scope, unique bool, use func(document.Entry) error) error {
	if len(g.EntityID) > platform.MaxName || len(g.JourneyID) > platform.MaxName {
		return nil // nothing can be stored under such an id
	}
	first := document.FirstOfEachFile()
	for position := ""; ; {
		found, next, err := s.Store.List(ctx, c.Tenant, g, position, atOnce)
		if err != nil {
			return err
		}
		for _, f := range found {
			if unique && !first(f.Document) {
				continue
			}
			if err := use(f); err != nil {
				return err
			}
		}
		if position = next; next == "" {
			return nil
		}
	}
}

const maxPage = 500

// Page is the body of POST /entity/paged.
type Page struct {
	EntityID             string `json:"entityId"`
	StartIndex           int    `json:"startIndex"`
	PageSize             *int   `json:"pageSize"` // absent: 100
	DeduplicationEnabled bool   `json:"deduplicationEnabled"`
}

// Check notes what is wrong with the body.
func (p *Page) Check(f *platform.Faults) {
	checkKey(f, "entityId", p.EntityID, true)
	f.Between("startIndex", p.StartIndex, 0, 1<<31-1)
	f.Between("pageSize", sizeOf(p.PageSize), 1, maxPage)
}

func sizeOf(page *int) int {
	if page == nil {
		return 100
	}
	return *page
}

// Paged is the answer: itemsCount counts all documents of the entity. A page of large documents may be short before the end; the
// next one starts totalPagedItemsReturned later.
type Paged struct {
	Items                   []Model `json:"items"`
	ItemsCount              int     `json:"itemsCount"`
	TotalPagedItemsReturned int     `json:"totalPagedItemsReturned"`
	HasMoreItems            bool    `json:"hasMoreItems"`
}

func (s *Documents) paged(ctx context.Context, c httpapi.Caller, _ *http.Request, in Page) (Paged, error) {
	out, left, full := Paged{Items: []Model{}}, platform.MaxReply, false
	err := s.each(ctx, c, document.Scope{EntityID: in.EntityID}, in.DeduplicationEnabled, func(f document.Entry) error {
		out.ItemsCount++
		if out.ItemsCount <= in.StartIndex || full || len(out.Items) == sizeOf(in.PageSize) {
			return nil
		}
		m := model(f, c)
		if full = left.Take(m, errTooMany) != nil; !full {
			out.Items = append(out.Items, m)
		}
		return nil
	})
	out.TotalPagedItemsReturned = len(out.Items)
	out.HasMoreItems = in.StartIndex+len(out.Items) < out.ItemsCount
	return out, err
}

func (s *Documents) download(ctx context.Context, c httpapi.Caller, r *http.Request) (string, error) {
	d, file, err := s.read(ctx, c, r.PathValue("id"))
	switch {
	case err != nil:
		return "", err
	case !c.Layers.CanReach(d.Layers):
		return "", errReach
	case !d.IsReadable(file):
		return "", fault.New(fault.NotFound, "file_not_found", "The document has no file that can be downloaded.")
	}
	signed, err := s.Files.SignGet(ctx, fileKey(c.Tenant, d.FileID), d.FileName, s.DownloadLifetime)
	return signed.URL, err
}

// names answers with a fixed list.
func names(all []string) httpapi.Endpoint {
	return platform.Read(func(context.Context, httpapi.Caller, *http.Request) ([]string, error) { return all, nil })
}

package documenthttp

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/platform/document"
)

// get returns one document.
func (s *Documents) get(ctx context.Context, r *platform.Request, _ platform.NoBody) (DocumentReply, error) {
	d, file, err := s.findByPath(ctx, r)
	if err != nil {
		return DocumentReply{}, err
	}
	return documentReplyOf(document.Entry{Document: d, StoredFile: file}, r), nil
}

// list returns all documents of an entity, a journey or both.
func (s *Documents) list(ctx context.Context, r *platform.Request, _ platform.NoBody) ([]DocumentReply, error) {
	var firstOfFile bool
	err := r.Validate(func(v *platform.ValidationErrors) {
		for _, name := range []string{"entityId", "journeyId"} {
			v.CheckID(name, r.PathValue(name)) // empty where the path of the list does not have it
		}
		firstOfFile = v.CheckQueryBool("deduplicationEnabled")
	})
	if err != nil {
		return nil, err
	}
	budget := httpapi.ListBudget
	out := []DocumentReply{}
	scope := document.NewScope(r.PathValue("entityId"), r.PathValue("journeyId"))
	err = s.forEach(ctx, r, scope, firstOfFile, func(e document.Entry) error {
		item := documentReplyOf(e, r)
		out = append(out, item)
		return budget.Reserve(item, errTooMany)
	})
	return out, err
}

// page returns a page of the documents of an entity, and how many it has in all.
func (s *Documents) page(ctx context.Context, r *platform.Request, in PageRequest) (PageReply, error) {
	fill := s.fillPage
	if in.DeduplicationEnabled {
		fill = s.fillPageOfFiles
	}
	out := PageReply{Items: []DocumentReply{}}
	err := fill(ctx, r, in, &out)
	out.TotalPagedItemsReturned = len(out.Items)
	out.HasMoreItems = in.StartIndex+len(out.Items) < out.ItemsCount
	return out, err
}

// fillPage fills a page of documents. It reads no other documents: those before and after the page are only counted.
func (s *Documents) fillPage(ctx context.Context, r *platform.Request, in PageRequest, out *PageReply) error {
	scope, budget := document.NewScope(in.EntityID, ""), httpapi.ListBudget
	skipped, position, err := s.Store.Count(ctx, r.Tenant, scope, "", in.StartIndex)
	out.ItemsCount = skipped
	isEnd := skipped < in.StartIndex
	for isFull := false; err == nil && !isFull && !isEnd && len(out.Items) < pageSize(in.PageSize); {
		var entries []document.Entry
		var next string
		entries, next, err = s.Store.List(ctx, r.Tenant, scope, position,
			min(readTogether, pageSize(in.PageSize)-len(out.Items)))
		for _, e := range entries {
			item := documentReplyOf(e, r)
			if isFull = budget.Reserve(item, errTooMany) != nil; isFull {
				break
			}
			out.Items, position = append(out.Items, item), e.Position
		}
		if !isFull {
			position, isEnd = next, next == ""
		}
	}
	out.ItemsCount += len(out.Items)
	if err != nil || isEnd {
		return err
	}
	rest, _, err := s.Store.Count(ctx, r.Tenant, scope, position, math.MaxInt)
	out.ItemsCount += rest
	return err
}

// fillPageOfFiles fills a page of the documents that are the first of their file. Which are is known only when all
// documents have been read.
func (s *Documents) fillPageOfFiles(ctx context.Context, r *platform.Request, in PageRequest, out *PageReply) error {
	budget, isFull := httpapi.ListBudget, false
	return s.forEach(ctx, r, document.NewScope(in.EntityID, ""), true, func(e document.Entry) error {
		out.ItemsCount++
		if out.ItemsCount <= in.StartIndex || isFull || len(out.Items) == pageSize(in.PageSize) {
			return nil
		}
		item := documentReplyOf(e, r)
		if isFull = budget.Reserve(item, errTooMany) != nil; !isFull {
			out.Items = append(out.Items, item)
		}
		return nil
	})
}

// readTogether is how many documents are read and held at a time.
const readTogether = 50

// forEach calls use with the documents of a scope in the order of their creation; with firstOfFile only with the first
// document of each file.
func (s *Documents) forEach(ctx context.Context, r *platform.Request, scope document.Scope, firstOfFile bool,
	use func(document.Entry) error) error {
	if len(scope.EntityID) > platform.MaxID || len(scope.JourneyID) > platform.MaxID {
		return nil // no document has such an ID, and the store could not look it up
	}
	isFirst := document.FirstOfEachFile()
	for position := ""; ; {
		entries, next, err := s.Store.List(ctx, r.Tenant, scope, position, readTogether)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if firstOfFile && !isFirst(e.Document) {
				continue
			}
			if err := use(e); err != nil {
				return err
			}
		}
		if position = next; next == "" {
			return nil
		}
	}
}

// maxReads bounds the reads for a lite page whose statuses are rare.
const maxReads = 10

// litePage returns a page of the documents of an entity, with the columns and of the statuses that are asked for.
func (s *Documents) litePage(ctx context.Context, r *platform.Request, in LitePageRequest) (LitePageReply, error) {
	query := strings.Join([]string{"lite", in.Status, in.ExcludeStatus, document.NewScope(in.EntityID, "").EntityID},
		"\n")
	position, err := r.OpenPageToken(s.Paging, query, "paginationToken", in.PaginationToken)
	if err != nil {
		return LitePageReply{}, err
	}
	items, position, err := s.liteItems(ctx, r, in, position)
	if err != nil {
		return LitePageReply{}, err
	}
	return LitePageReply{
		Items: items, ItemsCount: len(items), HasMoreItems: position != "",
		NextPageToken: platform.OrNull(s.Paging.Seal(r.Tenant, query, position)),
	}, nil
}

// liteItems reads the items of a lite page from a position on, and the position after them, "" at the end of the list.
func (s *Documents) liteItems(ctx context.Context, r *platform.Request, in LitePageRequest,
	position string) ([]map[string]json.RawMessage, string, error) {
	columns := slices.Concat(liteColumns, in.AdditionalColumns)
	scope, size, budget := document.NewScope(in.EntityID, ""), pageSize(in.PageSize), httpapi.ListBudget
	items := []map[string]json.RawMessage{}
	for read := 0; read < maxReads && len(items) < size && budget > 0; read++ {
		entries, next, err := s.Store.List(ctx, r.Tenant, scope, position, size-len(items))
		if err != nil {
			return nil, "", err
		}
		for _, e := range entries {
			if !in.selects(e) {
				position = e.Position
				continue
			}
			item, err := pickColumns(documentReplyOf(e, r), columns)
			if err != nil {
				return nil, "", err
			}
			if budget.Reserve(item, errTooMany) != nil {
				next = position // the next page begins with this item
				break
			}
			items, position = append(items, item), e.Position
		}
		if position = next; position == "" {
			break
		}
	}
	return items, position, nil
}

// selects reports whether a document has a status that is asked for.
func (in *LitePageRequest) selects(e document.Entry) bool {
	status := string(e.EffectiveState(e.StoredFile).Status)
	return (in.Status == "" || status == in.Status) && (in.ExcludeStatus == "" || status != in.ExcludeStatus)
}

// pickColumns returns the columns of a document, as JSON.
func pickColumns(d DocumentReply, columns []string) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	var item map[string]json.RawMessage
	if err := json.Unmarshal(text, &item); err != nil {
		return nil, err
	}
	maps.DeleteFunc(item, func(key string, _ json.RawMessage) bool { return !slices.Contains(columns, key) })
	return item, nil
}

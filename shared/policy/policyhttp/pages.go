package policyhttp

import (
	"errors"
	"fmt"
	"strconv"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/fault"
)

// Page is a part of a list.
type Page[T any] struct {
	Items []T `json:"items"`
	// PaginationToken asks for the next part; null at the end.
	PaginationToken *string `json:"paginationToken"`
	// TotalCount is the number of items of the whole list, where it is known.
	TotalCount *int `json:"totalCount,omitempty"`
}

// pagePlace is the requested part of a list.
type pagePlace struct {
	size int
	// after is the position after which the part begins, "" for the beginning.
	after string

	tenant, query string
}

// Sizes of pages.
const (
	defaultPage      = 50
	maxPage          = 100
	maxJurisdictions = 200

	parameterSize, parameterToken = "PageSize", "PaginationToken"
)

// openPage reads the parameters of the requested part of a list. The query identifies the list.
func (s *Policies) openPage(r *platform.Request, query string, largest int) (pagePlace, error) {
	place := pagePlace{size: defaultPage, tenant: r.Tenant, query: query}
	if err := r.Validate(func(v *platform.ValidationErrors) {
		v.CheckRepeated(parameterSize, parameterToken)
		values := r.Query(parameterSize)
		if len(values) == 0 {
			return
		}
		var err error
		if place.size, err = strconv.Atoi(values[0]); err != nil || place.size < 1 || place.size > largest {
			v.AddParameter(fault.InQuery, parameterSize, fmt.Sprintf("The value must be between 1 and %d.", largest),
				platform.CodeRange)
		}
	}); err != nil {
		return place, err
	}
	token, isGiven := "", false
	if values := r.Query(parameterToken); len(values) > 0 {
		token, isGiven = values[0], true
	}
	position, err := s.Paging.Open(r.Tenant, query, token)
	if errors.Is(err, platform.ErrPageToken) || err == nil && isGiven && token == "" {
		err = r.InvalidParameter(fault.InQuery, parameterToken, platform.ForeignPageMessage,
			platform.CodePageToken)
	}
	place.after = position
	return place, err
}

// openSearch is openPage for a search, whose body selects the part.
func (s *Policies) openSearch(r *platform.Request, query string, size *int, token *string) (pagePlace, error) {
	place := pagePlace{size: defaultPage, tenant: r.Tenant, query: query}
	if size != nil {
		place.size = *size
	}
	var err error
	place.after, err = r.OpenPageToken(s.Paging, query, "paginationToken", token)
	return place, err
}

// newPage returns a page that the next one follows at a position, "" for the last one.
func newPage[T any](s *Policies, place pagePlace, items []T, next string) Page[T] {
	p := Page[T]{Items: items}
	if token := s.Paging.Seal(place.tenant, place.query, next); token != "" {
		p.PaginationToken = &token
	}
	return p
}

// cutPage returns a page of a list that is in the order of the IDs of its items. It has fewer items than requested if a
// reply cannot hold more.
func cutPage[T, R any](s *Policies, place pagePlace, all []T, idOf func(T) string, replyOf func(T) R) (Page[R], error) {
	items, last, budget := []R{}, "", httpapi.ListBudget
	more := false
	for _, item := range all {
		if place.after != "" && idOf(item) <= place.after {
			continue
		}
		if more = len(items) == place.size; more {
			break
		}
		reply := replyOf(item)
		if err := budget.Reserve(reply, errReplyTooLarge); errors.Is(err, errReplyTooLarge) && len(items) > 0 {
			more = true
			break
		} else if err != nil {
			return Page[R]{}, err
		}
		items, last = append(items, reply), idOf(item)
	}
	if !more {
		last = ""
	}
	p := newPage(s, place, items, last)
	total := len(all)
	p.TotalCount = &total
	return p, nil
}

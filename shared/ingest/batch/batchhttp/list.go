package batchhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/fault"
)

// Limits of a list.
const (
	defaultListLimit = 50
	maxListLimit     = 200
)

// newListedBatch returns the record of a batch by its row alone.
func (s *Batches) newListedBatch(b batch.Batch, position *int64) wire.ListedBatch {
	counts, done := sumUp(b, nil)
	r := newStatusReply(b, counts, done, position)
	out := wire.ListedBatch{
		BatchID: r.BatchID, Message: pendingMessage(b.Status), ErrorMessage: r.ErrorMessage, Name: r.Name,
		Metadata: r.Metadata, ClientID: r.ClientID, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		ReceivedAt: r.ReceivedAt, History: r.History, RejectOnInvalid: r.RejectOnInvalid, MaxRejected: r.MaxRejected,
		ValidateOnly: r.ValidateOnly, Counts: r.Counts, DuplicateOf: r.DuplicateOf, NamesScreened: r.NamesScreened,
		Hits: r.Hits, QueuePosition: r.QueuePosition,
	}
	out.ExpiresAt, out.UploadBy = s.uploadTimes(b)
	switch b.Status {
	case batch.AwaitingUpload, batch.Uploaded, batch.ValidationStarted:
	case batch.PendingIngestion:
		out.BytesDone = &r.BytesTotal
	case batch.Initialized, batch.InProgress:
		out.Counts.Ingested = nil
	default:
		out.BytesDone = &done
	}
	if b.Status.IsVisible() {
		out.Status = &r.Status
	}
	if !b.ReceivedAt.IsZero() {
		out.BytesTotal = &r.BytesTotal
	}
	if b.Status.IsVisible() && !b.ReceivedAt.IsZero() {
		out.ContentEncoding = &r.ContentEncoding
	}
	return out
}

// List returns a page of the batches of the caller's tenant that the query selects, newest first. A request inspects a
// limited number of batches, so that a page may have fewer than its limit, and none, although there are further ones.
func (s *Batches) List(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	q := readListQuery(r.URL.Query())
	query := q.canonical()
	position := ""
	if len(q.details) == 0 {
		var err error
		position, err = s.Paging.Open(caller.Tenant, query, q.next)
		if errors.Is(err, platform.ErrPageToken) || err == nil && q.hasNext && q.next == "" {
			q.refuse("next", platform.ForeignPageMessage, "page_token")
		} else if err != nil {
			return httpapi.Reply{}, err
		}
	}
	if len(q.details) > 0 {
		return httpapi.Reply{}, fault.NewInvalid(q.details...)
	}
	found, next, err := s.Store.List(ctx, caller.Tenant, q.filter, batch.ID(position), q.limit)
	if err != nil {
		return httpapi.Reply{}, err
	}
	out, budget := wire.BatchList{Batches: []wire.ListedBatch{}}, httpapi.ListBudget
	errFull := errors.New("the reply is full")
	for i, b := range found {
		place, err := s.queuePosition(ctx, b)
		if err != nil {
			return httpapi.Reply{}, err
		}
		item := s.newListedBatch(b, place)
		if err := budget.Reserve(item, errFull); errors.Is(err, errFull) {
			next = found[i-1].ID // no batch alone is as large as a reply
			break
		} else if err != nil {
			return httpapi.Reply{}, err
		}
		out.Batches = append(out.Batches, item)
	}
	if token := s.Paging.Seal(caller.Tenant, query, string(next)); token != "" {
		out.Next = &token
	}
	return httpapi.Reply{Body: out}, nil
}

// listQuery has the parsed parameters of a list.
type listQuery struct {
	values  url.Values
	filter  batch.Filter
	limit   int
	next    string
	hasNext bool
	// details are the errors of the parameters.
	details []fault.Detail
}

// metadataParameter begins the names of the parameters that select by metadata.
const metadataParameter = "metadata."

// readListQuery reads the parameters of a list.
func readListQuery(values url.Values) *listQuery {
	q := &listQuery{values: values, limit: defaultListLimit}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(values[name]) > 1 && name != "status" && name != "state" {
			q.refuse(name, "The parameter must not be repeated.", "repeated")
			continue
		}
		value := values.Get(name)
		switch name {
		case "status":
			q.readStatuses(values[name])
		case "state":
			q.filter.States = readChoices(q, name, values[name], batch.States())
		case "created_after":
			q.filter.CreatedAfter = q.readTime(name, value)
		case "created_before":
			q.filter.CreatedBefore = q.readTime(name, value)
		case "client_id":
			id, err := batch.ParseID(value)
			if err != nil {
				q.refuse(name, "The value must be a UUID.", "uuid")
			}
			q.filter.Client = string(id)
		case "name":
			q.filter.NamePrefix = q.readText(name, value)
		case "limit":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > maxListLimit {
				q.refuse(name, fmt.Sprintf("The value must be a whole number from 1 to %d.", maxListLimit),
					"number_range")
			}
			q.limit = n
		case "next":
			q.next, q.hasNext = value, true
		default:
			q.readMetadata(name, value)
		}
	}
	return q
}

// refuse adds an error of a parameter.
func (q *listQuery) refuse(name, message, code string) {
	q.details = append(q.details, fault.Detail{
		Source: fault.InQuery, Path: []any{name}, Message: message, Code: code,
		AttemptedValue: httpapi.AttemptedText(q.values.Get(name)),
	})
}

// readStatuses reads the statuses, which must be visible ones.
func (q *listQuery) readStatuses(values []string) {
	visible := slices.DeleteFunc(batch.Statuses(), func(s batch.Status) bool { return !s.IsVisible() })
	q.filter.Statuses = readChoices(q, "status", values, visible)
}

// readChoices returns the values of a parameter, each once and in order, which must be some of the allowed ones.
func readChoices[T ~string](q *listQuery, name string, values []string, allowed []T) (chosen []T) {
	for _, value := range values {
		if !slices.Contains(allowed, T(value)) {
			text := strings.Trim(strings.ReplaceAll(fmt.Sprint(allowed), " ", ", "), "[]")
			q.refuse(name, "The value must be one of "+text+".", "enum")
			return nil
		}
		chosen = append(chosen, T(value))
	}
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

func (q *listQuery) readTime(name, value string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		q.refuse(name, "The value must be a time such as 2026-01-31T12:00:00Z; a + in it is sent as %2B.", "datetime")
	}
	return t.UTC()
}

// readText reads the beginning of a name.
func (q *listQuery) readText(name, value string) string {
	switch n := utf8.RuneCountInString(value); {
	case !utf8.ValidString(value):
		q.refuse(name, "The value must be valid UTF-8.", "string_type")
	case n == 0:
		q.refuse(name, "The value must not be empty.", "string_too_short")
	case n > maxNameLength:
		q.refuse(name, fmt.Sprintf("The value must have at most %d characters.", maxNameLength), "string_too_long")
	}
	return value
}

// readMetadata reads a parameter that selects by metadata, and refuses any other one.
func (q *listQuery) readMetadata(name, value string) {
	key, isMetadata := strings.CutPrefix(name, metadataParameter)
	if !isMetadata || !metadataKeyPattern.MatchString(key) {
		q.refuse(name, "This parameter is not known here.", "extra_forbidden")
		return
	}
	if !utf8.ValidString(value) {
		q.refuse(name, "The value must be valid UTF-8.", "string_type")
	}
	if q.filter.Metadata == nil {
		q.filter.Metadata = map[string]string{}
	}
	q.filter.Metadata[key] = value
}

// canonical returns the filter in a form that is the same for the same filter. Tokens of pages belong to it.
func (q *listQuery) canonical() string {
	text, err := json.Marshal(q.filter)
	if err != nil {
		panic(err) // a filter has nothing that cannot be encoded
	}
	return "batches " + string(text)
}

package transactionhttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"sluice/openapi/wire"
	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/idempotency"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/kit/fault"
)

// singleStore is the part of transactiondb.Store that single requests need.
type singleStore interface {
	versionLister
	// Add stores the version of a single request. It returns transaction.ErrExists if another one has its receipt time.
	Add(ctx context.Context, v transaction.Version) error
}

// entityStatuses returns the status of those of the IDs that are entities of the tenant.
type entityStatuses interface {
	AreOnboarded(ctx context.Context, tenant string, ids []string) (map[string]bool, error)
}

// observations keeps what became of requests. Repeating a call changes nothing.
type observations interface {
	Record(ctx context.Context, e observation.Event) error
}

// Singles answers the route on which clients send single transactions.
type Singles struct {
	Store    singleStore
	Entities entityStatuses
	// Observations keep the outcome of each request.
	Observations observations
	// Log has the observations that could not be kept.
	Log *slog.Logger
	// MaxBytes is the size of the largest transaction, the same as of a line of a batch.
	MaxBytes int
	Now      func() time.Time
}

// migratedHeader is the header field by which a transaction of any age is accepted.
const migratedHeader = "migrated-transaction"

// Routes returns the route of single transactions.
func (s *Singles) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method:      http.MethodPost,
		Path:        "/tm/realtime/event/transaction/v3",
		Limit:       ratelimit.SingleTransactions,
		Permissions: []string{permission.TransactionWrite},
		Idempotency: &httpapi.Idempotency{KeepsBody: true, Headers: []string{migratedHeader}},
		Endpoint:    s.Receive,
	}}
}

const conflictMessage = "Another version of this modification was received at the same time. " +
	"Send the transaction again."

var errConflict = fault.New(fault.Conflict, "transaction_conflict", conflictMessage)

// Receive stores a transaction, which is visible when the reply is sent. It is judged by the rules for a line of a
// batch. If the newest version of its modification is the same text, sent singly, that version is the answer: repeating
// a request changes nothing.
func (s *Singles) Receive(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	text, err := s.readText(r)
	if err != nil {
		return httpapi.Reply{}, err
	}
	settings, err := tenancy.ParseSettings(caller.Attributes)
	if err != nil {
		return httpapi.Reply{}, fmt.Errorf("read the tenant's settings: %w", err)
	}
	rules := s.rules(ctx, settings, strings.EqualFold(r.Header.Get(migratedHeader), "true"))
	result := scanner.New(rules).Line(withoutLineFeeds(text))
	if err := unreadableError(result, s.MaxBytes); err != nil {
		return httpapi.Reply{}, err
	}
	v := transaction.Version{
		Tenant: caller.Tenant, TransactionID: string(result.TransactionExternalID),
		Modification: string(result.ModificationID), ReceivedAt: rules.ReceivedAt, MainEntity: result.MainEntity,
		Text:    text,
		Expires: settings.ExpiryOf(rules.ReceivedAt),
	}
	audit.AddObject(ctx, "transaction_external_id", v.TransactionID)
	audit.AddObject(ctx, "modification_external_id", v.Modification)
	existing, findings, err := s.compare(ctx, v, result)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if existing != nil {
		if rules.ReceivedAt.Sub(existing.ReceivedAt) < observation.Life {
			// The request that stored it may have ended before it could record that.
			v.ReceivedAt, v.Expires = existing.ReceivedAt, existing.Expires
			s.record(ctx, v, result, http.StatusCreated, "")
		}
		return stored(v, result), nil
	}
	if len(findings) > 0 {
		reason := reasonOf(findings, result.Dropped, text, rules)
		s.record(ctx, v, result, http.StatusBadRequest, reason)
		return httpapi.Reply{Status: http.StatusBadRequest, Body: wire.TransactionRefused{
			RequestUUID: string(result.RequestUUID), Reason: reason,
		}}, nil
	}
	if err := s.Store.Add(ctx, v); errors.Is(err, transaction.ErrExists) {
		s.record(ctx, v, result, http.StatusConflict, conflictMessage)
		return httpapi.Reply{}, errConflict
	} else if err != nil {
		return httpapi.Reply{}, err
	}
	s.record(ctx, v, result, http.StatusCreated, "")
	return stored(v, result), nil
}

// compare returns the version that answers the request, or nil and the errors of the transaction. Both are read at the
// same time.
func (s *Singles) compare(ctx context.Context, v transaction.Version, r *transaction.Result) (*transaction.Version,
	[]transaction.Finding, error) {
	var findings []transaction.Finding
	var findingsErr error
	var wg sync.WaitGroup
	wg.Go(func() { findings, findingsErr = s.findings(ctx, v.Tenant, r) })
	existing, err := s.findStored(ctx, v)
	wg.Wait()
	if existing != nil || err != nil {
		return existing, nil, err
	}
	return nil, findings, findingsErr
}

// recordPatience is how long an answer waits for its record.
const recordPatience = 2 * time.Second

// record stores the outcome of a request, and does not fail: the answer gives the outcome of the transaction even if it
// cannot be recorded. An outcome that was not recorded is missing in the observability interface; a stored transaction
// is recorded when it is sent again.
func (s *Singles) record(ctx context.Context, v transaction.Version, r *transaction.Result, status int,
	reason string) {
	ctx, cancel := context.WithTimeout(ctx, recordPatience)
	defer cancel()
	err := s.Observations.Record(ctx, observation.Event{
		Tenant: v.Tenant, At: v.ReceivedAt, Status: status, Reason: report.CutText(reason, observation.MaxReasonBytes),
		TransactionID: report.CutID(v.TransactionID), ModificationID: report.CutID(v.Modification),
		PaymentID: report.CutID(string(r.PaymentExternalID)), RequestID: report.CutID(string(r.RequestUUID)),
		Expires: v.Expires,
	})
	if err != nil {
		s.Log.WarnContext(ctx, "What became of a single transaction could not be recorded.", "error", err)
	}
}

// readText reads the body, which must be JSON by its content type.
func (s *Singles) readText(r *http.Request) ([]byte, error) {
	body, err := httpapi.ReadBody(r)
	if err != nil && fault.As(err).Kind == fault.TooLarge {
		return nil, s.errTooLong()
	}
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(body.Text)) == 0 {
		return nil, invalidBody(transaction.CodeMissing, "The body must be a transaction.")
	}
	return body.Text, nil
}

// rules returns the rules for a transaction, by the settings of its tenant. Its receipt time is now or, for a request
// with an idempotency key, the time at which the first run of the request began, so that a repeated one stores no
// second version. A transaction that is migrated may have any age.
func (s *Singles) rules(ctx context.Context, settings tenancy.Settings, isMigrated bool) transaction.Rules {
	receivedAt := s.Now()
	if run := idempotency.FromContext(ctx); run != nil {
		receivedAt = run.StartedAt
	}
	rules := transaction.Rules{
		ReceivedAt: receivedAt.UTC(), MaxPast: settings.MaxPast, MaxFuture: settings.MaxFuture,
		MainEntity: settings.MainEntity, MaxLineBytes: s.MaxBytes,
	}
	if isMigrated {
		rules.MaxPast = 0
	}
	return rules
}

// findStored returns the newest version of the modification if it was sent singly and has the same text, or nil.
func (s *Singles) findStored(ctx context.Context, v transaction.Version) (*transaction.Version, error) {
	if v.TransactionID == "" || v.Modification == "" ||
		len(v.TransactionID) > transaction.MaxIDBytes || len(v.Modification) > transaction.MaxIDBytes {
		return nil, nil
	}
	newest, _, err := s.Store.List(ctx, transaction.Range{
		Tenant: v.Tenant, TransactionID: v.TransactionID, Modification: v.Modification, Limit: 1,
	})
	if err != nil || len(newest) != 1 || !newest[0].IsSingle() || newest[0].IsExpired(v.ReceivedAt) ||
		!bytes.Equal(newest[0].Text, v.Text) {
		return nil, err
	}
	return &newest[0], nil
}

// guid returns the modification_guid: the UUIDv5 of the modification's ID in the name space that is the UUIDv5 of the
// transaction's ID in the name space of the tenant.
func guid(tenant, transactionID, modification string) string {
	space, err := uuid.Parse(tenant)
	if err != nil {
		space = uuid.NewSHA1(uuid.Nil, []byte(tenant))
	}
	return uuid.NewSHA1(uuid.NewSHA1(space, []byte(transactionID)), []byte(modification)).String()
}

// stored answers for a version that is stored, in which the scanner has found r.
func stored(v transaction.Version, r *transaction.Result) httpapi.Reply {
	return httpapi.Reply{Status: http.StatusCreated, Body: wire.TransactionReceived{
		RequestUUID: string(r.RequestUUID), PaymentExternalID: string(r.PaymentExternalID),
		TransactionExternalID: v.TransactionID, ModificationExternalID: v.Modification,
		ModificationGUID: guid(v.Tenant, v.TransactionID, v.Modification),
	}}
}

// withoutLineFeeds returns the text with a space in place of each line feed between its tokens: the scanner takes a
// line feed for the end of a line. Line feeds inside strings, which JSON forbids, stay.
func withoutLineFeeds(text []byte) []byte {
	if bytes.IndexByte(text, '\n') < 0 {
		return text
	}
	out := bytes.Clone(text)
	inString := false
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			inString = !inString
		case c == '\\' && inString:
			i++
		case c == '\n' && !inString:
			out[i] = ' '
		}
	}
	return out
}

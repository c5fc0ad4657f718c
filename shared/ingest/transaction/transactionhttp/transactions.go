// Package transactionhttp serves stored transactions under /tm/realtime (docs/contract/batch.md).
package transactionhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"sluice/openapi/wire"
	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/fault"
)

// Transactions answers the routes of stored transactions.
type Transactions struct {
	Store   versionLister
	Batches statusReader
	// Hits finds the lines of payments.
	Hits hits
	// Paging seals the tokens of pages of payments.
	Paging *platform.Paging
	Now    func() time.Time
}

// Routes returns the routes of stored transactions.
func (s *Transactions) Routes() []httpapi.Route {
	const path = "/tm/realtime/api/transactions"
	read := []string{permission.TransactionRead}
	return httpapi.WithLimit(ratelimit.TransactionReads, []httpapi.Route{
		{Method: http.MethodGet, Path: path, Permissions: read, Endpoint: s.ReadByQuery,
			Query: []string{idName, "after", paymentName, "limit", "next"}},
		{Method: http.MethodGet, Path: path + "/payments/{" + paymentName + "}", Permissions: read,
			Endpoint: s.ReadPayment, Query: []string{"limit", "next"}},
		{Method: http.MethodGet, Path: path + "/{transaction_external_id}", Permissions: read, Endpoint: s.Read,
			Query: []string{"after"}},
	}...)
}

// TransactionReply is a transaction with all its modifications, as they were sent.
type TransactionReply wire.StoredTransaction

// EncodeJSON returns the reply as JSON in which each line is byte for byte as it was sent. Package json would compact
// it.
func (t TransactionReply) EncodeJSON() ([]byte, error) {
	lines := make([]json.RawMessage, len(t.Modifications))
	t.Modifications = slices.Clone(t.Modifications)
	for i := range t.Modifications {
		lines[i], t.Modifications[i].Transaction = t.Modifications[i].Transaction, json.RawMessage("null")
	}
	var shell bytes.Buffer
	e := json.NewEncoder(&shell)
	e.SetEscapeHTML(false)
	if err := e.Encode(t); err != nil {
		return nil, err
	}
	// No string of the shell has an unescaped quotation mark, so that this can only be the end of a modification.
	const mark = `"transaction":null}`
	var out bytes.Buffer
	rest := bytes.TrimSuffix(shell.Bytes(), []byte("\n"))
	for _, line := range lines {
		before, after, _ := bytes.Cut(rest, []byte(mark))
		out.Write(before)
		out.WriteString(`"transaction":`)
		out.Write(line)
		out.WriteByte('}')
		rest = after
	}
	out.Write(rest)
	return out.Bytes(), nil
}

// The parameters that name what is read.
const (
	idName      = "transaction_external_id"
	paymentName = "payment_external_id"
)

// ReadByQuery returns the transaction, or the transactions of the payment, that a query parameter names.
func (s *Transactions) ReadByQuery(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	query := r.URL.Query()
	read, others := s.Read, []string{"limit", "next"}
	if query.Get(paymentName) != "" {
		read, others = s.ReadPayment, []string{idName, "after"}
	}
	for _, name := range others {
		if query.Has(name) {
			return httpapi.Reply{}, httpapi.InvalidQuery(query, name,
				"The parameter belongs to another one: transaction_external_id goes with after, and "+
					"payment_external_id with limit and next.", "extra_forbidden")
		}
	}
	return read(ctx, caller, r)
}

var errNotFound = fault.New(fault.NotFound, "transaction_not_found", "Transaction not found.")

// Read returns a transaction of the caller's tenant: of each modification the visible version that was received last.
// The transaction is named by the path or, for IDs that no path can carry, by a query parameter. A reply that does not
// hold all modifications has NextAfter; the query parameter after continues there.
func (s *Transactions) Read(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	id, query := r.PathValue(idName), r.URL.Query()
	if id == "" {
		if id = query.Get(idName); id == "" {
			return httpapi.Reply{}, httpapi.InvalidQuery(query, idName, "The parameter is required.", "missing")
		}
	}
	audit.AddObject(ctx, idName, id)
	if len(id) > transaction.MaxIDBytes {
		return httpapi.Reply{}, errNotFound // no line has such an ID, and the store could not look it up
	}
	from, ok := parsePosition(query.Get("after"))
	if !ok {
		return httpapi.Reply{}, errNotFound // no modification has such an ID
	}
	versions, end, err := readPage(ctx, s.Store, s.Batches, s.Now(), caller.Tenant, id, from)
	if err == nil && len(versions) == 0 && end == nil {
		err = s.checkExists(ctx, caller.Tenant, id, from)
	}
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Reply{Body: newReply(id, versions, end)}, nil
}

// newReply returns a page of a transaction, and where the next one begins; nil at the end.
func newReply(id string, versions []transaction.Version, end *position) TransactionReply {
	out := TransactionReply{TransactionExternalID: id, Modifications: make([]wire.StoredModification, len(versions))}
	for i, v := range versions {
		out.Modifications[i] = modificationOf(v)
	}
	if end != nil {
		out.NextAfter = end.String()
	}
	return out
}

// checkExists returns errNotFound if the page that begins at a position is empty because there is no such transaction.
// It reads no more than the first page.
func (s *Transactions) checkExists(ctx context.Context, tenant, id string, from position) error {
	if from == (position{}) {
		return errNotFound
	}
	versions, end, err := readPage(ctx, s.Store, s.Batches, s.Now(), tenant, id, position{})
	if err == nil && len(versions) == 0 && end == nil {
		err = errNotFound
	}
	return err
}

func modificationOf(v transaction.Version) wire.StoredModification {
	m := wire.StoredModification{
		ModificationExternalID: v.Modification, ReceivedAt: v.ReceivedAt, MainEntity: mainEntityOf(v),
		Transaction: json.RawMessage(v.Text),
	}
	if !v.IsSingle() {
		m.BatchID, m.Line = &v.Batch, &v.Line
	}
	return m
}

// mainEntityOf reads the main entity's ID from the line, which has it under the entity's role; nil if it is not there.
func mainEntityOf(v transaction.Version) *wire.MainEntity {
	role := v.MainEntity.Name()
	var line map[string]json.RawMessage
	var party struct {
		ByExternalID string `json:"by_external_id"`
	}
	if role == "" || json.Unmarshal(v.Text, &line) != nil || json.Unmarshal(line[role], &party) != nil {
		return nil
	}
	return &wire.MainEntity{Role: role, ByExternalID: party.ByExternalID}
}

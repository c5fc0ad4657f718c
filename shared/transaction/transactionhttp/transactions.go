// Package transactionhttp serves stored transactions under /tm/realtime (docs/contract/batch.md).
package transactionhttp

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"sluice/shared/batch"
	"sluice/shared/fault"
	"sluice/shared/httpapi"
	"sluice/shared/permission"
	"sluice/shared/transaction"
)

// versionReader is the part of transactiondb.Store that reads one transaction, modification by modification and the
// versions of one modification oldest first. ReadKeys leaves out the lines.
type versionReader interface {
	ReadVersions(ctx context.Context, tenant, transactionID, after string, yield func(transaction.Version) bool) error
	ReadKeys(ctx context.Context, tenant, transactionID, after string, yield func(transaction.Version) bool) error
}

// statusReader reads the statuses of batches; batches that do not exist are left out.
type statusReader interface {
	Statuses(ctx context.Context, ids []batch.ID) (map[batch.ID]batch.Status, error)
}

// Transactions answers the routes of stored transactions.
type Transactions struct {
	Store   versionReader
	Batches statusReader
}

// Routes returns the routes of stored transactions.
func (s *Transactions) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method:      http.MethodGet,
		Path:        "/tm/realtime/api/transactions/{transaction_external_id}",
		Permissions: []string{permission.TransactionRead},
		Endpoint:    s.Read,
	}}
}

// TransactionReply is a transaction with all its modifications, as they were sent.
type TransactionReply struct {
	TransactionExternalID string         `json:"transaction_external_id"`
	Modifications         []Modification `json:"modifications"`
	// NextAfter is present if there are more modifications: they are read with ?after=NextAfter.
	NextAfter string `json:"next_after,omitempty"`
}

// Modification is the newest version of a modification.
type Modification struct {
	ModificationExternalID string `json:"modification_external_id"`
	BatchID                string `json:"batch_id"`
	// Line is the number of the line in the uploaded file, from 1.
	Line       int64       `json:"line"`
	ReceivedAt time.Time   `json:"received_at"`
	MainEntity *MainEntity `json:"main_entity"`
	// Transaction is the line as it was sent.
	Transaction json.RawMessage `json:"transaction"`
}

// MainEntity is the known entity for which a transaction is monitored.
type MainEntity struct {
	Role         string `json:"role"`
	ByExternalID string `json:"by_external_id"`
}

var errNotFound = fault.New(fault.NotFound, "transaction_not_found", "Transaction not found.")

// pageBudget is for the lines of one reply. It leaves room for what the reply says about each line.
const pageBudget httpapi.ReplyBudget = 4 << 20

// Read returns a transaction of the caller's tenant: of each modification the version that was received last in a batch
// that is PROCESSED. A reply that cannot hold all modifications names the last one it holds; the query parameter after
// continues after that one.
func (s *Transactions) Read(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	id, after := r.PathValue("transaction_external_id"), r.URL.Query().Get("after")
	if len(id) > transaction.MaxIDBytes || len(after) > transaction.MaxIDBytes {
		return httpapi.Reply{}, errNotFound // no line has such an ID, and the store could not look it up
	}
	versions, hasMore, err := s.visibleVersions(ctx, caller.Tenant, id, after)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if len(versions) == 0 && after == "" {
		return httpapi.Reply{}, errNotFound
	}
	out := TransactionReply{TransactionExternalID: id, Modifications: make([]Modification, len(versions))}
	for i, v := range versions {
		out.Modifications[i] = Modification{
			ModificationExternalID: v.Modification, BatchID: v.Batch, Line: v.Line, ReceivedAt: v.ReceivedAt,
			MainEntity: mainEntityOf(v), Transaction: json.RawMessage(v.Text),
		}
	}
	if hasMore {
		out.NextAfter = versions[len(versions)-1].Modification
	}
	return httpapi.Reply{Body: out}, nil
}

// visibleVersions returns the newest visible version of each modification, and whether there are more than fit into a
// reply.
//
// The versions are read twice. Between the first reading and that of the batches' statuses a batch may have become
// PROCESSED, with lines that were stored after the first reading; the first reading alone would show half of that
// batch. The second reading sees every line of a batch that was PROCESSED before it began.
func (s *Transactions) visibleVersions(ctx context.Context, tenant, id,
	after string) ([]transaction.Version, bool, error) {
	var batches []batch.ID
	err := s.Store.ReadKeys(ctx, tenant, id, after, func(v transaction.Version) bool {
		batches = append(batches, batch.ID(v.Batch))
		return true
	})
	if err != nil || len(batches) == 0 {
		return nil, false, err
	}
	slices.Sort(batches)
	statuses, err := s.Batches.Statuses(ctx, slices.Compact(batches))
	if err != nil {
		return nil, false, err
	}
	return s.newestVersions(ctx, tenant, id, after, statuses)
}

// newestVersions reads the versions, of which those of one modification come together, oldest first.
func (s *Transactions) newestVersions(ctx context.Context, tenant, id, after string,
	statuses map[batch.ID]batch.Status) (newest []transaction.Version, hasMore bool, err error) {
	budget := pageBudget
	err = s.Store.ReadVersions(ctx, tenant, id, after, func(v transaction.Version) bool {
		if statuses[batch.ID(v.Batch)] != batch.Processed {
			return true
		}
		if last := len(newest) - 1; last >= 0 && newest[last].Modification == v.Modification {
			budget.ReleaseText(newest[last].Text)
			budget.ReserveText(v.Text) // a page ends between modifications, whether or not this one still fits
			newest[last] = v
			return true
		}
		if fits := budget.ReserveText(v.Text); !fits && len(newest) > 0 {
			hasMore = true
			return false
		}
		newest = append(newest, v)
		return true
	})
	return newest, hasMore, err
}

// mainEntityOf reads the main entity's ID from the line, which has it under the entity's role; nil if it is not there.
func mainEntityOf(v transaction.Version) *MainEntity {
	role := v.MainEntity.Name()
	var line map[string]json.RawMessage
	var party struct {
		ByExternalID string `json:"by_external_id"`
	}
	if role == "" || json.Unmarshal(v.Text, &line) != nil || json.Unmarshal(line[role], &party) != nil {
		return nil
	}
	return &MainEntity{role, party.ByExternalID}
}

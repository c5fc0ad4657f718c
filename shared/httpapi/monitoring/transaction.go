package monitoring

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"sluice/shared/batch"
	"sluice/shared/fault"
	"sluice/shared/httpapi"
	"sluice/shared/transaction"
)

type versions interface {
	Versions(ctx context.Context, tenant, transactionID string, yield func(transaction.Record) bool) error
}

type statuses interface {
	Statuses(ctx context.Context, ids []batch.ID) (map[batch.ID]batch.Status, error)
}

// Transactions reads stored transactions back.
type Transactions struct {
	Store   versions
	Batches statuses
}

// TransactionReply is a transaction with all its modifications, as they were sent.
type TransactionReply struct {
	TransactionExternalID string         `json:"transaction_external_id"`
	Modifications         []Modification `json:"modifications"`
}

// Modification is the newest version of a modification.
type Modification struct {
	ModificationExternalID string          `json:"modification_external_id"`
	BatchID                string          `json:"batch_id"`
	Line                   int64           `json:"line"` // 1-based, in the uploaded file
	ReceivedAt             time.Time       `json:"received_at"`
	MainEntity             *MainEntity     `json:"main_entity"`
	Transaction            json.RawMessage `json:"transaction"` // the line as sent
}

// MainEntity is the known entity that a transaction is about.
type MainEntity struct {
	Role         string `json:"role"`
	ByExternalID string `json:"by_external_id"`
}

var errNoTransaction = fault.New(fault.NotFound, "transaction_not_found", "Transaction not found.")

// Read returns a transaction of the caller's tenant. A line of a batch that is not PROCESSED is not there.
func (s *Transactions) Read(ctx context.Context, caller httpapi.Caller, id string) (httpapi.Reply, error) {
	if len(id) > transaction.MaxIDBytes { // no such line was ever taken, and the store's keys have limits
		return httpapi.Reply{}, errNoTransaction
	}
	visible, err := s.visible(ctx, caller.Tenant, id)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if len(visible) == 0 {
		return httpapi.Reply{}, errNoTransaction
	}
	out := TransactionReply{TransactionExternalID: id}
	for _, r := range visible {
		out.Modifications = append(out.Modifications, Modification{
			ModificationExternalID: r.Modification, BatchID: r.Batch, Line: r.Line, ReceivedAt: r.ReceivedAt,
			MainEntity: mainEntity(r), Transaction: json.RawMessage(r.Text),
		})
	}
	return httpapi.Reply{Status: 200, Body: out}, nil
}

// visible picks, of each modification, the version that was received last in a batch that is PROCESSED.
//
// The versions are read twice. Between the first reading and that of the batches' states a batch may have become PROCESSED,
// with lines that were stored after the first reading: taken from it alone, the reply would show half of that batch. Of a batch
// that was PROCESSED before the second reading began, the second one sees every line.
func (s *Transactions) visible(ctx context.Context, tenant, id string) ([]transaction.Record, error) {
	var batches []batch.ID
	err := s.Store.Versions(ctx, tenant, id, func(r transaction.Record) bool {
		batches = append(batches, batch.ID(r.Batch))
		return true
	})
	if err != nil || len(batches) == 0 {
		return nil, err
	}
	slices.Sort(batches)
	status, err := s.Batches.Statuses(ctx, slices.Compact(batches))
	if err != nil {
		return nil, err
	}
	return s.newest(ctx, tenant, id, status)
}

// newest reads the versions, which come with those of one modification together, oldest first.
func (s *Transactions) newest(ctx context.Context, tenant, id string, status map[batch.ID]batch.Status) ([]transaction.Record, error) {
	var out []transaction.Record
	err := s.Store.Versions(ctx, tenant, id, func(r transaction.Record) bool {
		switch n := len(out); {
		case status[batch.ID(r.Batch)] != batch.Processed:
		case n > 0 && out[n-1].Modification == r.Modification:
			out[n-1] = r
		default:
			out = append(out, r)
		}
		return true
	})
	return out, err
}

// mainEntity reads the main entity's ID out of the line, where it stands under its role.
func mainEntity(r transaction.Record) *MainEntity {
	role := r.MainEntity.Name()
	var line map[string]json.RawMessage
	var e struct {
		ByExternalID string `json:"by_external_id"`
	}
	if role == "" || json.Unmarshal(r.Text, &line) != nil || json.Unmarshal(line[role], &e) != nil {
		return nil
	}
	return &MainEntity{role, e.ByExternalID}
}

package batchhttp

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"sluice/shared/batch"
	"sluice/shared/fault"
	"sluice/shared/httpapi"
	"sluice/shared/transaction"
)

type versions interface {
	ReadVersions(ctx context.Context, tenant, transactionID, after string, yield func(transaction.Version) bool) error
	ReadKeys(ctx context.Context, tenant, transactionID, after string, yield func(transaction.Version) bool) error
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
	NextAfter             string         `json:"next_after,omitempty"` // there are more: read on with ?after=
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

// pageBytes bounds the lines of one reply, counted as they leave the function: Lambda answers with at most 6 MB.
const pageBytes = 4 << 20

// Read returns a transaction of the caller's tenant. A line of a batch that is not PROCESSED is not there. What does not fit
// into one reply is read on behind the last modification of it, which the reply names and the query parameter after takes.
func (s *Transactions) Read(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	id, after := r.PathValue("transaction_external_id"), r.URL.Query().Get("after")
	if len(id) > transaction.MaxIDBytes || len(after) > transaction.MaxIDBytes { // no such line was ever taken, and the store's keys have limits
		return httpapi.Reply{}, errNoTransaction
	}
	visible, more, err := s.visible(ctx, caller.Tenant, id, after)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if len(visible) == 0 && after == "" {
		return httpapi.Reply{}, errNoTransaction
	}
	out := TransactionReply{TransactionExternalID: id, Modifications: []Modification{}}
	for _, r := range visible {
		out.Modifications = append(out.Modifications, Modification{
			ModificationExternalID: r.Modification, BatchID: r.Batch, Line: r.Line, ReceivedAt: r.ReceivedAt,
			MainEntity: mainEntity(r), Transaction: json.RawMessage(r.Text),
		})
		if more {
			out.NextAfter = r.Modification
		}
	}
	return httpapi.Reply{Status: 200, Body: out}, nil
}

// visible picks, of each modification, the version that was received last in a batch that is PROCESSED, and reports whether
// there are more than fit into a reply.
//
// The versions are read twice. Between the first reading and that of the batches' states a batch may have become PROCESSED,
// with lines that were stored after the first reading: taken from it alone, the reply would show half of that batch. Of a batch
// that was PROCESSED before the second reading began, the second one sees every line.
func (s *Transactions) visible(ctx context.Context, tenant, id, after string) ([]transaction.Version, bool, error) {
	var batches []batch.ID
	err := s.Store.ReadKeys(ctx, tenant, id, after, func(r transaction.Version) bool {
		batches = append(batches, batch.ID(r.Batch))
		return true
	})
	if err != nil || len(batches) == 0 {
		return nil, false, err
	}
	slices.Sort(batches)
	status, err := s.Batches.Statuses(ctx, slices.Compact(batches))
	if err != nil {
		return nil, false, err
	}
	return s.newest(ctx, tenant, id, after, status)
}

// newest reads the versions, which come with those of one modification together, oldest first.
func (s *Transactions) newest(ctx context.Context, tenant, id, after string,
	status map[batch.ID]batch.Status) (out []transaction.Version, more bool, err error) {
	size := 0
	err = s.Store.ReadVersions(ctx, tenant, id, after, func(r transaction.Version) bool {
		n := len(out)
		if status[batch.ID(r.Batch)] != batch.Processed {
			return true
		}
		if n > 0 && out[n-1].Modification == r.Modification {
			size += sent(r.Text) - sent(out[n-1].Text)
			out[n-1] = r
			return true
		}
		if size += sent(r.Text); n > 0 && size > pageBytes {
			more = true
			return false
		}
		out = append(out, r)
		return true
	})
	return out, more, err
}

// sent counts the bytes of a line as text inside the JSON of a function's reply, where encoding/json escapes these.
func sent(line []byte) int {
	n := len(line)
	for _, c := range line {
		switch c {
		case '"', '\\':
			n++
		case '<', '>', '&':
			n += 5
		}
	}
	return n
}

// mainEntity reads the main entity's ID out of the line, where it stands under its role.
func mainEntity(r transaction.Version) *MainEntity {
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

// Package batchdb is the batch.Store on DynamoDB.
package batchdb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/access/audit"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

// Store is the batch.Store on DynamoDB. The partition key of its table is id (the batch) and the sort key is part:
// "batch" is the batch itself, "chunk#00001" a chunk, "marks#03" the result of reconciling a partition, "names#03" that
// of screening its names, "lines" the line counts. Items of files that were processed are beside them, under IDs of
// their own. The index by-tenant (tenant / id) holds the "batch" items only. The index unfinished (unfinished /
// look_at) holds those that are not in a terminal status, or whose end is not announced to everyone. All items but the
// batch itself expire (stepRowLife).
type Store struct {
	table dynamo.Table
	trail *audit.Log
	now   func() time.Time
}

var _ batch.Store = (*Store)(nil)

// New returns the store on the given table.
func New(db *dynamodb.Client, table string) *Store {
	return &Store{table: dynamo.Table{DB: db, Name: table}, now: time.Now}
}

// WithClock returns the same store with another clock than the system's, by which rows expire.
func (s *Store) WithClock(now func() time.Time) *Store { return &Store{s.table, s.trail, now} }

// Audited returns the same store, which writes a record of each new batch and each transition that it makes to trail.
func (s *Store) Audited(trail *audit.Log) *Store { return &Store{s.table, trail, s.now} }

const batchPart = "batch"

func key(id batch.ID, part string) dynamo.Item {
	return dynamo.Item{"id": dynamo.String(string(id)), "part": dynamo.String(part)}
}

// Create stores a new batch. A repeated call is recognised by the digest key, which is random.
func (s *Store) Create(ctx context.Context, b batch.Batch) error {
	row, err := marshalBatch(b)
	if err != nil {
		return err
	}
	if !b.Status.IsTerminal() {
		row["unfinished"], row["look_at"] = dynamo.String(shard(b.ID)), dynamo.String(dynamo.FormatTime(b.CreatedAt))
		row[openAttribute] = dynamo.String(b.Tenant)
	}
	put := s.table.Put(row, "attribute_not_exists(id) OR (digest_key = :key AND #status = :new)", dynamo.Item{
		":key": dynamo.Binary(b.DigestKey[:]), ":new": dynamo.String(string(batch.AwaitingUpload)),
	})
	if err := s.table.Apply(ctx, "create batch "+string(b.ID), put); err != nil {
		return err
	}
	s.record(ctx, b)
	return nil
}

// Get returns a batch.
func (s *Store) Get(ctx context.Context, id batch.ID) (batch.Batch, error) {
	row, err := s.get(ctx, id, batchPart)
	if err != nil {
		return batch.Batch{}, err
	}
	if row == nil {
		return batch.Batch{}, batch.ErrNotFound
	}
	return unmarshalBatch(row)
}

// get reads one item of a batch; nil if it does not exist.
func (s *Store) get(ctx context.Context, id batch.ID, part string) (dynamo.Item, error) {
	item, err := s.table.Get(ctx, key(id, part))
	if err != nil {
		return nil, fmt.Errorf("get %s of batch %s: %w", part, id, err)
	}
	return item, nil
}

// Apply makes a transition, on the condition that the batch has a status from which it is legal.
func (s *Store) Apply(ctx context.Context, id batch.ID, t batch.Transition) (batch.Batch, error) {
	assignments, values, err := updateExpression(t)
	if err != nil {
		return batch.Batch{}, err
	}
	assignments = append(assignments, "unfinished = :shard", "look_at = :at")
	values[":shard"] = dynamo.String(shard(id))
	if t.To.IsTerminal() {
		assignments = append(assignments, "unannounced = :receivers")
		values[":shard"] = dynamo.String(unannouncedShards + shard(id))
		receivers := batch.Receivers()
		if t.Export {
			receivers = append(receivers, batch.Export)
		}
		if t.Index {
			receivers = append(receivers, batch.Index)
		}
		values[":receivers"] = receiverSet(receivers)
	}
	update := s.table.Update(key(id, batchPart), "SET "+strings.Join(assignments, ", ")+closes(t.To),
		statusCondition(t, values), values)
	switch {
	case t.File != nil:
		return s.applyWithFile(ctx, id, t, update)
	case t.Opens != nil:
		return s.applyOpening(ctx, id, t, update)
	}
	return s.applyUpdate(ctx, id, t, update)
}

// applyUpdate makes the update of a transition.
func (s *Store) applyUpdate(ctx context.Context, id batch.ID, t batch.Transition, update dynamo.Write) (batch.Batch,
	error) {
	b, isMade, err := s.update(ctx, id, "transition to "+string(t.To), update)
	if err != nil {
		return batch.Batch{}, err
	}
	return s.afterTransition(ctx, b, t, isMade)
}

// afterTransition records a transition of a batch that was made, and returns a ConflictError if it was not.
func (s *Store) afterTransition(ctx context.Context, b batch.Batch, t batch.Transition, isMade bool) (batch.Batch,
	error) {
	if isMade || b.Status == t.To && b.UpdatedAt.Equal(t.At) {
		// in the second case, this call has made it, and the SDK repeated it because the answer was lost
		s.record(ctx, b)
	}
	if !isMade {
		return batch.Batch{}, &batch.ConflictError{Wanted: t.To, Current: b}
	}
	return b, nil
}

// statusCondition returns the condition that the batch has a status from which the transition is legal, and adds the
// values that the condition names.
func statusCondition(t batch.Transition, values dynamo.Item) string {
	allowed := t.To.Predecessors()
	if t.From != "" {
		allowed = []batch.Status{t.From}
	}
	var conditions []string
	for i, status := range allowed {
		name := ":from" + strconv.Itoa(i)
		values[name] = dynamo.String(string(status))
		condition := "#status = " + name
		if batch.EndsValidateOnly(status, t.To) {
			condition += " AND validate_only = :true"
			values[":true"] = &types.AttributeValueMemberBOOL{Value: true}
		}
		conditions = append(conditions, condition)
	}
	return strings.Join(conditions, " OR ")
}

// updateExpression returns the assignments of a transition's SET clause with the values that they use.
func updateExpression(t batch.Transition) (assignments []string, values dynamo.Item, err error) {
	// The right side of an assignment is evaluated as the item was before the update.
	assignments = []string{"previous_status = #status", "#status = :to", "updated_at = :at"}
	values = dynamo.Item{":to": dynamo.String(string(t.To)), ":at": dynamo.String(dynamo.FormatTime(t.At))}
	assign := func(name string, v any) error {
		av, err := attributevalue.Marshal(v)
		if err != nil {
			return err
		}
		assignments = append(assignments, fmt.Sprintf("#%s = :%[1]s", name)) // some are reserved words of DynamoDB
		values[":"+name] = av
		return nil
	}
	var errs []error
	if t.To.IsVisible() {
		entry, err := attributevalue.Marshal([]statusAtRow{{string(t.To), dynamo.FormatTime(t.At)}})
		errs = append(errs, err)
		assignments = append(assignments, "history = list_append(if_not_exists(history, :none), :entry)")
		values[":none"], values[":entry"] = &types.AttributeValueMemberL{}, entry
	}
	if t.Object != nil {
		errs = append(errs, assign("object", objectRow(*t.Object)),
			assign("received_at", dynamo.FormatTime(t.ReceivedAt)), assign(unvalidatedAttribute, t.Object.Size))
		assignments = append(assignments, "#"+openAttribute+" = tenant")
	}
	if t.Encoding != "" {
		errs = append(errs, assign("encoding", string(t.Encoding)))
	}
	if t.Plan != nil {
		errs = append(errs, assign("chunk_bytes", t.Plan.ChunkBytes), assign("max_line_bytes", t.MaxLineBytes),
			assign("max_transactions", t.MaxTransactions), assign("max_report_bytes", t.MaxReportBytes))
	}
	if t.ListVersions != nil {
		errs = append(errs, assign("list_versions", newListVersionRows(t.ListVersions)))
	}
	if t.Verdict != nil {
		errs = append(errs, assign("verdict", newVerdictRow(*t.Verdict)))
	}
	if t.DuplicateOf != "" {
		errs = append(errs, assign("duplicate_of", string(t.DuplicateOf)))
	}
	if t.ErrorMessage != "" {
		errs = append(errs, assign("error_message", t.ErrorMessage))
	}
	if !t.Expires.IsZero() {
		errs = append(errs, assign("expires", t.Expires.Unix()))
	}
	return assignments, values, errors.Join(errs...)
}

// GetAll returns the batches that exist of distinct IDs.
func (s *Store) GetAll(ctx context.Context, ids []batch.ID) (map[batch.ID]batch.Batch, error) {
	found := make(map[batch.ID]batch.Batch, len(ids))
	items, err := s.table.GetAll(ctx, batchKeys(ids))
	if err != nil {
		return nil, fmt.Errorf("read batches: %w", err)
	}
	for _, item := range items {
		b, err := unmarshalBatch(item)
		if err != nil {
			return nil, err
		}
		found[b.ID] = b
	}
	return found, nil
}

func batchKeys(ids []batch.ID) []dynamo.Item {
	keys := make([]dynamo.Item, len(ids))
	for i, id := range ids {
		keys[i] = key(id, batchPart)
	}
	return keys
}

// Statuses returns the statuses of several batches. They decide whether stored lines are visible.
func (s *Store) Statuses(ctx context.Context, ids []batch.ID) (map[batch.ID]batch.Status, error) {
	found := make(map[batch.ID]batch.Status, len(ids))
	items, err := s.table.GetAll(ctx, batchKeys(ids), "id", "status")
	if err != nil {
		return nil, fmt.Errorf("read batch statuses: %w", err)
	}
	for _, item := range items {
		found[batch.ID(dynamo.StringAttribute(item, "id"))] = batch.Status(dynamo.StringAttribute(item, "status"))
	}
	return found, nil
}

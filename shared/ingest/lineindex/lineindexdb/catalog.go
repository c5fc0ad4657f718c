// Package lineindexdb stores the catalogs of the indexes of lines, and the keys of their digests, in DynamoDB.
package lineindexdb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/kit/dynamo"
)

// Store stores catalogs. It is safe for concurrent use. Its table has the keys owner and part:
//
//	<tenant>   key             the sealed key of the tenant's digests, and when it was made
//	<tenant>   merge#<ID>      a merge that has not ended, by the ID of its output
//	<tenant>   segment#<ID>    a segment, with the merge whose input it is
//	#tenants   <tenant>        a tenant with a key
//
// The output of a merge sorts after its inputs, and these are removed after it was added: a query in the order of the
// keys, which reads an input too late, finds the output.
type Store struct{ table dynamo.Table }

// New returns the store on the given table.
func New(db *dynamodb.Client, table string) *Store { return &Store{dynamo.Table{DB: db, Name: table}} }

const (
	segmentPart = "segment#"
	mergePart   = "merge#"
	// tenantsOwner owns the items that list the tenants.
	tenantsOwner = "#tenants"
)

// segmentRow is a segment in an item or in that of a merge.
type segmentRow struct {
	ID string `dynamodbav:"id"`
	// Entries are the numbers of entries of the files, each as a uvarint.
	Entries     []byte `dynamodbav:"entries"`
	PageBits    int    `dynamodbav:"page_bits"`
	Batches     int64  `dynamodbav:"batches"`
	Batch       string `dynamodbav:"batch,omitempty"`
	ReceivedAt  string `dynamodbav:"received_at,omitempty"`
	Expires     string `dynamodbav:"expires,omitempty"`
	FirstExpiry string `dynamodbav:"first_expiry,omitempty"`
}

type mergeRow struct {
	At     string       `dynamodbav:"at"`
	Inputs []segmentRow `dynamodbav:"inputs"`
	Output segmentRow   `dynamodbav:"output"`
	Done   int          `dynamodbav:"done"`
	// Published is set once the output is a segment, or is empty.
	Published bool   `dynamodbav:"published,omitempty"`
	Worker    string `dynamodbav:"worker,omitempty"`
	Until     string `dynamodbav:"until,omitempty"`
}

func newSegmentRow(s lineindex.Segment) segmentRow {
	row := segmentRow{ID: s.ID, PageBits: s.PageBits, Batches: s.Batches, Batch: string(s.Only.ID),
		ReceivedAt: dynamo.FormatTime(s.Only.ReceivedAt), Expires: dynamo.FormatTime(s.Only.Expires),
		FirstExpiry: dynamo.FormatTime(s.FirstExpiry)}
	for _, n := range s.Entries {
		row.Entries = binary.AppendUvarint(row.Entries, uint64(n))
	}
	return row
}

func (r segmentRow) segment() (s lineindex.Segment, err error) {
	var errs [3]error
	s = lineindex.Segment{ID: r.ID, PageBits: r.PageBits, Batches: r.Batches}
	s.Only.ID = batch.ID(r.Batch)
	s.Only.ReceivedAt, errs[0] = dynamo.ParseTime(r.ReceivedAt)
	s.Only.Expires, errs[1] = dynamo.ParseTime(r.Expires)
	s.FirstExpiry, errs[2] = dynamo.ParseTime(r.FirstExpiry)
	for b := r.Entries; len(b) > 0; {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > maxEntries {
			return s, errMalformed
		}
		s.Entries, b = append(s.Entries, int64(n)), b[size:]
	}
	if n := len(s.Entries); n == 0 || n&(n-1) != 0 || s.PageBits < 0 || s.PageBits > maxPageBits {
		return s, errMalformed
	}
	return s, errors.Join(errs[:]...)
}

// No file of a segment has more entries, or more bits of a digest that choose the page: its offsets do not overflow.
const (
	maxEntries  = 1 << 48
	maxPageBits = 32
)

var errMalformed = errors.New("read index of lines: malformed item")

func newMergeRow(m lineindex.Merge) mergeRow {
	row := mergeRow{At: dynamo.FormatTime(m.At), Output: newSegmentRow(m.Output), Done: m.Done,
		Published: m.IsPublished}
	for _, s := range m.Inputs {
		row.Inputs = append(row.Inputs, newSegmentRow(s))
	}
	return row
}

func (r mergeRow) merge() (m lineindex.Merge, err error) {
	var errs []error
	keep := func(err error) { errs = append(errs, err) }
	m.Done, m.IsPublished = r.Done, r.Published
	m.At, err = dynamo.ParseTime(r.At)
	keep(err)
	m.Output, err = r.Output.segment()
	keep(err)
	for _, row := range r.Inputs {
		s, err := row.segment()
		keep(err)
		m.Inputs = append(m.Inputs, s)
	}
	return m, errors.Join(errs...)
}

// itemOf returns the item of a row. The rows of this package can be marshalled.
func itemOf(owner, part string, row any) (dynamo.Item, error) {
	item, err := attributevalue.MarshalMap(row)
	if err != nil {
		return nil, err
	}
	item["owner"], item["part"] = dynamo.String(owner), dynamo.String(part)
	return item, nil
}

// Register adds a segment. Repeating it changes nothing.
func (s *Store) Register(ctx context.Context, tenant string, segment lineindex.Segment) error {
	item, err := itemOf(tenant, segmentPart+segment.ID, newSegmentRow(segment))
	if err != nil {
		return err
	}
	return s.table.Apply(ctx, "register segment", s.table.Put(item, dynamo.Absent, nil).Or(nil))
}

// Segments returns the segments of a tenant in the order of their IDs, and its merges that have not ended.
func (s *Store) Segments(ctx context.Context, tenant string) (segments []lineindex.Segment, merges []lineindex.Merge,
	err error) {
	for item, err := range s.all(ctx, tenant) {
		if err != nil {
			return nil, nil, fmt.Errorf("read index of lines: %w", err)
		}
		switch part := dynamo.StringAttribute(item, "part"); {
		case strings.HasPrefix(part, mergePart):
			m, err := unmarshalMerge(item)
			if err != nil {
				return nil, nil, err
			}
			merges = append(merges, m)
		case strings.HasPrefix(part, segmentPart):
			var row segmentRow
			if err := attributevalue.UnmarshalMap(item, &row); err != nil {
				return nil, nil, fmt.Errorf("read segment: %w", err)
			}
			segment, err := row.segment()
			if err != nil {
				return nil, nil, err
			}
			segments = append(segments, segment)
		}
	}
	return segments, merges, nil
}

// all yields the items of an owner in the order of their parts.
func (s *Store) all(ctx context.Context, owner string) iter.Seq2[dynamo.Item, error] {
	return s.table.Query(ctx, s.table.Select("#owner = :owner", dynamo.Item{":owner": dynamo.String(owner)}))
}

func unmarshalMerge(item dynamo.Item) (lineindex.Merge, error) {
	var row mergeRow
	if err := attributevalue.UnmarshalMap(item, &row); err != nil {
		return lineindex.Merge{}, fmt.Errorf("read merge: %w", err)
	}
	return row.merge()
}

// BeginMerge adds a merge and marks its inputs, on the condition that all of them exist and are marked by no other one.
func (s *Store) BeginMerge(ctx context.Context, tenant string, m lineindex.Merge) error {
	item, err := itemOf(tenant, mergePart+m.Output.ID, newMergeRow(m))
	if err != nil {
		return err
	}
	writes := []dynamo.Write{s.table.Put(item, dynamo.Absent, nil).Or(lineindex.ErrTaken)}
	for _, input := range m.Inputs {
		writes = append(writes, s.table.Update(dynamo.Key(tenant, segmentPart+input.ID), "SET #merge = :merge",
			dynamo.Present+" AND attribute_not_exists(#merge)", dynamo.Item{":merge": dynamo.String(m.Output.ID)},
		).Or(lineindex.ErrTaken))
	}
	return s.table.Transact(ctx, "begin merge", writes...)
}

// ClaimMerge sets the worker of a merge, on the condition that it has none, or one whose time is over.
func (s *Store) ClaimMerge(ctx context.Context, tenant, id, worker string, now, until time.Time) (lineindex.Merge,
	error) {
	item, err := s.table.Exchange(ctx, "claim merge", s.table.Update(dynamo.Key(tenant, mergePart+id),
		"SET worker = :worker, #until = :until",
		dynamo.Present+" AND (attribute_not_exists(worker) OR worker = :worker OR #until < :now)",
		dynamo.Item{":worker": dynamo.String(worker), ":now": dynamo.String(dynamo.FormatTime(now)),
			":until": dynamo.String(dynamo.FormatTime(until))}).Or(lineindex.ErrTaken))
	if err != nil {
		return lineindex.Merge{}, err
	}
	return unmarshalMerge(item)
}

// SaveMerge keeps how far a merge is, on the condition that the worker has it.
func (s *Store) SaveMerge(ctx context.Context, tenant, worker string, m lineindex.Merge, until time.Time) error {
	output, err := attributevalue.Marshal(newSegmentRow(m.Output))
	if err != nil {
		return err
	}
	return s.table.Apply(ctx, "save merge", s.table.Update(dynamo.Key(tenant, mergePart+m.Output.ID),
		"SET done = :done, #output = :output, #until = :until", "worker = :worker",
		dynamo.Item{":done": dynamo.Number(int64(m.Done)), ":output": output, ":worker": dynamo.String(worker),
			":until": dynamo.String(dynamo.FormatTime(until))}).Or(lineindex.ErrTaken))
}

// PublishMerge marks a merge as published and adds its output unless that is empty, on the condition that the worker
// has the merge, and that it is not published: the output may be an input of another merge already, which removes it.
func (s *Store) PublishMerge(ctx context.Context, tenant, worker string, m lineindex.Merge) error {
	writes := []dynamo.Write{s.table.Update(dynamo.Key(tenant, mergePart+m.Output.ID), "SET published = :true",
		"worker = :worker AND attribute_not_exists(published)",
		dynamo.Item{":true": dynamo.Bool(true), ":worker": dynamo.String(worker)}).Or(lineindex.ErrTaken)}
	if slices.Max(m.Output.Entries) > 0 {
		item, err := itemOf(tenant, segmentPart+m.Output.ID, newSegmentRow(m.Output))
		if err != nil {
			return err
		}
		writes = append(writes, s.table.Put(item, "", nil))
	}
	return s.table.Transact(ctx, "publish merge", writes...)
}

// RemoveInputs removes the inputs of a merge. Repeating it is success.
func (s *Store) RemoveInputs(ctx context.Context, tenant string, m lineindex.Merge) error {
	var writes []dynamo.Write
	for _, input := range m.Inputs {
		writes = append(writes, s.table.Delete(dynamo.Key(tenant, segmentPart+input.ID), "", nil))
	}
	return s.table.Transact(ctx, "remove segments", writes...)
}

// EndMerge removes a merge. Repeating it is success.
func (s *Store) EndMerge(ctx context.Context, tenant string, m lineindex.Merge) error {
	return s.table.Apply(ctx, "end merge", s.table.Delete(dynamo.Key(tenant, mergePart+m.Output.ID), "", nil))
}

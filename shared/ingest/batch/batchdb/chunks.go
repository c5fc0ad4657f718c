package batchdb

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

const (
	chunkPrefix     = "chunk#"
	partitionPrefix = "marks#"
	lineCountsPart  = "lines"
)

func chunkPart(index int) string         { return fmt.Sprintf("%s%05d", chunkPrefix, index) }
func partitionPart(partition int) string { return fmt.Sprintf("%s%02d", partitionPrefix, partition) }

// Chunk returns one chunk.
func (s *Store) Chunk(ctx context.Context, id batch.ID, index int) (batch.Chunk, error) {
	row, err := s.get(ctx, id, chunkPart(index))
	if err != nil || row == nil {
		return batch.Chunk{Index: index}, err
	}
	return unmarshalChunk(row)
}

// Chunks returns all chunks of a batch.
func (s *Store) Chunks(ctx context.Context, id batch.ID) ([]batch.Chunk, error) {
	var chunks []batch.Chunk
	err := s.eachPart(ctx, id, chunkPrefix, func(row dynamo.Item) error {
		c, err := unmarshalChunk(row)
		chunks = append(chunks, c)
		return err
	})
	return chunks, err
}

func unmarshalChunk(item dynamo.Item) (batch.Chunk, error) {
	var row chunkRow
	if err := attributevalue.UnmarshalMap(item, &row); err != nil {
		return batch.Chunk{}, fmt.Errorf("read chunk row: %w", err)
	}
	index, err := strconv.Atoi(row.Part[len(chunkPrefix):])
	c := batch.Chunk{Index: index, Ingested: (*batch.IngestCursor)(row.Ingested)}
	if row.Validated != nil {
		r := row.Validated.result()
		c.Validated = &r
	}
	if row.Settled != nil {
		r := row.Settled.result()
		c.Settled = &r
	}
	return c, err
}

// eachPart calls visit with every item of a batch whose part begins with prefix, in the order of their parts.
func (s *Store) eachPart(ctx context.Context, id batch.ID, prefix string, visit func(dynamo.Item) error) error {
	query := s.table.Select("id = :id AND begins_with(part, :prefix)",
		dynamo.Item{":id": dynamo.String(string(id)), ":prefix": dynamo.String(prefix)})
	for row, err := range s.table.Query(ctx, query) {
		if err != nil {
			return fmt.Errorf("read %s rows of %s: %w", prefix, id, err)
		}
		if err := visit(row); err != nil {
			return err
		}
	}
	return nil
}

// CommitValidated commits the result of validating a chunk.
func (s *Store) CommitValidated(ctx context.Context, id batch.ID, index int,
	r batch.ValidateResult) (batch.ValidateResult, error) {
	row, err := commit(ctx, s, key(id, chunkPart(index)), "validated", newValidatedRow(r))
	return row.result(), err
}

// CommitSettled commits the result of settling a chunk.
func (s *Store) CommitSettled(ctx context.Context, id batch.ID, index int,
	r batch.SettleResult) (batch.SettleResult, error) {
	row, err := commit(ctx, s, key(id, chunkPart(index)), "settled", newSettledRow(r))
	return row.result(), err
}

// CommitReconciled commits the result of reconciling a partition.
func (s *Store) CommitReconciled(ctx context.Context, id batch.ID, partition int,
	r batch.ReconcileResult) (batch.ReconcileResult, error) {
	set := dynamo.Item{"key": dynamo.String(cmp.Or(r.RejectionsKey, noRejections))}
	if r.RejectionsSections != "" {
		set["sections"] = dynamo.Binary([]byte(r.RejectionsSections))
	}
	committed, err := s.commitUnlessSet(ctx, key(id, partitionPart(partition)), "key", set)
	return reconcileResult(committed), err
}

// CommitLineCounts commits the line counts of a batch.
func (s *Store) CommitLineCounts(ctx context.Context, id batch.ID, c batch.LineCounts) (batch.LineCounts, error) {
	row, err := commit(ctx, s, key(id, lineCountsPart), "counts", lineCountsRow(c))
	return batch.LineCounts(row), err
}

// commit sets an attribute of an item unless it is set, and returns its value after that: of two attempts at a step,
// one sets it and the other learns what the first one set.
func commit[Row any](ctx context.Context, s *Store, key dynamo.Item, name string, row Row) (Row, error) {
	value, err := attributevalue.Marshal(row)
	if err != nil {
		return row, err
	}
	item, err := s.commitUnlessSet(ctx, key, name, dynamo.Item{name: value})
	if err != nil {
		return row, err
	}
	var committed Row
	return committed, attributevalue.Unmarshal(item[name], &committed)
}

// commitUnlessSet sets attributes of an item, and when it expires, unless one of them, which has the name, is set. It
// returns the item as it is after that.
func (s *Store) commitUnlessSet(ctx context.Context, key dynamo.Item, name string, set dynamo.Item) (
	dynamo.Item, error) {
	values, assignments := dynamo.Item{":expires": s.expiry()}, []string{"expires = :expires"}
	for attribute, value := range set {
		values[":"+attribute] = value
		assignments = append(assignments, fmt.Sprintf("#%s = :%[1]s", attribute))
	}
	item, err := s.table.Exchange(ctx, "commit "+name, s.table.Update(key, "SET "+strings.Join(assignments, ", "),
		fmt.Sprintf("attribute_not_exists(#%s)", name), values).Or(nil))
	return item, err
}

// stepRowLife is how long the rows of chunks and partitions are kept after the latest write of a step. The objects that
// they name are deleted after a week, so that no batch goes on with them for longer, and the replies about a batch that
// has ended is on its own row.
const stepRowLife = 30 * 24 * time.Hour

// expiry returns when a row of a chunk or partition that is written now expires.
func (s *Store) expiry() types.AttributeValue { return dynamo.Number(s.now().Add(stepRowLife).Unix()) }

// AdvanceCursor records how far a chunk is ingested, on the condition that no further cursor is recorded.
func (s *Store) AdvanceCursor(ctx context.Context, id batch.ID, index int,
	c batch.IngestCursor) (batch.IngestCursor, error) {
	value, err := attributevalue.Marshal(ingestedRow(c))
	if err != nil {
		return c, err
	}
	item, err := s.table.Exchange(ctx, fmt.Sprintf("advance chunk %d of %s", index, id), s.table.Update(
		key(id, chunkPart(index)), "SET ingested = :value, expires = :expires",
		"attribute_not_exists(ingested) OR (ingested.Done <> :done AND ingested.Line <= :line)",
		dynamo.Item{
			":value": value, ":line": dynamo.Number(c.Line), ":done": dynamo.Bool(true), ":expires": s.expiry(),
		}).Or(nil))
	if err != nil {
		return c, err
	}
	var furthest ingestedRow
	err = attributevalue.Unmarshal(item["ingested"], &furthest)
	return batch.IngestCursor(furthest), err
}

// Reconciled returns the committed results of all partitions.
func (s *Store) Reconciled(ctx context.Context, id batch.ID) ([batch.Partitions]*batch.ReconcileResult, error) {
	var results [batch.Partitions]*batch.ReconcileResult
	err := s.eachPart(ctx, id, partitionPrefix, func(row dynamo.Item) error {
		part := dynamo.StringAttribute(row, "part")
		p, err := strconv.Atoi(part[len(partitionPrefix):])
		if err != nil || p < 0 || p >= len(results) {
			return fmt.Errorf("read partition row %q of batch %s", part, id)
		}
		if dynamo.StringAttribute(row, "key") != "" {
			r := reconcileResult(row)
			results[p] = &r
		}
		return nil
	})
	return results, err
}

// LineCounts returns the committed line counts.
func (s *Store) LineCounts(ctx context.Context, id batch.ID) (*batch.LineCounts, error) {
	item, err := s.get(ctx, id, lineCountsPart)
	if err != nil || item == nil {
		return nil, err
	}
	var row lineCountsRow
	if err := attributevalue.Unmarshal(item["counts"], &row); err != nil {
		return nil, fmt.Errorf("read line counts of batch %s: %w", id, err)
	}
	counts := batch.LineCounts(row)
	return &counts, nil
}

// chunkRow is the item of a chunk. Each of its maps is written by the step that has the result.
type chunkRow struct {
	Part      string        `dynamodbav:"part"`
	Validated *validatedRow `dynamodbav:"validated,omitempty"`
	Settled   *settledRow   `dynamodbav:"settled,omitempty"`
	Ingested  *ingestedRow  `dynamodbav:"ingested,omitempty"`
}

// The maps of a chunk have their attributes in upper case; conditions name ingested.Done and ingested.Line, too.
type (
	validatedRow struct {
		Lines          int64  `dynamodbav:"Lines"`
		Transactions   int64  `dynamodbav:"Transactions"`
		Invalid        int64  `dynamodbav:"Invalid"`
		Bytes          int64  `dynamodbav:"Bytes"`
		FindingsKey    string `dynamodbav:"FindingsKey"`
		IndexKey       string `dynamodbav:"IndexKey"`
		MinReportBytes int64  `dynamodbav:"MinReportBytes,omitempty"`
		NamesKey       string `dynamodbav:"NamesKey,omitempty"`

		IdentifiersKey    string `dynamodbav:"IdentifiersKey,omitempty"`
		IdentifiersOffset int64  `dynamodbav:"IdentifiersOffset,omitempty"`

		IndexSections []byte `dynamodbav:"IndexSections,omitempty"`
		NamesSections []byte `dynamodbav:"NamesSections,omitempty"`
	}
	// settledRow has no first line if the chunk was skipped.
	settledRow struct {
		FirstLine   int64  `dynamodbav:"FirstLine"`
		Accepted    int64  `dynamodbav:"Accepted"`
		Invalid     int64  `dynamodbav:"Invalid"`
		AcceptedKey string `dynamodbav:"AcceptedKey"`
		ReportKey   string `dynamodbav:"ReportKey"`
		ReportBytes int64  `dynamodbav:"ReportBytes"`
		SummaryKey  string `dynamodbav:"SummaryKey"`
		ShortBytes  int64  `dynamodbav:"ShortBytes,omitempty"`

		CSVKey        string `dynamodbav:"CSVKey,omitempty"`
		CSVBytes      int64  `dynamodbav:"CSVBytes,omitempty"`
		CSVShortBytes int64  `dynamodbav:"CSVShortBytes,omitempty"`
		RejectedKey   string `dynamodbav:"RejectedKey,omitempty"`
		RejectedBytes int64  `dynamodbav:"RejectedBytes,omitempty"`

		Hits          int64  `dynamodbav:"Hits,omitempty"`
		AlertsKey     string `dynamodbav:"AlertsKey,omitempty"`
		AlertBytes    int64  `dynamodbav:"AlertBytes,omitempty"`
		AlertsLeftOut bool   `dynamodbav:"AlertsLeftOut,omitempty"`
	}
	ingestedRow struct {
		Done   bool  `dynamodbav:"Done"`
		Offset int64 `dynamodbav:"Offset"`
		Line   int64 `dynamodbav:"Line"`
		Stored int64 `dynamodbav:"Stored"`
	}
)

// sectionsAttribute returns the attribute for the lengths of the sections of a file; nil, which is not stored, if
// nobody has kept them.
func sectionsAttribute(sections string) []byte {
	if sections == "" {
		return nil
	}
	return []byte(sections)
}

func newValidatedRow(r batch.ValidateResult) validatedRow {
	return validatedRow{
		Lines: r.Lines, Transactions: r.Transactions, Invalid: r.Invalid, Bytes: r.Bytes, FindingsKey: r.FindingsKey,
		IndexKey: r.IndexKey, IndexSections: sectionsAttribute(r.IndexSections), MinReportBytes: r.MinReportBytes,
		NamesKey: r.NamesKey, NamesSections: sectionsAttribute(r.NamesSections),
		IdentifiersKey: r.IdentifiersKey, IdentifiersOffset: r.IdentifiersOffset,
	}
}

func (r validatedRow) result() batch.ValidateResult {
	return batch.ValidateResult{
		Lines: r.Lines, Transactions: r.Transactions, Invalid: r.Invalid, Bytes: r.Bytes, FindingsKey: r.FindingsKey,
		IndexKey: r.IndexKey, IndexSections: string(r.IndexSections), MinReportBytes: r.MinReportBytes,
		NamesKey: r.NamesKey, NamesSections: string(r.NamesSections),
		IdentifiersKey: r.IdentifiersKey, IdentifiersOffset: r.IdentifiersOffset,
	}
}

func newSettledRow(r batch.SettleResult) settledRow {
	return settledRow{
		FirstLine: r.FirstLine, Accepted: r.Accepted, Invalid: r.Invalid, AcceptedKey: r.AcceptedKey,
		ReportKey: r.ReportKey, ReportBytes: r.ReportBytes, SummaryKey: r.SummaryKey,
		ShortBytes: r.ShortBytes,
		CSVKey:     r.CSVKey, CSVBytes: r.CSVBytes, CSVShortBytes: r.CSVShortBytes,
		RejectedKey: r.RejectedKey, RejectedBytes: r.RejectedBytes,
		Hits: r.Hits, AlertsKey: r.AlertsKey, AlertBytes: r.AlertBytes, AlertsLeftOut: r.AlertsLeftOut,
	}
}

func (r settledRow) result() batch.SettleResult {
	return batch.SettleResult{
		Skipped: r.FirstLine == 0, FirstLine: r.FirstLine, Accepted: r.Accepted, Invalid: r.Invalid,
		AcceptedKey: r.AcceptedKey, ReportKey: r.ReportKey, ReportBytes: r.ReportBytes, SummaryKey: r.SummaryKey,
		ShortBytes: r.ShortBytes,
		CSVKey:     r.CSVKey, CSVBytes: r.CSVBytes, CSVShortBytes: r.CSVShortBytes,
		RejectedKey: r.RejectedKey, RejectedBytes: r.RejectedBytes,
		Hits: r.Hits, AlertsKey: r.AlertsKey, AlertBytes: r.AlertBytes, AlertsLeftOut: r.AlertsLeftOut,
	}
}

// noRejections is stored in place of the key of a partition that rejects no line.
const noRejections = "none"

// reconcileResult returns the result in the item of a partition.
func reconcileResult(item dynamo.Item) batch.ReconcileResult {
	key := dynamo.StringAttribute(item, "key")
	if key == noRejections {
		return batch.ReconcileResult{}
	}
	return batch.ReconcileResult{
		RejectionsKey: key, RejectionsSections: string(dynamo.BinaryAttribute(item, "sections")),
	}
}

// lineCountsRow is the map of a batch's line counts.
type lineCountsRow struct {
	ByChunk        []int64 `dynamodbav:"by_chunk"`
	Transactions   int64   `dynamodbav:"transactions"`
	MinReportBytes []int64 `dynamodbav:"min_report_bytes,omitempty"`
}

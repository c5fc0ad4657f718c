package batchdb

import (
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"sluice/shared/batch"
	"sluice/shared/chunk"
	"sluice/shared/dynamo"
	"sluice/shared/transaction"
)

// batchRow is the item of a batch.
type batchRow struct {
	ID              string      `dynamodbav:"id"`
	Part            string      `dynamodbav:"part"`
	Tenant          string      `dynamodbav:"tenant"`
	Client          string      `dynamodbav:"client"`
	Status          string      `dynamodbav:"status"`
	ErrorMessage    string      `dynamodbav:"error_message,omitempty"`
	RejectOnInvalid bool        `dynamodbav:"reject_on_invalid"`
	CreatedAt       string      `dynamodbav:"created_at"`
	UpdatedAt       string      `dynamodbav:"updated_at"`
	UploadBy        string      `dynamodbav:"upload_by"`
	ReceivedAt      string      `dynamodbav:"received_at,omitempty"`
	Object          *objectRow  `dynamodbav:"object,omitempty"`
	Settings        settingsRow `dynamodbav:"settings"`
	ChunkBytes      int64       `dynamodbav:"chunk_bytes,omitempty"`
	MaxLineBytes    int64       `dynamodbav:"max_line_bytes,omitempty"`
	MaxTransactions int64       `dynamodbav:"max_transactions,omitempty"`
	DigestKey       []byte      `dynamodbav:"digest_key"`
	Verdict         *verdictRow `dynamodbav:"verdict,omitempty"`
}

type objectRow struct {
	Key     string `dynamodbav:"key"`
	ETag    string `dynamodbav:"etag,omitempty"`
	Version string `dynamodbav:"version,omitempty"`
	Size    int64  `dynamodbav:"size"`
}

// settingsRow has its durations in seconds.
type settingsRow struct {
	MaxPast    int64  `dynamodbav:"max_past,omitempty"`
	MaxFuture  int64  `dynamodbav:"max_future,omitempty"`
	MainEntity string `dynamodbav:"main_entity,omitempty"`
}

// verdictRow has no report if the batch has too many transactions.
type verdictRow struct {
	Total      int64  `dynamodbav:"total"`
	Accepted   int64  `dynamodbav:"accepted"`
	Invalid    int64  `dynamodbav:"invalid"`
	ReportKey  string `dynamodbav:"report,omitempty"`
	SummaryKey string `dynamodbav:"summary,omitempty"`
}

func marshalBatch(b batch.Batch) (dynamo.Item, error) {
	row := batchRow{
		ID: string(b.ID), Part: batchPart, Tenant: b.Tenant, Client: b.Client, Status: string(b.Status),
		ErrorMessage: b.ErrorMessage, RejectOnInvalid: b.RejectOnInvalid,
		CreatedAt: dynamo.FormatTime(b.CreatedAt), UpdatedAt: dynamo.FormatTime(b.UpdatedAt),
		UploadBy: dynamo.FormatTime(b.UploadBy), ReceivedAt: dynamo.FormatTime(b.ReceivedAt),
		Settings:   newSettingsRow(b.Settings),
		ChunkBytes: b.Plan.ChunkBytes, MaxLineBytes: b.MaxLineBytes, MaxTransactions: b.MaxTransactions,
		DigestKey: b.DigestKey[:],
	}
	if b.Object != (batch.Object{}) {
		o := objectRow(b.Object)
		row.Object = &o
	}
	if b.Verdict != nil {
		v := newVerdictRow(*b.Verdict)
		row.Verdict = &v
	}
	return attributevalue.MarshalMap(row)
}

func unmarshalBatch(item dynamo.Item) (batch.Batch, error) {
	var row batchRow
	if err := attributevalue.UnmarshalMap(item, &row); err != nil {
		return batch.Batch{}, fmt.Errorf("read batch row: %w", err)
	}
	b := batch.Batch{
		ID: batch.ID(row.ID), Tenant: row.Tenant, Client: row.Client, Status: batch.Status(row.Status),
		ErrorMessage: row.ErrorMessage, RejectOnInvalid: row.RejectOnInvalid, Settings: row.Settings.settings(),
		MaxLineBytes: row.MaxLineBytes, MaxTransactions: row.MaxTransactions,
	}
	copy(b.DigestKey[:], row.DigestKey)
	if row.Object != nil {
		b.Object = batch.Object(*row.Object)
	}
	if row.ChunkBytes > 0 {
		b.Plan = chunk.NewPlan(b.Object.Size, row.ChunkBytes)
	}
	if row.Verdict != nil {
		v := row.Verdict.verdict()
		b.Verdict = &v
	}
	var errs [4]error
	b.CreatedAt, errs[0] = dynamo.ParseTime(row.CreatedAt)
	b.UpdatedAt, errs[1] = dynamo.ParseTime(row.UpdatedAt)
	b.UploadBy, errs[2] = dynamo.ParseTime(row.UploadBy)
	b.ReceivedAt, errs[3] = dynamo.ParseTime(row.ReceivedAt)
	return b, errors.Join(errs[:]...)
}

func newSettingsRow(s batch.Settings) settingsRow {
	return settingsRow{
		MaxPast:    int64(s.MaxPast / time.Second),
		MaxFuture:  int64(s.MaxFuture / time.Second),
		MainEntity: string(s.MainEntity),
	}
}

func (r settingsRow) settings() batch.Settings {
	return batch.Settings{
		MaxPast:    time.Duration(r.MaxPast) * time.Second,
		MaxFuture:  time.Duration(r.MaxFuture) * time.Second,
		MainEntity: transaction.MainEntityRule(r.MainEntity),
	}
}

func newVerdictRow(v batch.Verdict) verdictRow {
	return verdictRow{
		Total: v.Total, Accepted: v.Accepted, Invalid: v.Invalid, ReportKey: v.ReportKey, SummaryKey: v.SummaryKey,
	}
}

func (r verdictRow) verdict() batch.Verdict {
	v := batch.Verdict{
		Total: r.Total, Accepted: r.Accepted, Invalid: r.Invalid, ReportKey: r.ReportKey, SummaryKey: r.SummaryKey,
	}
	if r.ReportKey == "" {
		v.Outcome = batch.TooManyTransactions
	}
	return v
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
		Lines        int64  `dynamodbav:"Lines"`
		Transactions int64  `dynamodbav:"Transactions"`
		Invalid      int64  `dynamodbav:"Invalid"`
		Bytes        int64  `dynamodbav:"Bytes"`
		FindingsKey  string `dynamodbav:"FindingsKey"`
		IndexKey     string `dynamodbav:"IndexKey"`
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
	}
	ingestedRow struct {
		Done   bool  `dynamodbav:"Done"`
		Offset int64 `dynamodbav:"Offset"`
		Line   int64 `dynamodbav:"Line"`
		Stored int64 `dynamodbav:"Stored"`
	}
)

func newSettledRow(r batch.SettleResult) settledRow {
	return settledRow{
		FirstLine: r.FirstLine, Accepted: r.Accepted, Invalid: r.Invalid, AcceptedKey: r.AcceptedKey,
		ReportKey: r.ReportKey, ReportBytes: r.ReportBytes, SummaryKey: r.SummaryKey,
	}
}

func (r settledRow) result() batch.SettleResult {
	return batch.SettleResult{
		Skipped: r.FirstLine == 0, FirstLine: r.FirstLine, Accepted: r.Accepted, Invalid: r.Invalid,
		AcceptedKey: r.AcceptedKey, ReportKey: r.ReportKey, ReportBytes: r.ReportBytes, SummaryKey: r.SummaryKey,
	}
}

// noRejections is stored in place of the key of a partition that rejects no line.
const noRejections = "none"

func newRejectionsKey(r batch.ReconcileResult) string {
	if r.RejectionsKey == "" {
		return noRejections
	}
	return r.RejectionsKey
}

func reconcileResult(key string) batch.ReconcileResult {
	if key == noRejections {
		return batch.ReconcileResult{}
	}
	return batch.ReconcileResult{RejectionsKey: key}
}

// lineCountsRow is the map of a batch's line counts.
type lineCountsRow struct {
	ByChunk      []int64 `dynamodbav:"by_chunk"`
	Transactions int64   `dynamodbav:"transactions"`
}

package batchdb

import (
	"errors"
	"fmt"
	"sluice/shared/dynamo"
	"sluice/shared/transaction"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"sluice/shared/batch"
	"sluice/shared/chunk"
)

// batchRow is a batch as it lies in the table.
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

type settingsRow struct {
	MaxPast    int64  `dynamodbav:"max_past,omitempty"`   // seconds
	MaxFuture  int64  `dynamodbav:"max_future,omitempty"` // seconds
	MainEntity string `dynamodbav:"main_entity,omitempty"`
}

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
		CreatedAt: dynamo.FormatTime(b.CreatedAt), UpdatedAt: dynamo.FormatTime(b.UpdatedAt), UploadBy: dynamo.FormatTime(b.UploadBy),
		ReceivedAt: dynamo.FormatTime(b.ReceivedAt), ChunkBytes: b.Plan.ChunkBytes, MaxLineBytes: b.MaxLineBytes, MaxTransactions: b.MaxTransactions,
		DigestKey: b.DigestKey[:],
		Settings:  settingsOf(b.Settings),
	}
	if b.Object != (batch.Object{}) {
		o := objectRow(b.Object)
		row.Object = &o
	}
	if b.Verdict != nil {
		v := verdictRow(*b.Verdict)
		row.Verdict = &v
	}
	return attributevalue.MarshalMap(row)
}

func unmarshalBatch(av dynamo.Item) (batch.Batch, error) {
	var row batchRow
	if err := attributevalue.UnmarshalMap(av, &row); err != nil {
		return batch.Batch{}, fmt.Errorf("read batch row: %w", err)
	}
	b := batch.Batch{
		ID: batch.ID(row.ID), Tenant: row.Tenant, Client: row.Client, Status: batch.Status(row.Status),
		ErrorMessage: row.ErrorMessage, RejectOnInvalid: row.RejectOnInvalid,
		Settings: row.Settings.settings(),
	}
	if row.Object != nil {
		b.Object = batch.Object(*row.Object)
	}
	b.MaxLineBytes, b.MaxTransactions = row.MaxLineBytes, row.MaxTransactions
	copy(b.DigestKey[:], row.DigestKey)
	if row.ChunkBytes > 0 {
		b.Plan = chunk.NewPlan(b.Object.Size, row.ChunkBytes)
	}
	if row.Verdict != nil {
		v := batch.Verdict(*row.Verdict)
		b.Verdict = &v
	}
	var errs [4]error
	b.CreatedAt, errs[0] = dynamo.ParseTime(row.CreatedAt)
	b.UpdatedAt, errs[1] = dynamo.ParseTime(row.UpdatedAt)
	b.UploadBy, errs[2] = dynamo.ParseTime(row.UploadBy)
	b.ReceivedAt, errs[3] = dynamo.ParseTime(row.ReceivedAt)
	return b, errors.Join(errs[:]...)
}

func settingsOf(s batch.Settings) settingsRow {
	return settingsRow{int64(s.MaxPast / time.Second), int64(s.MaxFuture / time.Second), string(s.MainEntity)}
}

func (r settingsRow) settings() batch.Settings {
	return batch.Settings{
		MaxPast:    time.Duration(r.MaxPast) * time.Second,
		MaxFuture:  time.Duration(r.MaxFuture) * time.Second,
		MainEntity: transaction.MainEntityRule(r.MainEntity),
	}
}

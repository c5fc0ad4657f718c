package batchdb

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/dynamo"
)

// batchRow is the item of a batch.
type batchRow struct {
	ID              string      `dynamodbav:"id"`
	Part            string      `dynamodbav:"part"`
	Tenant          string      `dynamodbav:"tenant"`
	Client          string      `dynamodbav:"client"`
	Status          string      `dynamodbav:"status"`
	PreviousStatus  string      `dynamodbav:"previous_status,omitempty"`
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
	MaxReportBytes  int64       `dynamodbav:"max_report_bytes,omitempty"`
	DigestKey       []byte      `dynamodbav:"digest_key"`
	Verdict         *verdictRow `dynamodbav:"verdict,omitempty"`
	Unannounced     []string    `dynamodbav:"unannounced,stringset,omitempty"`

	Name         string            `dynamodbav:"name,omitempty"`
	Metadata     map[string]string `dynamodbav:"metadata,omitempty"`
	ValidateOnly bool              `dynamodbav:"validate_only,omitempty"`
	MaxRejected  *rejectLimitRow   `dynamodbav:"max_rejected,omitempty"`
	History      []statusAtRow     `dynamodbav:"history,omitempty"`
	Declared     *declaredRow      `dynamodbav:"declared,omitempty"`
	Unvalidated  int64             `dynamodbav:"unvalidated,omitempty"`
	Multipart    *multipartRow     `dynamodbav:"multipart,omitempty"`
	OnDuplicate  string            `dynamodbav:"on_duplicate,omitempty"`
	Encoding     string            `dynamodbav:"encoding,omitempty"`
	Content      *objectRow        `dynamodbav:"content,omitempty"`
	FileSHA256   []byte            `dynamodbav:"file_sha256,omitempty"`
	LinesSHA256  []byte            `dynamodbav:"lines_sha256,omitempty"`
	DuplicateOf  string            `dynamodbav:"duplicate_of,omitempty"`
	ParquetKey   string            `dynamodbav:"parquet,omitempty"`

	AcceptedSHA256 []byte `dynamodbav:"accepted_sha256,omitempty"`

	Screening    *screeningRow    `dynamodbav:"screening,omitempty"`
	ListVersions []listVersionRow `dynamodbav:"list_versions,omitempty"`
}

type objectRow struct {
	Key     string `dynamodbav:"key"`
	ETag    string `dynamodbav:"etag,omitempty"`
	Version string `dynamodbav:"version,omitempty"`
	Size    int64  `dynamodbav:"size"`
}

// rejectLimitRow is a limit of lines, or of a share of them as the client wrote it.
type rejectLimitRow struct {
	Lines int64  `dynamodbav:"lines,omitempty"`
	Share string `dynamodbav:"share,omitempty"`
}

// statusAtRow is an entry of the history.
type statusAtRow struct {
	Status string `dynamodbav:"status"`
	At     string `dynamodbav:"at"`
}

// declaredRow is the announcement of the upload.
type declaredRow struct {
	Length   int64  `dynamodbav:"length,omitempty"`
	SHA256   []byte `dynamodbav:"sha256,omitempty"`
	Encoding string `dynamodbav:"encoding,omitempty"`
}

// settingsRow has its durations in seconds.
type settingsRow struct {
	MaxPast    int64  `dynamodbav:"max_past,omitempty"`
	MaxFuture  int64  `dynamodbav:"max_future,omitempty"`
	MainEntity string `dynamodbav:"main_entity,omitempty"`
	Retention  int64  `dynamodbav:"retention,omitempty"`
	Parquet    bool   `dynamodbav:"parquet,omitempty"`
}

// verdictRow has no report if the batch has too many transactions.
type verdictRow struct {
	Total      int64  `dynamodbav:"total"`
	Accepted   int64  `dynamodbav:"accepted"`
	Invalid    int64  `dynamodbav:"invalid"`
	ReportKey  string `dynamodbav:"report,omitempty"`
	SummaryKey string `dynamodbav:"summary,omitempty"`
	Shortened  bool   `dynamodbav:"report_shortened,omitempty"`

	CSVKey          string `dynamodbav:"csv,omitempty"`
	RejectedKey     string `dynamodbav:"rejected,omitempty"`
	RejectedLeftOut int64  `dynamodbav:"rejected_left_out,omitempty"`
	AcceptedSHA256  []byte `dynamodbav:"accepted_sha256,omitempty"`

	Screening *screeningVerdictRow `dynamodbav:"screening,omitempty"`
}

func marshalBatch(b batch.Batch) (dynamo.Item, error) {
	row := batchRow{
		ID: string(b.ID), Part: batchPart, Tenant: b.Tenant, Client: b.Client, Status: string(b.Status),
		PreviousStatus: string(b.PreviousStatus),
		ErrorMessage:   b.ErrorMessage, RejectOnInvalid: b.RejectOnInvalid,
		CreatedAt: dynamo.FormatTime(b.CreatedAt), UpdatedAt: dynamo.FormatTime(b.UpdatedAt),
		UploadBy: dynamo.FormatTime(b.UploadBy), ReceivedAt: dynamo.FormatTime(b.ReceivedAt),
		Settings:   newSettingsRow(b.Settings),
		ChunkBytes: b.Plan.ChunkBytes, MaxLineBytes: b.MaxLineBytes, MaxTransactions: b.MaxTransactions,
		MaxReportBytes: b.MaxReportBytes,
		DigestKey:      b.DigestKey[:],
		Screening:      newScreeningRow(b.Screening),
		Name:           b.Name, Metadata: b.Metadata, ValidateOnly: b.ValidateOnly,
		MaxRejected: newRejectLimitRow(b.MaxRejected), History: newHistoryRows(b.History),
		Declared: newDeclaredRow(b.Declared), Unvalidated: b.Reserved,
		Multipart:   newMultipartRow(b.Multipart),
		OnDuplicate: string(b.OnDuplicate), Encoding: string(b.Encoding), Content: newObjectRow(b.Content),
		FileSHA256: b.FileSHA256, LinesSHA256: b.LinesSHA256, AcceptedSHA256: b.AcceptedSHA256,
		DuplicateOf: string(b.DuplicateOf), ParquetKey: b.ParquetKey,
		Object: newObjectRow(b.Object),
	}
	if b.Screening != nil {
		row.ListVersions = newListVersionRows(b.Screening.Versions)
	}
	if b.Verdict != nil {
		v := newVerdictRow(*b.Verdict)
		row.Verdict = &v
	}
	for _, r := range b.Unannounced {
		row.Unannounced = append(row.Unannounced, string(r))
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
		PreviousStatus: batch.Status(row.PreviousStatus),
		ErrorMessage:   row.ErrorMessage, RejectOnInvalid: row.RejectOnInvalid, Settings: row.Settings.settings(),
		MaxLineBytes: row.MaxLineBytes, MaxTransactions: row.MaxTransactions,
		MaxReportBytes: row.MaxReportBytes,
		Name:           row.Name, Metadata: row.Metadata, ValidateOnly: row.ValidateOnly,
		MaxRejected: row.MaxRejected.limit(),
		Declared:    row.Declared.declared(),
		OnDuplicate: batch.OnDuplicate(row.OnDuplicate), Encoding: batch.Encoding(row.Encoding),
		FileSHA256: row.FileSHA256, LinesSHA256: row.LinesSHA256, AcceptedSHA256: row.AcceptedSHA256,
		DuplicateOf: batch.ID(row.DuplicateOf), ParquetKey: row.ParquetKey,
	}
	if b.Status == batch.AwaitingUpload {
		b.Reserved = row.Unvalidated
	}
	copy(b.DigestKey[:], row.DigestKey)
	if row.Object != nil {
		b.Object = batch.Object(*row.Object)
	}
	if row.Content != nil {
		b.Content = batch.Object(*row.Content)
	}
	if row.ChunkBytes > 0 {
		b.Plan = chunk.NewPlan(b.Source().Size, row.ChunkBytes)
	}
	if row.Verdict != nil {
		v := row.Verdict.verdict()
		b.Verdict = &v
	}
	slices.Sort(row.Unannounced)
	for _, r := range row.Unannounced {
		b.Unannounced = append(b.Unannounced, batch.Receiver(r))
	}
	var errs [7]error
	b.Multipart, errs[6] = row.Multipart.multipart()
	b.History, errs[5] = history(row.History)
	b.Screening, errs[4] = row.Screening.screening(row.ListVersions)
	b.CreatedAt, errs[0] = dynamo.ParseTime(row.CreatedAt)
	b.UpdatedAt, errs[1] = dynamo.ParseTime(row.UpdatedAt)
	b.UploadBy, errs[2] = dynamo.ParseTime(row.UploadBy)
	b.ReceivedAt, errs[3] = dynamo.ParseTime(row.ReceivedAt)
	return b, errors.Join(errs[:]...)
}

func newObjectRow(o batch.Object) *objectRow {
	if o == (batch.Object{}) {
		return nil
	}
	row := objectRow(o)
	return &row
}

func newRejectLimitRow(l *batch.RejectLimit) *rejectLimitRow {
	if l == nil {
		return nil
	}
	return &rejectLimitRow{l.Lines, string(l.Share)}
}

func (r *rejectLimitRow) limit() *batch.RejectLimit {
	if r == nil {
		return nil
	}
	return &batch.RejectLimit{Lines: r.Lines, Share: batch.Share(r.Share)}
}

func newDeclaredRow(d batch.Declared) *declaredRow {
	if d.Length == 0 && d.SHA256 == nil && d.Encoding == "" {
		return nil
	}
	return &declaredRow{d.Length, d.SHA256, string(d.Encoding)}
}

func (r *declaredRow) declared() batch.Declared {
	if r == nil {
		return batch.Declared{}
	}
	return batch.Declared{Length: r.Length, SHA256: r.SHA256, Encoding: batch.Encoding(r.Encoding)}
}

func newHistoryRows(entries []batch.StatusAt) []statusAtRow {
	var rows []statusAtRow
	for _, e := range entries {
		rows = append(rows, statusAtRow{string(e.Status), dynamo.FormatTime(e.At)})
	}
	return rows
}

func history(rows []statusAtRow) ([]batch.StatusAt, error) {
	var entries []batch.StatusAt
	for _, row := range rows {
		at, err := dynamo.ParseTime(row.At)
		if err != nil {
			return nil, err
		}
		entries = append(entries, batch.StatusAt{Status: batch.Status(row.Status), At: at})
	}
	return entries, nil
}

func newSettingsRow(s tenancy.Settings) settingsRow {
	return settingsRow{
		MaxPast:    int64(s.MaxPast / time.Second),
		MaxFuture:  int64(s.MaxFuture / time.Second),
		MainEntity: string(s.MainEntity),
		Retention:  int64(s.Retention / time.Second),
		Parquet:    s.Parquet,
	}
}

func (r settingsRow) settings() tenancy.Settings {
	return tenancy.Settings{
		MaxPast:    time.Duration(r.MaxPast) * time.Second,
		MaxFuture:  time.Duration(r.MaxFuture) * time.Second,
		MainEntity: tenancy.MainEntityRule(r.MainEntity),
		Retention:  time.Duration(r.Retention) * time.Second,
		Parquet:    r.Parquet,
	}
}

func newVerdictRow(v batch.Verdict) verdictRow {
	return verdictRow{
		Total: v.Total, Accepted: v.Accepted, Invalid: v.Invalid, ReportKey: v.ReportKey, SummaryKey: v.SummaryKey,
		Shortened: v.ReportShortened, Screening: (*screeningVerdictRow)(v.Screening),
		CSVKey: v.CSVKey, RejectedKey: v.RejectedKey, RejectedLeftOut: v.RejectedLeftOut,
		AcceptedSHA256: v.AcceptedSHA256,
	}
}

func (r verdictRow) verdict() batch.Verdict {
	v := batch.Verdict{
		Total: r.Total, Accepted: r.Accepted, Invalid: r.Invalid, ReportKey: r.ReportKey, SummaryKey: r.SummaryKey,
		ReportShortened: r.Shortened, Screening: (*batch.ScreeningVerdict)(r.Screening),
		CSVKey: r.CSVKey, RejectedKey: r.RejectedKey, RejectedLeftOut: r.RejectedLeftOut,
		AcceptedSHA256: r.AcceptedSHA256,
	}
	if r.ReportKey == "" {
		v.Outcome = batch.TooManyTransactions
	}
	return v
}

// Package export defines exports: files of the accepted lines of a batch, in a form that analysts query. Batches of
// tenants with the setting tenancy.Settings.Parquet have one. docs/parquet.md describes the files.
package export

import (
	"context"
	"fmt"
	"time"

	"sluice/shared/ingest/transaction"
)

// Line is one accepted line.
type Line struct {
	// Number is the line's number in the uploaded file, from 1.
	Number int64
	// MainEntity is the role of the entity for which the transaction is monitored.
	MainEntity transaction.Role
	// Text is the line as it was sent, without its line feed. It is valid until the next line.
	Text []byte
}

// File is the content of an export. The same writer makes the same bytes of equal Files.
type File struct {
	Tenant     string
	Batch      string
	ReceivedAt time.Time
	// ChunkBytes are the sizes of the chunks into which the uploaded file is divided.
	ChunkBytes []int64
	// Lines calls visit with each accepted line of a chunk, in order, until visit returns an error, which it returns.
	// It may be called for several chunks at the same time.
	Lines func(ctx context.Context, chunk int, visit func(Line) error) error
}

// Key returns the key of the file of a batch. Tools that query many files read tenant and date from it; the date is
// that of the receipt, in UTC.
func Key(tenant, batch string, receivedAt time.Time) string {
	return fmt.Sprintf("parquet/tenant=%s/date=%s/%s.parquet", tenant, receivedAt.UTC().Format(time.DateOnly), batch)
}

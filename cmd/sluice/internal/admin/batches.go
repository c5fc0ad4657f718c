package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/spf13/cobra"

	"sluice/cmd/sluice/internal/batches"
	"sluice/internal/command"
	"sluice/shared/access/audit"
	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/invoke"
)

// batchOutput is how a batch is printed for operators.
type batchOutput struct {
	BatchID  batch.ID `json:"batch_id"`
	TenantID string   `json:"tenant_id"`
	ClientID string   `json:"client_id"`
	// Status is the stored one, which clients do not see of a batch that is not validated yet.
	Status       batch.Status      `json:"status"`
	ErrorMessage string            `json:"error_message,omitempty"`
	Name         string            `json:"name,omitempty"`
	Metadata     map[string]string `json:"metadata,omitempty"`
	CreatedAt    time.Time         `json:"created_at"`
	UpdatedAt    time.Time         `json:"updated_at"`
	UploadBy     time.Time         `json:"upload_by"`
	ReceivedAt   *time.Time        `json:"received_at,omitempty"`
	History      []statusAtOutput  `json:"history,omitempty"`
	Object       string            `json:"object,omitempty"`
	Bytes        int64             `json:"bytes,omitempty"`
	// Total, Accepted and Invalid are there once there is a verdict.
	Total    *int64 `json:"total,omitempty"`
	Accepted *int64 `json:"accepted,omitempty"`
	Invalid  *int64 `json:"invalid,omitempty"`
	// Unannounced are the receivers who do not know of the end of the batch yet.
	Unannounced []batch.Receiver `json:"unannounced,omitempty"`
	// Chunks is how far the steps are; only of one batch that is shown.
	Chunks *chunksOutput `json:"chunks,omitempty"`
	// Note says what is left to others.
	Note string `json:"note,omitempty"`
}

type statusAtOutput struct {
	Status batch.Status `json:"status"`
	At     time.Time    `json:"at"`
}

// chunksOutput counts chunks by what is committed about them.
type chunksOutput struct {
	Planned   int   `json:"planned"`
	Validated int   `json:"validated"`
	Settled   int   `json:"settled"`
	Ingested  int   `json:"ingested"`
	Stored    int64 `json:"stored_transactions"`
}

func newBatchOutput(b batch.Batch) batchOutput {
	out := batchOutput{
		BatchID: b.ID, TenantID: b.Tenant, ClientID: b.Client, Status: b.Status, ErrorMessage: b.ErrorMessage,
		Name:     b.Name,
		Metadata: b.Metadata, CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt, UploadBy: b.UploadBy,
		Object: b.Object.Key,
		Bytes:  b.Object.Size, Unannounced: b.Unannounced,
	}
	if !b.ReceivedAt.IsZero() {
		out.ReceivedAt = &b.ReceivedAt
	}
	for _, entry := range b.History {
		out.History = append(out.History, statusAtOutput(entry))
	}
	if v := b.Verdict; v != nil {
		out.Total, out.Accepted, out.Invalid = v.Counts()
	}
	return out
}

// batchCommands are the commands by which operators look at batches and cancel them.
func (a *admin) batchCommands() *cobra.Command {
	var o batches.Filter
	list := a.command(&cobra.Command{
		Use: "list", Short: "list the batches of a tenant, newest first",
		Long: `
The filters are those of 'sluice batches'. The status is the stored one, so that AWAITING_UPLOAD and UPLOADED can be
named, too.`,
		Example: `
sluice admin batch list --tenant 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11 --status UPLOADED --created-after 24h`,
	}, func(ctx context.Context, a *admin, _ []string) (any, error) { return listBatches(ctx, a, o) })
	o.AddFlags(list, strings.Split(joinStatuses(), ", "))
	show := a.command(&cobra.Command{
		Use: "show BATCH", Short: "print what is stored about a batch, and how far its steps are",
		Example: "sluice admin batch show 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01",
	}, showBatch)
	cancel := a.command(&cobra.Command{
		Use: "cancel BATCH", Short: "cancel a batch whose ingestion has not begun",
		Long: `
The batch ends as if its client had cancelled it: in ERROR with "Cancelled by the client.", and nothing of it is stored.
Its slots are free at once. The audit trail says who has cancelled it. Cancelling it again does nothing.`,
		Example: "sluice admin batch cancel 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01",
	}, cancelBatch)
	return command.Group(&cobra.Command{Use: "batch", Short: "list, show and cancel batches"}, list, show, cancel)
}

// batches returns the store of batches.
func (a *admin) batches(ctx context.Context) (*batchdb.Store, error) {
	tables, err := a.tables(ctx, "TABLE_BATCHES")
	if err != nil {
		return nil, err
	}
	return batchdb.New(dynamo.NewClient(a.aws), tables["TABLE_BATCHES"]), nil
}

func listBatches(ctx context.Context, a *admin, o batches.Filter) (any, error) {
	if err := a.requireTenant(); err != nil {
		return nil, err
	}
	q, err := o.Query(a.now)
	if err != nil {
		return nil, err
	}
	f := batch.Filter{CreatedAfter: q.CreatedAfter, CreatedBefore: q.CreatedBefore, Client: q.ClientID,
		NamePrefix: q.NamePrefix, Metadata: q.Metadata}
	for _, s := range q.Statuses {
		if !slices.Contains(batch.Statuses(), batch.Status(s)) {
			return nil, command.Usagef("there is no status %q; there are %s", s, joinStatuses())
		}
		f.Statuses = append(f.Statuses, batch.Status(s))
	}
	for _, s := range q.States {
		if !slices.Contains(batch.States(), batch.State(s)) {
			return nil, command.Usagef("there is no state %q; there are %v", s, batch.States())
		}
		f.States = append(f.States, batch.State(s))
	}
	store, err := a.batches(ctx)
	if err != nil {
		return nil, err
	}
	out := []batchOutput{}
	for after := batch.ID(""); ; {
		page, next, err := store.List(ctx, a.tenant, f, after, min(o.Limit-len(out), batches.MaxBatchesPage))
		if err != nil {
			return nil, err
		}
		for _, b := range page {
			out = append(out, newBatchOutput(b))
		}
		if after = next; after == "" || len(out) >= o.Limit {
			return out, nil
		}
	}
}

func joinStatuses() string {
	var names []string
	for _, s := range batch.Statuses() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// batchArgument returns the ID that an argument gives, and the store of batches.
func (a *admin) batchArgument(ctx context.Context, text string) (batch.ID, *batchdb.Store, error) {
	id, err := batch.ParseID(text)
	if err != nil {
		return "", nil, command.Usagef("%q is not the ID of a batch, which is a UUID", text)
	}
	store, err := a.batches(ctx)
	return id, store, err
}

func showBatch(ctx context.Context, a *admin, args []string) (any, error) {
	id, store, err := a.batchArgument(ctx, args[0])
	if err != nil {
		return nil, err
	}
	b, err := store.Get(ctx, id)
	if err != nil {
		return nil, explainNoBatch(err, id)
	}
	chunks, err := store.Chunks(ctx, id)
	if err != nil {
		return nil, err
	}
	out := newBatchOutput(b)
	if b.Plan.ChunkBytes > 0 {
		out.Chunks = &chunksOutput{Planned: b.Plan.Count()}
		for _, c := range chunks {
			if c.Validated != nil {
				out.Chunks.Validated++
			}
			if c.Settled != nil {
				out.Chunks.Settled++
			}
			if c.Ingested != nil {
				out.Chunks.Stored += c.Ingested.Stored
				if c.Ingested.Done {
					out.Chunks.Ingested++
				}
			}
		}
	}
	return out, nil
}

// cancelBatch cancels a batch, and asks for its slots to be taken back.
func cancelBatch(ctx context.Context, a *admin, args []string) (any, error) {
	id, store, err := a.batchArgument(ctx, args[0])
	if err != nil {
		return nil, err
	}
	var trail bytes.Buffer
	audited := store.Audited(audit.New(&trail, a.time, func(context.Context) string { return a.recorder.requestID }))
	b, err := batch.Cancel(ctx, audited, id, time.Now)
	var conflict *batch.ConflictError
	if errors.As(err, &conflict) {
		return nil, fmt.Errorf("batch %s is %s: it can be cancelled only until its ingestion begins", id,
			conflict.Current.Status)
	}
	if err != nil {
		return nil, explainNoBatch(err, id)
	}
	out := newBatchOutput(b)
	closer := invoke.NewRequester(lambda.NewFromConfig(a.aws), a.prefix+"-close:live")
	if err := closer.Request(ctx, admission.LeaveInput{ID: id, Ended: true}); err != nil {
		out.Note = "The batch is cancelled. The function close could not be asked to free its slots (" + err.Error() +
			"); the sweep frees them within five minutes."
	}
	return out, a.writeTrail(ctx, &trail)
}

// writeTrail writes the transitions that a store has written to a buffer.
func (a *admin) writeTrail(ctx context.Context, trail *bytes.Buffer) error {
	var transitions []audit.Transition
	for line := range bytes.Lines(trail.Bytes()) {
		var t audit.Transition
		if err := json.Unmarshal(line, &t); err != nil {
			return err
		}
		transitions = append(transitions, t)
	}
	return a.recorder.writeTransitions(ctx, transitions)
}

// explainNoBatch says that there is no batch of an ID; it leaves other errors as they are.
func explainNoBatch(err error, id batch.ID) error {
	if errors.Is(err, batch.ErrNotFound) {
		return fmt.Errorf("there is no batch %s", id)
	}
	return err
}

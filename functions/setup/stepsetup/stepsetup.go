// Package stepsetup makes the steps of a batch that work on lines, for the function of each and for the one that runs
// all of them.
package stepsetup

import (
	"time"

	"sluice/functions/setup"
	"sluice/functions/setup/indexsetup"
	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiondb"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/ingest/transaction/transactiondb"
	"sluice/shared/platform/entity/entitydb"
)

// GCPercent and MemoryLimit bound the garbage of functions that work on lines. A line leaves far more of it than is
// kept at a time, a few megabytes, so that the usual setting collects many times a second. The memory limit, in bytes,
// is for chunks of very long lines, and for digests without pointers, up to 62 MB for the largest batch, which cost
// little to collect.
const (
	GCPercent   = 400
	MemoryLimit = 96 << 20
)

// NewBatches returns the store of batches. It reads TABLE_BATCHES.
func NewBatches(env setup.Env) *batchdb.Store {
	return batchdb.New(env.DynamoDB(), env.BatchesTable).Audited(env.Audit)
}

// NewValidate returns the first pass. It reads TABLE_BATCHES, BUCKET_UPLOADS, BUCKET_WORK, TABLE_INDEX and
// SECRETS_KEY_ID.
func NewValidate(env setup.Env) *pipeline.Validate {
	return &pipeline.Validate{Batches: NewBatches(env), Uploads: env.Uploads(), Work: env.Work(),
		Keys: indexsetup.NewKeys(env), NewAttempt: pipeline.NewAttempt, Log: env.Log}
}

// NewDigest returns the step that digests files. It reads TABLE_BATCHES, BUCKET_UPLOADS and BUCKET_WORK.
func NewDigest(env setup.Env) *pipeline.Digest {
	return &pipeline.Digest{Batches: NewBatches(env), Uploads: env.Uploads(), Work: env.Work(), Log: env.Log}
}

// NewReconcile returns the second pass. It reads TABLE_BATCHES, TABLE_ENTITIES and BUCKET_WORK.
func NewReconcile(env setup.Env) *pipeline.Reconcile {
	return &pipeline.Reconcile{Batches: NewBatches(env), Work: env.Work(), NewAttempt: pipeline.NewAttempt,
		Entities: entitydb.NewStatuses(env.DynamoDB(), env.EntitiesTable), Log: env.Log}
}

// NewSettle returns the step that merges findings. It reads TABLE_BATCHES, BUCKET_UPLOADS and BUCKET_WORK.
func NewSettle(env setup.Env) *pipeline.Settle {
	return &pipeline.Settle{Batches: NewBatches(env), Uploads: env.Uploads(), Work: env.Work(),
		NewAttempt: pipeline.NewAttempt, Log: env.Log}
}

// NewIngest returns the step that stores lines. It reads TABLE_BATCHES, TABLE_TRANSACTIONS, TABLE_ADMISSION,
// BUCKET_UPLOADS, BUCKET_WORK and INGEST_SECONDS.
func NewIngest(env setup.Env) *pipeline.Ingest {
	transactions, err := transactiondb.New(env.DynamoDB(), env.TransactionsTable)
	env.Check(err)
	return &pipeline.Ingest{Batches: NewBatches(env), Transactions: transactions, Uploads: env.Uploads(),
		Work: env.Work(), Budget: env.IngestTime, Now: time.Now, Log: env.Log,
		Slots: &admission.Slots{Queue: admissiondb.New(env.DynamoDB(), env.AdmissionTable), Now: time.Now}}
}

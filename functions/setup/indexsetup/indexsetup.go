// Package indexsetup makes the parts of functions that use the index of lines. It is separate from setup, so that only
// those functions are linked with it.
package indexsetup

import (
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"sluice/functions/setup"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/lineindex/lineindexdb"
	"sluice/shared/ingest/observation/lines"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/objects"
	"sluice/shared/kit/sealed"
)

// NewKeys returns the keys of the digests of tenants.
func NewKeys(env setup.Env) *lineindexdb.Keys {
	box := sealed.New(kms.NewFromConfig(env.AWS), env.SecretsKey)
	return lineindexdb.NewKeys(NewCatalog(env), box, sealed.LineIndex, time.Now)
}

// NewCatalog returns the catalogs of the indexes.
func NewCatalog(env setup.Env) *lineindexdb.Store {
	return lineindexdb.New(env.DynamoDB(), env.IndexTable)
}

// NewSearcher returns the searcher of the indexes, and of the batches that are to be indexed.
func NewSearcher(env setup.Env) *lineindex.Searcher {
	owing := lineindex.Owing{Batches: batchdb.New(env.DynamoDB(), env.BatchesTable),
		Accepted: pipeline.AcceptedLines(env.Work()), IsGone: objects.IsGone}
	return &lineindex.Searcher{Catalog: NewCatalog(env), Files: env.Work(), Pending: owing.Pending, Work: env.Work(),
		IsGone: objects.IsGone, Now: time.Now}
}

// NewLines returns the finder of what became of lines.
func NewLines(env setup.Env, batches lines.Batches) *lines.Finder {
	return &lines.Finder{Batches: batches, Index: NewSearcher(env), Keys: NewKeys(env), Work: env.Work(),
		IsGone: func(err error) bool { return objects.IsGone(err) || errors.Is(err, batch.ErrNotFound) }, Now: time.Now}
}

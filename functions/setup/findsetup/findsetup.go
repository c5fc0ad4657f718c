// Package findsetup makes the parts of functions that find lines by their identifiers. It is separate from setup, so
// that only those functions are linked with it.
package findsetup

import (
	"time"

	"sluice/functions/setup"
	"sluice/functions/setup/indexsetup"
	"sluice/shared/ingest/find"
	"sluice/shared/ingest/transaction/transactiondb"
)

// NewHits returns what finds lines and single transactions. It reads TABLE_INDEX, BUCKET_WORK, SECRETS_KEY_ID and
// TABLE_OBSERVATIONS.
func NewHits(env setup.Env, versions *transactiondb.Store) *find.Hits {
	return &find.Hits{Lines: indexsetup.NewSearcher(env), Keys: indexsetup.NewKeys(env), Singles: env.Observations(),
		Versions: versions, Now: time.Now}
}

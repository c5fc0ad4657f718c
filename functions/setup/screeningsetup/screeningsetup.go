// Package screeningsetup makes the parts of functions that screen or read watchlists. It is separate from setup, so
// that only those functions are linked with it.
package screeningsetup

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"sluice/functions/setup"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogdb"
	"sluice/shared/screening/execution"
)

// NewMachine returns the state machine of screening batches.
func NewMachine(env setup.Env) *execution.Machine {
	return execution.NewMachine(sfn.NewFromConfig(env.AWS), env.ScreeningMachineARN)
}

// NewNotifier returns what starts notices of resolutions to the adapters of screening providers.
func NewNotifier(env setup.Env) *execution.Notifier {
	return execution.NewNotifier(sfn.NewFromConfig(env.AWS), env.ResolutionMachineARN, time.Now)
}

// NewWatchlists returns the loader of watchlists. It reads TABLE_WATCHLISTS and BUCKET_WORK.
func NewWatchlists(env setup.Env) *catalog.Loader {
	return catalog.NewLoader(catalog.Options{
		Versions: catalogdb.New(env.DynamoDB(), env.WatchlistsTable), Files: env.Work(), Recheck: env.WatchlistRecheck,
		Now: time.Now, Log: env.Log,
	})
}

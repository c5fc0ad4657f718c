package main

// assumptions are everything that the simulation takes as given. Times are in seconds and rates in a second.
type assumptions struct {
	Seed uint64

	// Batches of Tenants arrive within Hours, each of Bytes, more or less by Spread, in lines of LineBytes that take
	// LineUnits write units each.
	Batches, Tenants     int
	Hours                float64
	Bytes, Spread        float64
	LineBytes, LineUnits float64

	// Executions may run in the account at a time, of which Base are taken by the API.
	Executions, Base int
	// The table takes StartUnits, doubles that after WarmUp of full use, and has MaxUnits as its quota.
	StartUnits, MaxUnits, WarmUp float64

	// Validate, Reconcile, Settle and Ingest are the widths of the Maps.
	Validate, Reconcile, Settle, Ingest int
	// Admission means that batches wait for slots: so many in all, and so many of each tenant.
	Admission                            bool
	ValidationSlots, ValidationPerTenant int
	IngestionSlots, IngestionPerTenant   int

	// ScanSpeed and ReadSpeed are in bytes, WriteSpeed in lines, each of one function.
	ScanSpeed, ReadSpeed, WriteSpeed float64
	Overhead, Transition, GetLatency float64
	// Budget is how long an ingesting function works before it ends and is invoked again.
	Budget float64
	// Prefixes is into how many S3 has divided the work files, and Transitions is the quota of Step Functions.
	Prefixes, Transitions int
	// Attempts is the number of retries of a throttled invocation.
	Attempts int
}

// defaults returns 100 batches of 2 GB of 10 tenants at once, in an account with the normal quotas, and the template's
// parameters.
func defaults() assumptions {
	return assumptions{
		Seed: 1, Batches: 100, Tenants: 10, Bytes: 2.05e9, LineBytes: 1141, LineUnits: 1.042,
		Executions: 1000, Base: 20, StartUnits: 40_000, MaxUnits: 40_000, WarmUp: 1800,
		Validate: 40, Reconcile: 16, Settle: 40, Ingest: 4, Admission: true,
		ValidationSlots: 15, ValidationPerTenant: 5, IngestionSlots: 40, IngestionPerTenant: 10,
		ScanSpeed: 50e6, ReadSpeed: 60e6, WriteSpeed: 8000, Overhead: 0.1, Transition: 0.05, GetLatency: 0.03,
		Budget: 600, Attempts: 60, Prefixes: 16, Transitions: 5000,
	}
}

// The figures of the service that are not assumptions (docs/life-of-a-batch.md).
const (
	minChunkBytes = 8 << 20
	defaultChunks = 256
	partitions    = 16
	// readsAtATime is how many sections a function reads at the same time.
	readsAtATime = 8
	// bytesPerRange is how much of a file one invocation of Reconcile answers for, up to one for each partition.
	bytesPerRange = 64 << 20
)

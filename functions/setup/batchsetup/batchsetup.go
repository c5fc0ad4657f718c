// Package batchsetup makes the parts of functions that move batches on. It is separate from setup, so that only those
// functions are linked with it.
package batchsetup

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/guardduty"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"sluice/functions/setup"
	"sluice/functions/setup/eventsetup"
	"sluice/shared/access/auth/authdb"
	"sluice/shared/connect/announce"
	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiondb"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/intake"
	"sluice/shared/ingest/intake/intakedb"
	"sluice/shared/kit/invoke"
	"sluice/shared/kit/machine"
	"sluice/shared/kit/malware"
	"sluice/shared/platform/document/documentdb"
	"sluice/shared/platform/document/documentintake"
)

// NewBatches returns the store of batches, which asks for the announcement of those that end. It reads TABLE_BATCHES
// and ANNOUNCE_FUNCTION.
func NewBatches(env setup.Env) *announce.Batches {
	return &announce.Batches{
		Store:     batchdb.New(env.DynamoDB(), env.BatchesTable).Audited(env.Audit),
		Requester: eventsetup.NewAnnouncements(env), Log: env.Log,
	}
}

// NewSweep returns the sweep of a store of batches. It reads what NewSlots and NewMachine read, ANNOUNCE_FUNCTION,
// BUCKET_UPLOADS, SWEEP_AGE and UPLOAD_PATIENCE.
func NewSweep(env setup.Env, batches *announce.Batches) *intake.Sweep {
	return &intake.Sweep{
		Batches: batches, Uploads: env.Uploads(), Machine: NewMachine(env),
		Announcements: eventsetup.NewAnnouncements(env), Slots: NewSlots(env), Age: env.SweepAge,
		Patience: env.UploadPatience,
	}
}

// NewDocuments returns the processing of the files of documents, which are scanned as batches are. It reads
// TABLE_DOCUMENTS, BUCKET_UPLOADS, MAX_UPLOAD_BYTES, SWEEP_AGE and UPLOAD_PATIENCE.
func NewDocuments(env setup.Env, registry *authdb.Registry, scanner intake.Scanner, guardDuty *intake.GuardDuty,
	retry intake.RetryPolicy) *documentintake.Documents {
	store := documentdb.New(env.DynamoDB(), env.DocumentsTable)
	return &documentintake.Documents{
		Store: store, Registry: registry, Files: env.Uploads(), Scanner: scanner, GuardDuty: guardDuty,
		MaxBytes: env.MaxUploadBytes, Retry: retry, Log: env.Log,
		Waiting: &documentintake.Waiting{Files: store, Uploads: env.Uploads(), Age: env.SweepAge,
			Patience: env.UploadPatience, Now: time.Now},
	}
}

// NewMachine returns the state machine of batches.
func NewMachine(env setup.Env) *intake.Machine {
	return intake.NewMachine(sfn.NewFromConfig(env.AWS), env.StateMachine)
}

// NewSlots returns what gives batches their slots. It reads TABLE_ADMISSION, SLOTS, INGEST_CONCURRENCY,
// TRANSACTIONS_WARM_THROUGHPUT and SMALL_BATCH_BYTES.
func NewSlots(env setup.Env) *admission.Slots {
	limits, err := admission.ParseLimits(env.Slots, env.WarmThroughput, int(env.IngestConcurrency))
	env.Check(err)
	return &admission.Slots{
		Queue: admissiondb.New(env.DynamoDB(), env.AdmissionTable), Tasks: machine.NewTasks(sfn.NewFromConfig(env.AWS)),
		Limits: limits, SmallBytes: env.SmallBatchBytes, Now: time.Now, Log: env.Log,
	}
}

// Closer asks the close function for what remains to be done for batches that have ended.
type Closer struct{ function *invoke.Requester }

// LeaveSlots asks for the slots of a batch to be taken back, and for its execution to be told if it waits.
func (c Closer) LeaveSlots(ctx context.Context, id batch.ID) error {
	return c.function.Request(ctx, admission.LeaveInput{ID: id, Ended: true})
}

// NewCloser returns the requester of the close function.
func NewCloser(env setup.Env) Closer {
	return Closer{invoke.NewRequester(lambda.NewFromConfig(env.AWS), env.CloseFunction)}
}

// NewScanner returns the malware scanner or, where GuardDuty scans, its results in place of it.
func NewScanner(env setup.Env) (intake.Scanner, *intake.GuardDuty, error) {
	switch env.MalwareScan {
	case "guardduty":
		return nil, &intake.GuardDuty{
			Uploads:   intakedb.New(env.DynamoDB(), env.BatchesTable, time.Now),
			Rescanner: malware.NewGuardDuty(guardduty.NewFromConfig(env.AWS), env.UploadsBucket),
			Retry:     intake.RetryPolicy{Attempts: 5, Pause: 5 * time.Second},
			MaxWait:   env.ScanPatience,
			Now:       time.Now,
		}, nil
	case "clamd":
		clamd, err := malware.NewClamd(env.ClamdAddress)
		return clamd, nil, err
	case "builtin":
		env.Log.Warn("uploads are not scanned for real malware: the built-in check stands in")
		return malware.Builtin{}, nil, nil
	}
	return nil, nil, fmt.Errorf("MALWARE_SCAN is %q, not guardduty, clamd or builtin", env.MalwareScan)
}

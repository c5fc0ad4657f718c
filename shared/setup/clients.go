package setup

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/guardduty"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/google/uuid"

	"sluice/shared/admission"
	"sluice/shared/admission/admissiondb"
	"sluice/shared/announce"
	"sluice/shared/batch"
	"sluice/shared/delivery"
	"sluice/shared/dynamo"
	"sluice/shared/idempotency"
	"sluice/shared/idempotency/idempotencydb"
	"sluice/shared/intake"
	"sluice/shared/intake/intakedb"
	"sluice/shared/invoke"
	"sluice/shared/machine"
	"sluice/shared/malware"
	"sluice/shared/objects"
	"sluice/shared/observation/observationdb"
	"sluice/shared/policy/evaluate"
	"sluice/shared/policy/policydb"
	"sluice/shared/ratelimit"
	"sluice/shared/ratelimit/ratelimitdb"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogdb"
	"sluice/shared/screening/execution"
	"sluice/shared/webhook"
)

// DynamoDB returns the client for stores.
func (e Env) DynamoDB() *dynamodb.Client { return dynamo.NewClient(e.AWS) }

// Uploads returns the bucket to which clients upload batch files and documents.
func (e Env) Uploads() *objects.Bucket { return e.bucket(e.UploadsBucket) }

// Work returns the bucket of work files and reports.
func (e Env) Work() *objects.Bucket { return e.bucket(e.WorkBucket) }

// ExportFiles returns the bucket of the files that analysts query.
func (e Env) ExportFiles() *objects.Bucket { return e.bucket(e.ExportBucket) }

func (e Env) bucket(name string) *objects.Bucket {
	return objects.New(e.AWS, name, objects.Options{
		PathStyle: e.Endpoint != "" || e.StorageEndpoint != "",
		PublicURL: e.PublicStorageURL,
	})
}

// Watchlists returns the loader of watchlists. It reads TABLE_WATCHLISTS and BUCKET_WORK.
func (e Env) Watchlists() *catalog.Loader {
	return catalog.NewLoader(catalog.Options{
		Versions: catalogdb.New(e.DynamoDB(), e.WatchlistsTable), Files: e.Work(), Recheck: e.WatchlistRecheck,
		Now: time.Now, Log: e.Log,
	})
}

// Policies returns the store of policies. It reads TABLE_POLICIES and BUCKET_WORK.
func (e Env) Policies() *policydb.Store {
	return policydb.New(e.DynamoDB(), e.PoliciesTable, e.Work(), uuid.NewString)
}

// Programs returns what compiles versions of policies and keeps their programs. It reads TABLE_POLICIES and
// BUCKET_WORK.
func (e Env) Programs() *policydb.Programs[*evaluate.Program] {
	return policydb.NewPrograms(e.Policies(), evaluate.Compile, 0)
}

// Limits returns what decides about the limits of tenants. It reads TABLE_LIMITS.
func (e Env) Limits() *ratelimit.Limiter {
	return ratelimit.NewLimiter(ratelimitdb.New(e.DynamoDB(), e.LimitsTable), time.Now)
}

// Observations returns the store of what became of single transactions. It reads TABLE_OBSERVATIONS.
func (e Env) Observations() *observationdb.Store {
	return observationdb.New(e.DynamoDB(), e.ObservationsTable)
}

// IdempotencyKeys returns what decides about requests with a key. It reads TABLE_IDEMPOTENCY.
func (e Env) IdempotencyKeys() *idempotency.Keys {
	return &idempotency.Keys{
		Store: idempotencydb.New(e.DynamoDB(), e.IdempotencyTable), Now: time.Now, NewRun: uuid.NewString,
	}
}

// Machine returns the state machine of batches.
func (e Env) Machine() *intake.Machine {
	return intake.NewMachine(sfn.NewFromConfig(e.AWS), e.StateMachine)
}

// Slots returns what gives batches their slots. It reads TABLE_ADMISSION, and the numbers of slots of both stages.
func (e Env) Slots() *admission.Slots {
	return &admission.Slots{
		Queue: admissiondb.New(e.DynamoDB(), e.AdmissionTable), Tasks: machine.NewTasks(sfn.NewFromConfig(e.AWS)),
		Limits: map[admission.Stage]admission.Limits{
			admission.Validation: {Slots: int(e.ValidationSlots), PerTenant: int(e.ValidationSlotsPerTenant)},
			admission.Ingestion:  {Slots: int(e.IngestionSlots), PerTenant: int(e.IngestionSlotsPerTenant)},
		},
		Now: time.Now, Log: e.Log,
	}
}

// Positions returns what tells batches how many get a slot before them. It reads TABLE_ADMISSION.
func (e Env) Positions() *admission.Positions {
	return &admission.Positions{
		Queue: admissiondb.New(e.DynamoDB(), e.AdmissionTable), Now: time.Now, Age: 2 * time.Second,
	}
}

// Announcements returns the requester of the announce function.
func (e Env) Announcements() *announce.Requester {
	return announce.NewRequester(lambda.NewFromConfig(e.AWS), e.AnnounceFunction)
}

// Exports returns the requester of the export function.
func (e Env) Exports() *announce.Exports {
	return announce.NewExports(lambda.NewFromConfig(e.AWS), e.ExportFunction)
}

// Announcing returns a store of batches that asks for the announcement of those that end.
func (e Env) Announcing(store batch.Store) *announce.Batches {
	return &announce.Batches{Store: store, Requester: e.Announcements(), Log: e.Log}
}

// Closer asks the close function for what remains to be done for batches that have ended.
type Closer struct{ function *invoke.Requester }

// LeaveSlots asks for the slots of a batch to be taken back, and for its execution to be told if it waits.
func (c Closer) LeaveSlots(ctx context.Context, id batch.ID) error {
	return c.function.Request(ctx, admission.LeaveInput{ID: id, Ended: true})
}

// Closer returns the requester of the close function.
func (e Env) Closer() Closer {
	return Closer{invoke.NewRequester(lambda.NewFromConfig(e.AWS), e.CloseFunction)}
}

// EventBus returns the event bus to which events are announced.
func (e Env) EventBus() *announce.Bus {
	return announce.NewBus(eventbridge.NewFromConfig(e.AWS), e.EventBusName)
}

// DeliveryMachine returns the state machine of deliveries to webhooks.
func (e Env) DeliveryMachine() *delivery.Machine {
	return delivery.NewMachine(sfn.NewFromConfig(e.AWS), e.DeliveryMachineARN)
}

// ScreeningMachine returns the state machine of screening batches.
func (e Env) ScreeningMachine() *execution.Machine {
	return execution.NewMachine(sfn.NewFromConfig(e.AWS), e.ScreeningMachineARN)
}

// Notifier returns what starts notices of resolutions to the adapters of screening providers.
func (e Env) Notifier() *execution.Notifier {
	return execution.NewNotifier(sfn.NewFromConfig(e.AWS), e.ResolutionMachineARN, time.Now)
}

// WebhookPolicy returns when deliveries are tried again and given up.
func (e Env) WebhookPolicy() webhook.Policy {
	return webhook.Policy{
		FirstPause: e.WebhookFirstPause, MaxPause: e.WebhookMaxPause, Patience: e.WebhookPatience,
		DisableAfter: e.WebhookDisableAfter,
	}
}

// Scanner returns the malware scanner or, where GuardDuty scans, its results in place of it.
func (e Env) Scanner() (intake.Scanner, *intake.GuardDuty, error) {
	switch e.MalwareScan {
	case "guardduty":
		return nil, &intake.GuardDuty{
			Uploads:   intakedb.New(e.DynamoDB(), e.BatchesTable, time.Now),
			Rescanner: malware.NewGuardDuty(guardduty.NewFromConfig(e.AWS), e.UploadsBucket),
			Retry:     intake.RetryPolicy{Attempts: 5, Pause: 5 * time.Second},
			MaxWait:   e.ScanPatience,
			Now:       time.Now,
		}, nil
	case "clamd":
		clamd, err := malware.NewClamd(e.ClamdAddress)
		return clamd, nil, err
	case "builtin":
		e.Log.Warn("uploads are not scanned for real malware: the built-in check stands in")
		return malware.Builtin{}, nil, nil
	}
	return nil, nil, fmt.Errorf("MALWARE_SCAN is %q, not guardduty, clamd or builtin", e.MalwareScan)
}

// KMS returns the client for signing keys.
func (e Env) KMS() *kms.Client { return kms.NewFromConfig(e.AWS) }

package setup

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/guardduty"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"sluice/shared/dynamo"
	"sluice/shared/intake"
	"sluice/shared/malware"
	"sluice/shared/objects"
)

// Batches returns the store of batches.
func (f Function) Batches() *dynamo.Batches {
	return dynamo.NewBatches(dynamodb.NewFromConfig(f.AWS), f.BatchesTable)
}

// Transactions returns the store of accepted lines.
func (f Function) Transactions() (*dynamo.Transactions, error) {
	return dynamo.NewTransactions(dynamodb.NewFromConfig(f.AWS), f.TransactionsTable)
}

// Entities returns the directory of entities.
func (f Function) Entities() *dynamo.Entities {
	return dynamo.NewEntities(dynamodb.NewFromConfig(f.AWS), f.EntitiesTable)
}

// Records returns the store of entities and drafts.
func (f Function) Records() *dynamo.Records {
	return dynamo.NewRecords(dynamodb.NewFromConfig(f.AWS), f.RecordsTable, f.EntitiesTable)
}

// Documents returns the store of documents.
func (f Function) Documents() *dynamo.Documents {
	return dynamo.NewDocuments(dynamodb.NewFromConfig(f.AWS), f.DocumentsTable)
}

// Uploads returns the bucket that clients put batch files and documents into.
func (f Function) Uploads() *objects.Bucket { return f.bucket(f.UploadsBucket) }

// Work returns the bucket of work files and reports.
func (f Function) Work() *objects.Bucket { return f.bucket(f.WorkBucket) }

func (f Function) bucket(name string) *objects.Bucket {
	return objects.New(f.AWS, name, objects.Options{
		PathStyle: f.Endpoint != "" || f.StorageEndpoint != "",
		PublicURL: f.PublicStorageURL,
	})
}

// Machine returns the state machine of batches.
func (f Function) Machine() *intake.Machine {
	return intake.NewMachine(sfn.NewFromConfig(f.AWS), f.StateMachine)
}

// Scanners returns the scanners of batches and of documents, or what GuardDuty tells in their place. The built-in check takes
// archives and executables as documents only.
func (f Function) Scanners() (lines, documents intake.Scanner, results *intake.Results, err error) {
	switch f.MalwareScan {
	case "guardduty":
		return nil, nil, &intake.Results{
			Store:    dynamo.NewUploads(dynamodb.NewFromConfig(f.AWS), f.BatchesTable, time.Now),
			Again:    malware.NewGuardDuty(guardduty.NewFromConfig(f.AWS), f.UploadsBucket),
			Patience: intake.Patience{Attempts: 5, Pause: 5 * time.Second},
			Wait:     f.ScanPatience, Now: time.Now,
		}, nil
	case "clamd":
		clamd, err := malware.NewClamd(f.ClamdAddress)
		return clamd, clamd, nil, err
	case "builtin":
		f.Log.Warn("uploads are not scanned for real malware: the built-in check stands in")
		return malware.Builtin{TextOnly: true}, malware.Builtin{}, nil, nil
	}
	return nil, nil, nil, fmt.Errorf("MALWARE_SCAN is %q, not guardduty, clamd or builtin", f.MalwareScan)
}

// Clients returns the registry of tenants, clients and signing keys.
func (f Function) Clients() *dynamo.Clients {
	return dynamo.NewClients(dynamodb.NewFromConfig(f.AWS), f.ClientsTable)
}

// KMS returns the service that signs tokens.
func (f Function) KMS() *kms.Client { return kms.NewFromConfig(f.AWS) }

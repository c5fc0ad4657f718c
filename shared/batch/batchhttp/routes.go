package batchhttp

import "sluice/shared/httpapi"

// Permissions of the monitoring interface.
const (
	BatchUpload     = "BatchUpload"
	BatchRead       = "BatchRead"
	TransactionRead = "TransactionRead"
)

const base = "/tm/realtime/api/transactions"

// Routes returns the batch interface.
func (s *Batches) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "POST", Path: base + "/batch/generate-upload-url", Feature: httpapi.FeatureBatch,
			Permissions: []string{BatchUpload}, Endpoint: httpapi.JSON(s.GenerateUploadURL),
		},
		{
			Method: "GET", Path: base + "/batch/status/{batch_id}", Feature: httpapi.FeatureBatch,
			Permissions: []string{BatchRead}, Endpoint: httpapi.Path("batch_id", s.Status),
		},
		{
			Method: "GET", Path: base + "/batch/validation-result/{batch_id}", Feature: httpapi.FeatureBatch,
			Permissions: []string{BatchRead}, Endpoint: httpapi.Path("batch_id", s.ValidationResult),
		},
	}
}

// Routes returns the reading of transactions.
func (s *Transactions) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: base + "/{transaction_external_id}",
		Permissions: []string{TransactionRead}, Endpoint: s.Read,
	}}
}

package capacity

import (
	"encoding/json"
	"net/http"
	"strings"
)

// The messages of DynamoDB for a table of which nothing is left.
const (
	onDemandMessage = "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically " +
		"scaling your table or index so please try again shortly. If exceptions persist, check if you have a hot key."
	provisionedMessage = "The level of configured provisioned throughput for the table was exceeded. Consider " +
		"increasing your provisioning level with the UpdateTable API."
)

// reason is why one part of a transaction was canceled.
type reason struct {
	Code    string
	Message string `json:",omitempty"`
}

// writeThrottled sends the error of a request of which nothing is written: for a transaction the reasons of its parts,
// as in the API reference of TransactionCanceledException.
func (c *call) writeThrottled(w http.ResponseWriter, operation string) {
	errorType, message := "ThrottlingException", onDemandMessage
	for table := range c.exhausted {
		if c.isProvisioned(table) {
			errorType, message = "ProvisionedThroughputExceededException", provisionedMessage
		}
	}
	body := map[string]any{}
	if operation == "TransactWriteItems" {
		var reasons []reason
		var codes []string
		for _, table := range c.transactTables() {
			why := reason{Code: "None"}
			switch {
			case c.exhausted[table] && c.isProvisioned(table):
				why = reason{"ProvisionedThroughputExceeded", provisionedMessage}
			case c.exhausted[table]:
				why = reason{"ThrottlingError", onDemandMessage}
			}
			reasons, codes = append(reasons, why), append(codes, why.Code)
		}
		errorType, body["CancellationReasons"] = "TransactionCanceledException", reasons
		message = "Transaction cancelled, please refer cancellation reasons for specific reasons [" +
			strings.Join(codes, ", ") + "]"
	}
	// Clients look for the message under either name.
	body["__type"], body["message"], body["Message"] = "com.amazonaws.dynamodb.v20120810#"+errorType, message, message
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(body)
}

package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// singlePath is the path on which single transactions are sent.
const singlePath = "/tm/realtime/event/transaction/v3"

// Receipt is the answer to a transaction that was sent singly and is stored.
type Receipt struct {
	// RequestUUID, PaymentExternalID, TransactionExternalID and ModificationExternalID are those of the transaction.
	RequestUUID            string `json:"request_uuid"`
	PaymentExternalID      string `json:"payment_external_id"`
	TransactionExternalID  string `json:"transaction_external_id"`
	ModificationExternalID string `json:"modification_external_id"`
	// ModificationGUID follows from the tenant and the IDs of transaction and modification.
	ModificationGUID string `json:"modification_guid"`
	// Reply is the reply as it came.
	Reply json.RawMessage `json:"-"`
}

func (r *Receipt) keepReply(_ int, text []byte) { r.Reply = text }

// SendOptions are options of SendTransaction. The zero value is the usual one.
type SendOptions struct {
	// Migrated means that the transaction is history: modification.created_at may have any age.
	Migrated bool
	// IdempotencyKey names the request for 24 hours: it is carried out once, however often it is sent. If it is "", the
	// call makes a key of its own for its repetitions after lost answers.
	IdempotencyKey string
}

// SendTransaction sends one transaction, the JSON object that would be a line of a batch. When it returns, the
// transaction is stored and visible. Repeating the call with another key changes nothing unless the modification was sent
// with another content since; with the same key, it never does. A transaction that breaks a rule is a 400 *Error, whose message lists what is wrong; one that is not
// a JSON object is a 422.
func (c *Client) SendTransaction(ctx context.Context, transaction []byte, options SendOptions) (Receipt, error) {
	header := keyHeader(options.IdempotencyKey)
	if options.Migrated {
		header.Set("migrated-transaction", "true")
	}
	if transaction == nil {
		transaction = []byte{}
	}
	var out Receipt
	err := c.send(ctx, http.MethodPost, singlePath, transaction, header, &out)
	return out, err
}

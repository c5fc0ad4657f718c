package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"sluice/openapi/wire"
)

// singlePath is the path on which single transactions are sent.
const singlePath = "/tm/realtime/event/transaction/v3"

// Receipt is the answer to a transaction that was sent singly and is stored.
type Receipt struct {
	wire.TransactionReceived
	Original
}

// SendOptions are options of SendTransaction. The zero value is the usual one.
type SendOptions struct {
	// Migrated means that the transaction is history: modification.created_at may have any age.
	Migrated bool
	// IdempotencyKey names the request for 24 hours: it is carried out once, however often it is sent. If it is "", the
	// call makes a key of its own for its repetitions after lost answers.
	IdempotencyKey string
}

// SendTransaction sends one transaction, the JSON object that would be a line of a batch. When it returns, the
// transaction is stored and visible. Repeating the call with another key changes nothing unless the modification was
// sent with another content since; with the same key, it never does. A transaction that breaks a rule is a 400 *Error,
// whose message lists what is wrong; one that is not a JSON object is a 422.
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

// Transaction is a stored transaction with the newest version of each of its modifications, in the byte order of their
// IDs.
type Transaction struct {
	// TransactionExternalID is the ID that the tenant gave the transaction.
	TransactionExternalID string         `json:"transaction_external_id"`
	Modifications         []Modification `json:"modifications"`
}

// Modification is one line of a batch, or one transaction that was sent singly.
type Modification struct {
	wire.StoredModification
	Original
}

// MainEntity is the known entity for which a transaction is monitored.
type MainEntity = wire.MainEntity

// Transaction reads a stored transaction with all its modifications. One that no PROCESSED batch delivered is a 404
// *Error.
func (c *Client) Transaction(ctx context.Context, id string) (Transaction, error) {
	var all Transaction
	for after := ""; ; {
		var page transactionPage
		err := c.call(ctx, http.MethodGet, transactionPath(id, after), nil, &page)
		if err == nil {
			err = page.addTo(&all)
		}
		if err != nil {
			return Transaction{}, err
		}
		if after = page.NextAfter; after == "" {
			return all, nil
		}
	}
}

// transactionPage is a page of a transaction.
type transactionPage struct {
	TransactionExternalID string            `json:"transaction_external_id"`
	Modifications         []json.RawMessage `json:"modifications"`
	NextAfter             string            `json:"next_after"`
}

func (p transactionPage) addTo(all *Transaction) error {
	all.TransactionExternalID = p.TransactionExternalID
	use := decodeItems(&all.Modifications)
	for _, item := range p.Modifications {
		if err := use(item); err != nil {
			return err
		}
	}
	return nil
}

// PaymentTransactions returns a page of the stored transactions of a payment, complete and each once, the one whose
// line with the payment was received last first; and what next is for the page that follows, which is "" for the first
// page and at the end. A page can have no transactions although next is not "". A payment without any is no error.
func (c *Client) PaymentTransactions(ctx context.Context, payment, next string) (page []Transaction, nextPage string,
	err error) {
	query := url.Values{"payment_external_id": {payment}} // a path cannot carry every ID
	if next != "" {
		query.Set("next", next)
	}
	var list struct {
		Items []transactionPage `json:"items"`
		Next  string            `json:"next"`
	}
	path := strings.TrimSuffix(basePath, "/") + "?" + query.Encode()
	if err := c.call(ctx, http.MethodGet, path, nil, &list); err != nil {
		return nil, "", err
	}
	for _, item := range list.Items {
		var t Transaction
		if item.NextAfter != "" {
			t, err = c.Transaction(ctx, item.TransactionExternalID)
		} else {
			err = item.addTo(&t)
		}
		if err != nil {
			return nil, "", err
		}
		page = append(page, t)
	}
	return page, list.Next, nil
}

// transactionPath returns the path and query of a page of a transaction. IDs that no path can carry go into the query.
func transactionPath(id, after string) string {
	query := url.Values{}
	if after != "" {
		query.Set("after", after)
	}
	path := basePath + url.PathEscape(id)
	if id == "." || id == ".." || id == "batch" {
		path = strings.TrimSuffix(basePath, "/")
		query.Set("transaction_external_id", id)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

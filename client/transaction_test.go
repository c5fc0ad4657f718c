package client_test

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"sluice/client"
	"sluice/openapi/wire"
)

// The transaction is sent byte for byte, with the header of migrated history only if that is asked for, and again after
// a temporary failure.
func TestSendTransaction(t *testing.T) {
	s, c, _ := newClient(t)
	const text = "{ \"request_uuid\" :\t\"é<>\" }"
	attempts := 0
	migrated := ""
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/tm/realtime/event/transaction/v3" {
			return false
		}
		attempts++
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != text || r.Method != http.MethodPost ||
			r.Header.Get("Content-Type") != "application/json" || r.Header.Get("migrated-transaction") != migrated {
			t.Errorf("got %s %s with %v, %v; want the transaction as it is", r.Method, body, r.Header, err)
		}
		if attempts == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"request_uuid":"r","payment_external_id":"p","transaction_external_id":"t",`+
			`"modification_guid":"g","modification_external_id":"m"}`)
		return true
	}
	want := client.Receipt{TransactionReceived: wire.TransactionReceived{
		RequestUUID: "r", PaymentExternalID: "p", TransactionExternalID: "t", ModificationGUID: "g",
		ModificationExternalID: "m"}}
	for _, isMigrated := range []bool{false, true} {
		got, err := c.SendTransaction(t.Context(), []byte(text), client.SendOptions{Migrated: isMigrated})
		got.Reply = nil
		if err != nil || got.RequestUUID != want.RequestUUID || got.PaymentExternalID != want.PaymentExternalID ||
			got.TransactionExternalID != want.TransactionExternalID || got.ModificationGUID != want.ModificationGUID ||
			got.ModificationExternalID != want.ModificationExternalID {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
		migrated = "true"
	}
	if attempts != 3 {
		t.Errorf("%d attempts, want 3: the first one failed", attempts)
	}
}

// The reason of a refusal is the message of the error.
func TestSendTransactionRefused(t *testing.T) {
	s, c, _ := newClient(t)
	const reason = "1 validation error for TransactionEventRequest\nsender\n  sender is required. (type=missing)"
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/tm/realtime/event/transaction/v3" {
			return false
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"request_uuid":"","reason":"1 validation error for `+
			`TransactionEventRequest\nsender\n  sender is required. (type=missing)"}`)
		return true
	}
	_, err := c.SendTransaction(t.Context(), nil, client.SendOptions{})
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusBadRequest || refused.Message != reason {
		t.Errorf("got %v, want a 400 with the reason", err)
	}
}

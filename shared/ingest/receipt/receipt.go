// Package receipt makes and verifies the receipts of batches: signed statements about the received file and the
// accepted lines, which anyone who has the file and the published keys can verify without the service
// (docs/contract/batch.md, Receipt).
package receipt

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sluice/shared/kit/jose"
)

// Type is the typ header of a receipt, MediaType its media type, and KeysPath where its keys are published.
const (
	Type      = "sluice-receipt+jwt"
	MediaType = "application/jose"
	KeysPath  = "/receipts/jwks.json"
)

// Claims are the statements of a receipt. Times are in UTC.
type Claims struct {
	// Issuer is the address of the service, and IssuedAt when it has signed, in seconds since 1970.
	Issuer   string `json:"iss"`
	IssuedAt int64  `json:"iat"`
	Tenant   string `json:"tenant"`
	BatchID  string `json:"batch_id"`
	// Status is the terminal status of the batch.
	Status string `json:"status"`
	// ReceivedAt is when the upload was complete; nil if none came.
	ReceivedAt *time.Time `json:"received_at"`
	// EndedAt is when the batch came into its status.
	EndedAt time.Time `json:"ended_at"`
	// FileSHA256 is the digest of the file, unpacked, in hexadecimal digits, and FileBytes its size; nil if it was not
	// read to its end.
	FileSHA256 *string `json:"file_sha256"`
	FileBytes  *int64  `json:"file_bytes"`
	Counts     Counts  `json:"counts"`
	// AcceptedSHA256 is the digest over the accepted lines, in hexadecimal digits; nil if the batch was not processed.
	AcceptedSHA256 *string `json:"accepted_sha256"`
}

// Counts are numbers of transactions of a batch; each is nil if it is not known.
type Counts struct {
	Total    *int64 `json:"total"`
	Accepted *int64 `json:"accepted"`
	Invalid  *int64 `json:"invalid"`
	Ingested *int64 `json:"ingested"`
}

// The reasons for which a receipt does not hold for a file, besides those of jose.Verify. They are matched with
// errors.Is; the error says more.
var (
	// ErrIssuer means that somebody else has issued the receipt.
	ErrIssuer = errors.New("it is of another issuer")
	// ErrClaims means that the claims of the receipt cannot be read.
	ErrClaims = errors.New("its claims are not those of a receipt")
	// ErrNoFile means that the receipt says nothing of a file.
	ErrNoFile = errors.New("it says nothing of a file: the service has not read one to its end")
	// ErrFile means that the receipt is about another file.
	ErrFile = errors.New("it is about another file")
	// ErrLines means that other lines of the file were accepted.
	ErrLines = errors.New("other lines were accepted")
)

// Verify returns the claims of a receipt if the issuer has signed it with one of the keys.
func Verify(text, issuer string, keys jose.JWKSet) (Claims, error) {
	payload, err := jose.Verify(text, Type, keys)
	if err != nil {
		return Claims{}, err
	}
	var c Claims
	if err := json.Unmarshal(payload, &c); err != nil || c.BatchID == "" || c.Status == "" || c.EndedAt.IsZero() {
		return Claims{}, ErrClaims
	}
	if c.Issuer != issuer {
		return Claims{}, fmt.Errorf("%w: %s instead of %s", ErrIssuer, c.Issuer, issuer)
	}
	return c, nil
}

// CheckFile returns nil if the receipt is about the file that has these sums. The error is ErrNoFile or ErrFile.
func (c Claims) CheckFile(s Sums) error {
	if c.FileSHA256 == nil || c.FileBytes == nil {
		return ErrNoFile
	}
	if got := hex.EncodeToString(s.File); got != *c.FileSHA256 || s.Bytes != *c.FileBytes {
		return fmt.Errorf("%w: one of %d bytes with the SHA-256 %s; this file has %d bytes and the SHA-256 %s", ErrFile,
			*c.FileBytes, *c.FileSHA256, s.Bytes, got)
	}
	return nil
}

// CheckLines returns nil if the lines that were taken are those that were accepted, and the others that are not blank
// are rejected ones. The error is ErrLines.
func (c Claims) CheckLines(s Sums, rejected int64) error {
	switch got := hex.EncodeToString(s.Lines); {
	case c.AcceptedSHA256 == nil:
		return fmt.Errorf("%w: the receipt states none", ErrLines)
	case c.Counts.Invalid == nil || c.Counts.Accepted == nil || c.Counts.Total == nil:
		return fmt.Errorf("%w: the receipt does not count them", ErrLines)
	case *c.Counts.Invalid != rejected:
		return fmt.Errorf("%w: the receipt counts %d rejected lines, and these are %d", ErrLines, *c.Counts.Invalid,
			rejected)
	case *c.Counts.Accepted != s.LineCount || *c.Counts.Total != s.LineCount+rejected:
		return fmt.Errorf("%w: the receipt counts %d of %d lines, and these are %d of %d", ErrLines, *c.Counts.Accepted,
			*c.Counts.Total, s.LineCount, s.LineCount+rejected)
	case got != *c.AcceptedSHA256:
		return fmt.Errorf("%w: their SHA-256 is %s, and that of these lines %s", ErrLines, *c.AcceptedSHA256, got)
	}
	return nil
}

// KeySetLifetime is how long anyone may use the published keys without reading them again. A new key is published for
// as long before it signs.
const KeySetLifetime = 5 * time.Minute

// Key is a key that signs receipts. It is published from the time on at which it is stored, and for ever: a receipt can
// be verified as long as anyone has it.
type Key struct {
	// ID is the kid header of the receipts that the key signs.
	ID string
	// KMSKey is the ID or ARN of the key in KMS.
	KMSKey string
	// PublicKey is the public key in PKIX, ASN.1 DER form.
	PublicKey []byte
	// ActiveFrom is when it begins to sign. It signs until another one does.
	ActiveFrom time.Time
}

// ErrNotSigned means that the key did not sign. Another attempt may succeed.
var ErrNotSigned = errors.New("receipt: not signed")

// ErrKeysChanged means that someone else has replaced the keys since they were read.
var ErrKeysChanged = errors.New("receipt: the keys have changed since they were read")

// ActiveKey returns the key that signs at a time: the one that became active last. ok is false if none is active.
func ActiveKey(keys []Key, now time.Time) (active Key, ok bool) {
	for _, k := range keys {
		if !k.ActiveFrom.After(now) && (!ok || k.ActiveFrom.After(active.ActiveFrom)) {
			active, ok = k, true
		}
	}
	return active, ok
}

// AddKey returns the keys with a new one, which signs as soon as every cached copy of the present set has expired; at
// once, if no key is active now. No key is ever left out.
func AddKey(keys []Key, next Key, now time.Time) []Key {
	next.ActiveFrom = now.Add(KeySetLifetime)
	if _, ok := ActiveKey(keys, now); !ok {
		next.ActiveFrom = now
	}
	return append(keys[:len(keys):len(keys)], next)
}

// PublicKeys returns the keys as they are published.
func PublicKeys(keys []Key) (jose.JWKSet, error) {
	set := jose.JWKSet{Keys: make([]jose.JWK, 0, len(keys))}
	for _, k := range keys {
		public, err := jose.ParsePublicKey(k.PublicKey)
		if err != nil {
			return jose.JWKSet{}, fmt.Errorf("receipt key %s: %w", k.ID, err)
		}
		entry, err := jose.NewJWK(k.ID, public)
		if err != nil {
			return jose.JWKSet{}, err
		}
		set.Keys = append(set.Keys, entry)
	}
	return set, nil
}

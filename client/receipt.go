package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"sluice/shared/ingest/receipt"
	"sluice/shared/kit/jose"
)

// ReceiptKeys are the public keys that verify receipts, as a JWK set.
type ReceiptKeys = jose.JWKSet

// ReceiptClaims are what a receipt states (docs/contract/batch.md, Receipt).
type ReceiptClaims = receipt.Claims

// The reasons for which a receipt does not hold. They are matched with errors.Is; the error says more.
var (
	// ErrReceipt means that the receipt itself is not valid: tampered with, of another issuer, or not a receipt.
	ErrReceipt = errors.New("the receipt is not valid")
	// ErrReceiptKey is an ErrReceipt whose key is not among the given ones; newer keys may have it.
	ErrReceiptKey = jose.ErrUnknownKey
	// ErrReceiptFile means that the receipt is valid and does not hold for the file.
	ErrReceiptFile = errors.New("the receipt does not hold for the file")
)

// Receipt returns the receipt of a batch that has ended: a JWS in compact form, always the same.
func (c *Client) Receipt(ctx context.Context, batchID string) (string, error) {
	var text rawReply
	err := c.call(ctx, http.MethodGet, basePath+"batch/receipt/"+url.PathEscape(batchID), nil, &text)
	return string(text), err
}

// rawReply is a reply that is not JSON.
type rawReply []byte

// FetchReceiptKeys returns the keys that a service publishes for its receipts. It needs no credentials. A nil client
// stands for one with the usual time limits.
func FetchReceiptKeys(ctx context.Context, hc *http.Client, apiURL string) (ReceiptKeys, error) {
	if hc == nil {
		hc = newHTTPClient()
	}
	c := &Client{config: Config{APIURL: strings.TrimRight(apiURL, "/"), HTTP: hc}}
	var keys ReceiptKeys
	err := c.callOnce(ctx, http.MethodGet, receipt.KeysPath, "", nil, nil, &keys)
	return keys, err
}

// VerifyReceipt returns what a receipt states if one of the keys has signed it for the issuer, the address of the API.
// The error is ErrReceipt.
func VerifyReceipt(text, issuer string, keys ReceiptKeys) (ReceiptClaims, error) {
	claims, err := receipt.Verify(text, strings.TrimRight(issuer, "/"), keys)
	if err != nil {
		return ReceiptClaims{}, fmt.Errorf("%w: %w", ErrReceipt, err)
	}
	return claims, nil
}

// CheckReceiptFile reads the file of a batch, unpacked, and returns nil if its receipt holds for it. rejected are the
// numbers of the lines that the validation report lists, from 1. Without them, the lines are checked only if none was
// rejected; linesChecked says whether they were. The error is ErrReceiptFile, or that of reading the file.
func CheckReceiptFile(claims ReceiptClaims, file io.Reader, rejected map[int64]bool) (linesChecked bool, err error) {
	digest := receipt.NewDigest(func(line int64) bool { return !rejected[line] })
	if _, err := io.Copy(digest, file); err != nil {
		return false, err
	}
	sums := digest.Sum()
	if err := claims.CheckFile(sums); err != nil {
		return false, fmt.Errorf("%w: %w", ErrReceiptFile, err)
	}
	if claims.AcceptedSHA256 == nil || rejected == nil && (claims.Counts.Invalid == nil || *claims.Counts.Invalid > 0) {
		return false, nil
	}
	if err := claims.CheckLines(sums, int64(len(rejected))); err != nil {
		return true, fmt.Errorf("%w: %w", ErrReceiptFile, err)
	}
	return true, nil
}

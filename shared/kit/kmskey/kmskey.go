// Package kmskey signs with keys that never leave KMS.
package kmskey

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"errors"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
)

// API is the part of the KMS client that a Signer needs.
type API interface {
	// Sign is the operation Sign of KMS, which may be called at the same time and repeated.
	Sign(ctx context.Context, in *kms.SignInput, opts ...func(*kms.Options)) (*kms.SignOutput, error)
}

// Signer is a crypto.Signer on a P-256 key in KMS. It carries the context of the one operation that it is made for,
// because crypto.Signer has no parameter for it.
type Signer struct {
	Context context.Context
	KMS     API
	// KeyID is the ID or ARN of the key.
	KeyID     string
	PublicKey *ecdsa.PublicKey
}

var _ crypto.Signer = (*Signer)(nil)

// Public implements crypto.Signer.
func (s *Signer) Public() crypto.PublicKey { return s.PublicKey }

// Sign implements crypto.Signer for SHA-256 digests. The signature is in ASN.1 DER form.
func (s *Signer) Sign(_ io.Reader, digest []byte, options crypto.SignerOpts) ([]byte, error) {
	if options.HashFunc() != crypto.SHA256 || len(digest) != sha256.Size {
		return nil, errors.New("kmskey: a key in KMS signs SHA-256 digests only")
	}
	out, err := s.KMS.Sign(s.Context, &kms.SignInput{
		KeyId: &s.KeyID, Message: digest, MessageType: types.MessageTypeDigest,
		SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha256,
	})
	if err != nil {
		return nil, err
	}
	return out.Signature, nil
}

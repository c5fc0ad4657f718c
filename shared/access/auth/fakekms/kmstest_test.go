package fakekms_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"sluice/shared/access/auth/fakekms"
	"sluice/shared/kit/errtest"
)

func open(t *testing.T, dir string) (*fakekms.Server, *kms.Client) {
	t.Helper()
	s := errtest.Must(fakekms.New(dir))(t)
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return s, kms.New(kms.Options{
		Region: "local", BaseEndpoint: &web.URL, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
	})
}

func sign(ctx context.Context, c *kms.Client, id string, digest []byte) ([]byte, error) {
	out, err := c.Sign(ctx, &kms.SignInput{KeyId: &id, Message: digest, MessageType: types.MessageTypeDigest,
		SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha256})
	if err != nil {
		return nil, err
	}
	return out.Signature, nil
}

// A key made by one server signs on the next one over the same folder, and its published half verifies it.
func TestKeysSurviveARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	_, maker := open(t, dir)
	made := errtest.Must(maker.CreateKey(t.Context(), &kms.CreateKeyInput{
		KeySpec: types.KeySpecEccNistP256, KeyUsage: types.KeyUsageTypeSignVerify,
		Tags: []types.Tag{{TagKey: aws.String("sluice-signing"), TagValue: aws.String("sluice")}},
	}))(t)
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 { // the key and its tags
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}

	s, c := open(t, dir)
	if arn := *made.KeyMetadata.Arn; s.TagOf(arn, "Sluice-Signing") != "sluice" || s.TagOf(arn, "other") != "" ||
		s.TagOf("none", "sluice-signing") != "" {
		t.Errorf("tags: %q, %q, %q", s.TagOf(arn, "Sluice-Signing"), s.TagOf(arn, "other"),
			s.TagOf("none", "sluice-signing"))
	}
	for _, id := range []string{*made.KeyMetadata.KeyId, *made.KeyMetadata.Arn} {
		digest := sha256.Sum256([]byte(id))
		signature := errtest.Must(sign(t.Context(), c, id, digest[:]))(t)
		published := errtest.Must(c.GetPublicKey(t.Context(), &kms.GetPublicKeyInput{KeyId: &id}))(t)
		public, err := x509.ParsePKIXPublicKey(published.PublicKey)
		if err != nil || !ecdsa.VerifyASN1(public.(*ecdsa.PublicKey), digest[:], signature) {
			t.Errorf("signature by %s does not verify: %v", id, err)
		}
	}
}

func TestEnsureKeepsAKey(t *testing.T) {
	dir := t.TempDir()
	var before []byte
	for range 2 {
		s, c := open(t, dir)
		errtest.Fatal(t, s.Ensure("signing"))
		out := errtest.Must(c.GetPublicKey(t.Context(), &kms.GetPublicKeyInput{KeyId: aws.String("signing")}))(t)
		if before != nil && string(before) != string(out.PublicKey) {
			t.Error("the key changed")
		}
		before = out.PublicKey
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	s, c := open(t, dir)
	errtest.Fatal(t, s.Ensure("signing"))
	for _, id := range []string{"../escape", "", "a.b"} {
		if s.Ensure(id) == nil {
			t.Errorf("the key ID %q was taken", id)
		}
	}
	digest := sha256.Sum256(nil)

	var missing *types.NotFoundException
	for _, id := range []string{"another", "../keys/signing"} {
		if _, err := sign(t.Context(), c, id, digest[:]); !errors.As(err, &missing) {
			t.Errorf("key %q: %v", id, err)
		}
	}
	for _, n := range []int{sha256.Size - 1, sha256.Size + 1} {
		errtest.Fails(t, fmt.Sprintf("a digest of %d bytes was signed", n),
			errtest.Of(sign(t.Context(), c, "signing", make([]byte, n))))
	}
	for name, in := range map[string]*kms.SignInput{
		"a raw message": {MessageType: types.MessageTypeRaw,
			SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha256},
		"another algorithm": {MessageType: types.MessageTypeDigest,
			SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha384},
	} {
		in.KeyId, in.Message = aws.String("signing"), digest[:]
		errtest.Fails(t, name+" was signed", errtest.Of(c.Sign(t.Context(), in)))
	}
	errtest.Fails(t, "a symmetric key was made", errtest.Of(c.CreateKey(t.Context(), &kms.CreateKeyInput{})))
	errtest.Fails(t, "a signing key encrypted",
		errtest.Of(c.Encrypt(t.Context(), &kms.EncryptInput{KeyId: aws.String("signing"), Plaintext: []byte("x")})))

	errtest.Fatal(t, os.WriteFile(filepath.Join(dir, "broken"), []byte("no key"), 0o600))
	var internal *types.KMSInternalException
	if _, err := sign(t.Context(), c, "broken", digest[:]); !errors.As(err, &internal) {
		t.Errorf("a broken key: %v", err)
	}
}

// A symmetric key opens texts that it has sealed, also after a restart, and only in the same encryption context.
func TestEncryptAndDecrypt(t *testing.T) {
	dir := t.TempDir()
	s, c := open(t, dir)
	for _, id := range []string{"secrets", "secrets", "others"} {
		errtest.Fatal(t, s.EnsureSymmetric(id))
	}
	arn, inContext := aws.String(fakekms.ARN("secrets")), map[string]string{"tenant": "t", "purpose": "p"}
	sealed, err := c.Encrypt(t.Context(), &kms.EncryptInput{KeyId: arn, Plaintext: []byte("text"),
		EncryptionContext: inContext})
	if err != nil || bytes.Contains(sealed.CiphertextBlob, []byte("text")) {
		t.Fatalf("%q, %v", sealed.CiphertextBlob, err)
	}
	_, c = open(t, dir)
	for _, key := range []*string{nil, arn, aws.String("secrets")} {
		out, err := c.Decrypt(t.Context(), &kms.DecryptInput{
			KeyId: key, CiphertextBlob: sealed.CiphertextBlob, EncryptionContext: inContext,
		})
		if err != nil || string(out.Plaintext) != "text" {
			t.Errorf("by the key %v: %v, %v", key, out, err)
		}
	}
	damaged := bytes.Clone(sealed.CiphertextBlob)
	damaged[len(damaged)-1] ^= 1
	for name, in := range map[string]*kms.DecryptInput{
		"another context": {CiphertextBlob: sealed.CiphertextBlob,
			EncryptionContext: map[string]string{"tenant": "u", "purpose": "p"}},
		"no context": {CiphertextBlob: sealed.CiphertextBlob},
		"another key": {KeyId: aws.String("others"), CiphertextBlob: sealed.CiphertextBlob,
			EncryptionContext: inContext},
		"a damaged text":     {CiphertextBlob: damaged, EncryptionContext: inContext},
		"the beginning only": {CiphertextBlob: damaged[:5], EncryptionContext: inContext},
	} {
		if out, err := c.Decrypt(t.Context(), in); err == nil {
			t.Errorf("%s: opened as %q", name, out.Plaintext)
		}
	}
	errtest.Fails(t, "encrypted 4097 bytes",
		errtest.Of(c.Encrypt(t.Context(), &kms.EncryptInput{KeyId: arn, Plaintext: make([]byte, 4097)})))
	errtest.Fails(t, "a symmetric key signed", errtest.Of(sign(t.Context(), c, "secrets", make([]byte, 32))))
}

package receipts

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/service"
	"sluice/internal/command"
)

// findIssuer sets the issuer, unless a flag gave it, to the service that other commands call: that of SLUICE_API_URL,
// or of the profile that SLUICE_PROFILE names, or the local cloud, or else that of the default profile. No secret is
// used.
func (v *verifyRun) findIssuer() error {
	v.issuer = cmp.Or(v.issuer, os.Getenv("SLUICE_API_URL"))
	if v.issuer != "" {
		return nil
	}
	name := os.Getenv("SLUICE_PROFILE")
	if name == "" {
		local, err := service.FindLocalCloud(os.Getenv("SLUICE_DATA"))
		if err != nil {
			return err
		}
		if local != nil {
			v.issuer = local.APIURL
			return nil
		}
	}
	p, err := service.ReadProfile(cmp.Or(name, service.DefaultProfile))
	if name == "" && errors.Is(err, fs.ErrNotExist) {
		return command.Usagef("--issuer is needed: the URL of the API that has issued the receipt")
	}
	v.issuer = p.APIURL
	return err
}

// verify returns the claims of a receipt that one of the keys has signed: of those of the file, or of those in the
// cache and, if they have not, of those that the issuer publishes now.
func (v *verifyRun) verify(ctx context.Context, text string) (client.ReceiptClaims, error) {
	if v.keysPath != "" {
		keys, err := readAll(ctx, v.keysPath)
		if err != nil {
			return client.ReceiptClaims{}, err
		}
		set, err := parseKeys(keys)
		if err != nil {
			return client.ReceiptClaims{}, fmt.Errorf("%s: %w", files.DisplayName(v.keysPath), err)
		}
		return client.VerifyReceipt(text, v.issuer, set)
	}
	cache := v.cachePath()
	if kept, err := os.ReadFile(cache); err == nil {
		if set, err := parseKeys(kept); err == nil {
			claims, err := client.VerifyReceipt(text, v.issuer, set)
			if !errors.Is(err, client.ErrReceiptKey) {
				return claims, err
			}
		}
	}
	set, err := client.FetchReceiptKeys(ctx, nil, v.issuer)
	if err != nil {
		return client.ReceiptClaims{}, fmt.Errorf("fetch the keys of receipts (or give them with --keys): %w", err)
	}
	if kept, err := json.Marshal(set); err == nil && cache != "" {
		// What cannot be kept is fetched again.
		if os.MkdirAll(filepath.Dir(cache), 0o700) == nil {
			_ = os.WriteFile(cache, kept, 0o600)
		}
	}
	return client.VerifyReceipt(text, v.issuer, set)
}

// cachePath returns where the keys of the issuer are kept; "" if there is no such place.
func (v *verifyRun) cachePath() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(v.issuer))
	return filepath.Join(dir, "sluice", "receipt-keys", hex.EncodeToString(sum[:8])+".json")
}

// parseKeys reads a JWK set.
func parseKeys(text []byte) (client.ReceiptKeys, error) {
	var set client.ReceiptKeys
	switch err := json.Unmarshal(text, &set); {
	case err != nil || set.Keys == nil:
		return set, errors.New("it is not a JWK set, as /receipts/jwks.json has it")
	case len(set.Keys) == 0:
		return set, errors.New("it is a JWK set without keys: it was fetched before the service had signed a " +
			"receipt, or from another service; fetch /receipts/jwks.json again")
	}
	return set, nil
}

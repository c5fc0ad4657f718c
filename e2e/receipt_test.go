package e2e

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/client"
)

// receiptClaims are the claims of a receipt, by their names on the wire.
type receiptClaims struct {
	Iss            string           `json:"iss"`
	Iat            int64            `json:"iat"`
	Tenant         string           `json:"tenant"`
	BatchID        string           `json:"batch_id"`
	Status         string           `json:"status"`
	ReceivedAt     *time.Time       `json:"received_at"`
	EndedAt        time.Time        `json:"ended_at"`
	FileSHA256     *string          `json:"file_sha256"`
	FileBytes      *int64           `json:"file_bytes"`
	Counts         map[string]int64 `json:"counts"`
	AcceptedSHA256 *string          `json:"accepted_sha256"`
}

// verifyReceipt verifies a receipt with the published keys, by the standard library alone, and returns its claims.
func verifyReceipt(t *testing.T, text string) receiptClaims {
	t.Helper()
	keys, replied := publishedKeys(t, "/receipts/jwks.json")
	got := replied.Get("Cache-Control")
	assert(t, got == "public, max-age=240", "the keys have Cache-Control %q, want public, max-age=240", got)
	parts := strings.Split(text, ".")
	require(t, len(parts) == 3, "the receipt %q has %d parts, want 3", text, len(parts))
	var header struct{ Alg, Typ, Kid string }
	err := json.Unmarshal(decodeBase64(t, parts[0]), &header)
	require(t, err == nil && header.Alg == "ES256" && header.Typ == "sluice-receipt+jwt",
		"the header is %+v, %v, want ES256 and sluice-receipt+jwt", header, err)
	if !slices.ContainsFunc(keys, func(k publishedKey) bool {
		return k.Kid == header.Kid && k.verifies(t, parts[0]+"."+parts[1], decodeBase64(t, parts[2]))
	}) {
		t.Fatalf("no published key verifies the receipt %s", text)
	}
	d := json.NewDecoder(bytes.NewReader(decodeBase64(t, parts[1])))
	d.DisallowUnknownFields()
	var claims receiptClaims
	must(t, d.Decode(&claims))
	return claims
}

// receipt returns the receipt of a batch that has ended.
func (s *session) receipt(batchID string) string {
	s.t.Helper()
	r := s.expect(http.StatusOK, "GET", transactionsPath+"batch/receipt/"+batchID, "")
	kind := r.header.Get("Content-Type")
	require(s.t, kind == "application/jose", "receipt: %s, want application/jose: %s", kind, r.text)
	return string(r.text)
}

func hexDigest(text string) *string {
	sum := sha256.Sum256([]byte(text))
	digest := hex.EncodeToString(sum[:])
	return &digest
}

// A receipt states the digests of a file as it was sent and of the lines that were accepted. The same one is returned
// whenever it is asked for, also by those who ask first at the same time.
func TestReceipts(t *testing.T) {
	api := begin(t)
	first, second := validLine().String(), "\t"+validLine().String()+" \r"
	file := "\xEF\xBB\xBF" + first + "\n\n \r\nnonsense\n" + second + "\n" +
		validLine().with("ip_address", "nowhere").String()
	accepted := first + "\n" + second + "\n"

	u := api.newUpload(false)
	api.expect(http.StatusConflict, "GET", transactionsPath+"batch/receipt/"+u.BatchID, "")
	expectPut(t, 200, u, []byte(file))
	last := api.expectEnd("PROCESSED", u.BatchID)
	texts := make([]string, 3)
	var group sync.WaitGroup
	for i := range texts {
		group.Go(func() { texts[i] = api.receipt(u.BatchID) })
	}
	group.Wait()
	if again := api.receipt(u.BatchID); texts[0] != again || texts[1] != again || texts[2] != again {
		t.Errorf("got the receipts %q and %q, want one", texts, again)
	}
	got := verifyReceipt(t, texts[0])
	size := int64(len(file))
	want := receiptClaims{
		Iss: environment.APIURL, Iat: got.Iat, Tenant: environment.TenantID, BatchID: u.BatchID, Status: "PROCESSED",
		ReceivedAt: last.ReceivedAt, EndedAt: last.UpdatedAt, FileSHA256: hexDigest(file), FileBytes: &size,
		Counts:         map[string]int64{"total": 4, "accepted": 2, "invalid": 2, "ingested": 2},
		AcceptedSHA256: hexDigest(accepted),
	}
	equal(t, "claims", want, got)
	expectVerified(t, texts[0], file, api.report(u.BatchID))
	if now := time.Now().Unix(); got.Iat > now || got.Iat < now-600 {
		t.Errorf("the receipt was signed at %d, want a moment before %d", got.Iat, now)
	}
	loginNewTenant(t).expect(http.StatusNotFound, "GET", transactionsPath+"batch/receipt/"+u.BatchID, "")
}

// expectVerified verifies a receipt by the command line, with the published keys and the report, and another file that
// it does not hold for.
func expectVerified(t *testing.T, text, file string, report []client.ReportLine) {
	t.Helper()
	var lines strings.Builder
	for _, l := range report {
		fmt.Fprintf(&lines, "{\"line\":%d}\n", l.Line)
	}
	resp := ok(http.Get(environment.APIURL + "/receipts/jwks.json"))(t)
	defer resp.Body.Close()
	keys := ok(io.ReadAll(resp.Body))(t)
	dir := t.TempDir()
	for name, content := range map[string]string{"keys": string(keys), "receipt": text, "file": file,
		"other": file + "\n", "report": lines.String()} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	for name, want := range map[string]int{"file": 0, "other": 1} {
		stdout, stderr, code, err := environment.runSluice("verify", filepath.Join(dir, "receipt"),
			filepath.Join(dir, name), "--report", filepath.Join(dir, "report"), "--keys", filepath.Join(dir, "keys"),
			"--issuer", environment.APIURL)
		assert(t, code == want && err == nil, "sluice verify %s: exit %d, %v: %s%s, want %d", name, code, err, stdout,
			stderr, want)
	}
}

// Every batch that has ended has a receipt. One that was not processed has accepted nothing, and one whose file was
// refused says nothing of it.
func TestReceiptsOfOtherEnds(t *testing.T) {
	api := begin(t)
	for _, tt := range []struct {
		status, file string
		digest       *string
		counts       string
	}{
		{"VALIDATION_FAILED", validLine().String() + "\nnonsense\n", nil,
			"map[accepted:1 ingested:0 invalid:1 total:2]"},
		{"ERROR", eicar, nil, "map[accepted:0 ingested:0 invalid:0 total:0]"},
	} {
		b := api.expectProcess(tt.status, []byte(tt.file))
		got := verifyReceipt(t, api.receipt(b.BatchID))
		hasFile := tt.status != "ERROR"
		assert(t, got.Status == tt.status && got.AcceptedSHA256 == nil && fmt.Sprint(got.Counts) == tt.counts &&
			(got.FileSHA256 != nil) == hasFile && (got.FileBytes != nil) == hasFile && got.ReceivedAt != nil,
			"%s: got the claims %+v, want nothing accepted, the counts %s and a file: %v", tt.status, got, tt.counts,
			hasFile)
		if hasFile && *got.FileSHA256 != *hexDigest(tt.file) {
			t.Errorf("%s: the digest of the file is %s, want %s", tt.status, *got.FileSHA256, *hexDigest(tt.file))
		}
	}
}

// publishedKey is a key of a set that the service publishes, for signatures by ES256.
type publishedKey struct{ Kid, Kty, Crv, X, Y string }

// publishedKeys returns the keys at a path of the API, and the header of the reply.
func publishedKeys(t *testing.T, path string) ([]publishedKey, http.Header) {
	t.Helper()
	resp := ok(http.Get(environment.APIURL + path))(t)
	var set struct{ Keys []publishedKey }
	decodeReply(t, resp, http.StatusOK, &set)
	return set.Keys, resp.Header
}

// verifies reports whether a text has a signature of the key.
func (k publishedKey) verifies(t *testing.T, text string, signature []byte) bool {
	t.Helper()
	point := append(append([]byte{4}, decodeBase64(t, k.X)...), decodeBase64(t, k.Y)...)
	public := ok(ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point))(t)
	digest := sha256.Sum256([]byte(text))
	number := func(raw []byte) *big.Int { return new(big.Int).SetBytes(raw) }
	return len(signature) == 64 && ecdsa.Verify(public, digest[:], number(signature[:32]), number(signature[32:]))
}

// decodeBase64 decodes a part of a token or of a key.
func decodeBase64(t *testing.T, text string) []byte {
	t.Helper()
	raw := ok(base64.RawURLEncoding.DecodeString(text))(t)
	return raw
}

package receipts

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"sluice/cmd/sluice/internal/commandtest"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/service"
	"sluice/internal/command"
	"sluice/shared/ingest/receipt"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/jose"
)

// receiptFixture is a folder with a receipt, its file in all forms, its report and its keys.
type receiptFixture struct {
	t      *testing.T
	dir    string
	key    *ecdsa.PrivateKey
	claims receipt.Claims
}

const (
	receiptIssuer   = "https://api.test/live"
	receiptFile     = "\xEF\xBB\xBF{1}\r\n\nnonsense\n{2}\nbad"
	receiptAccepted = "{1}\r\n{2}\n"
	receiptReport   = `{"line":3,"errors":[]}` + "\n" + `{"line":5,"codes":["x"]}` + "\n"
)

func hexSum(text string) *string {
	sum := sha256.Sum256([]byte(text))
	digits := hex.EncodeToString(sum[:])
	return &digits
}

func newReceiptFixture(t *testing.T) *receiptFixture {
	t.Helper()
	key := errtest.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	number := func(n int64) *int64 { return &n }
	f := &receiptFixture{t: t, dir: t.TempDir(), key: key, claims: receipt.Claims{
		Issuer: receiptIssuer, Tenant: "t", BatchID: "b", Status: "PROCESSED", EndedAt: time.Now(),
		FileSHA256: hexSum(receiptFile), FileBytes: number(int64(len(receiptFile))),
		AcceptedSHA256: hexSum(receiptAccepted),
		Counts:         receipt.Counts{Total: number(4), Accepted: number(2), Invalid: number(2), Ingested: number(2)},
	}}
	f.write("receipt", f.sign(key, f.claims)+"\n")
	f.write("keys", f.keySet(key, "k"))
	f.write("file", receiptFile)
	f.write("report", receiptReport)
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write([]byte(receiptFile))
	w.Close()
	f.write("file.gz", gz.String())
	zw := errtest.Must(zstd.NewWriter(nil))(t)
	f.write("file.zst", string(zw.EncodeAll([]byte(receiptFile), nil)))
	return f
}

func (f *receiptFixture) write(name, text string) {
	f.t.Helper()
	errtest.Fatal(f.t, os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600))
}

func (f *receiptFixture) sign(key *ecdsa.PrivateKey, claims any) string {
	f.t.Helper()
	text, err := jose.Sign(key, jose.Header{Algorithm: jose.ES256, Type: receipt.Type, KeyID: "k"}, claims)
	errtest.Fatal(f.t, err)
	return text
}

func (f *receiptFixture) keySet(key *ecdsa.PrivateKey, id string) string {
	f.t.Helper()
	public := errtest.Must(jose.NewJWK(id, &key.PublicKey))(f.t)
	text := errtest.Must(json.Marshal(jose.JWKSet{Keys: []jose.JWK{public}}))(f.t)
	return string(text)
}

// verify runs the command in the folder; names of files are marked by @.
func (f *receiptFixture) verify(args ...string) (code int, out string) {
	f.t.Helper()
	for i, arg := range args {
		if name, ok := strings.CutPrefix(arg, "@"); ok {
			args[i] = filepath.Join(f.dir, name)
		}
	}
	var stdout, stderr bytes.Buffer
	code = commandtest.Run(context.Background(), Commands(), append([]string{"verify"}, args...), &stdout, &stderr)
	return code, stdout.String() + stderr.String()
}

func TestVerify(t *testing.T) {
	t.Parallel()
	f := newReceiptFixture(t)
	valid := f.claims
	invalid := *f.claims.Counts.Invalid - 2
	total := *f.claims.Counts.Accepted
	valid.Counts.Invalid, valid.Counts.Total = &invalid, &total
	valid.FileSHA256, valid.FileBytes = hexSum(receiptAccepted), new(int64(len(receiptAccepted)))
	failed := f.claims
	failed.Status, failed.AcceptedSHA256 = "VALIDATION_FAILED", nil
	noFile := failed
	noFile.Status, noFile.FileSHA256, noFile.FileBytes = "ERROR", nil, nil
	stranger := errtest.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	good := f.sign(f.key, f.claims)
	parts := strings.Split(good, ".")
	forged := errtest.Must(json.Marshal(valid))(t)
	encode := base64.RawURLEncoding.EncodeToString
	for name, text := range map[string]string{
		"valid": f.sign(f.key, valid), "failed": f.sign(f.key, failed), "nofile": f.sign(f.key, noFile),
		"stranger": f.sign(stranger, f.claims), "tampered": parts[0] + "." + encode(forged) + "." + parts[2],
		"none":     encode([]byte(`{"alg":"none","typ":"sluice-receipt+jwt","kid":"k"}`)) + "." + parts[1] + ".",
		"strange":  f.keySet(stranger, "s"),
		"accepted": receiptAccepted, "other": receiptFile + " ", "broken.gz": "\x1f\x8b\x08\x00 damaged",
		"short": `{"line":3}` + "\n", "shifted": `{"line":3}` + "\n" + `{"line":4}` + "\n",
		"twice": `{"line":3}` + "\n" + `{"line":3}` + "\n",
	} {
		f.write(name, text)
	}
	for _, tt := range []struct {
		name, receipt, file string
		more                []string
		code                int
		want                string
	}{
		{"all valid", "valid", "accepted", nil, 0, "The 2 accepted lines are those of the receipt."},
		{"with its report", "receipt", "file", []string{"--report", "@report"}, 0,
			"The 2 accepted lines are those of the receipt."},
		{"without its report", "receipt", "file", nil, 0, "was not checked"},
		{"gzip", "receipt", "file.gz", []string{"--report", "@report"}, 0, "The 2 accepted lines"},
		{"zstd", "receipt", "file.zst", []string{"--report", "@report"}, 0, "The 2 accepted lines"},
		{"a slash after the issuer", "receipt", "file", []string{"--issuer", receiptIssuer + "/"}, 0, "Verified"},
		{"JSON", "receipt", "file", []string{"--json", "--report", "@report"}, 0, `"lines_checked": true`},
		{"nothing accepted", "failed", "file", nil, 0, "None of its lines was accepted."},
		{"another file", "receipt", "other", nil, 1, "it is about another file"},
		{"another file as JSON", "receipt", "other", []string{"--json"}, 1, `"verified": false`},
		{"no file in the receipt", "nofile", "file", nil, 1, "says nothing of a file"},
		{"the report of another batch", "receipt", "file", []string{"--report", "@short"}, 1,
			"counts 2 rejected lines, and these are 1"},
		{"other rejected lines", "receipt", "file", []string{"--report", "@shifted"}, 1, "other lines were accepted"},
		{"tampered", "tampered", "accepted", nil, 1, "its signature is not valid"},
		{"alg none", "none", "file", nil, 1, `the algorithm is "none"`},
		{"another key of that ID", "stranger", "file", nil, 1, "its signature is not valid"},
		{"the keys of another service", "receipt", "file", []string{"--keys", "@strange"}, 1, "fetch them again"},
		{"another issuer", "receipt", "file", []string{"--issuer", "https://else.test"}, 1, "it is of another issuer"},
		{"no receipt", "file", "file", nil, 1, "is not a JWS"},
		{"a missing receipt", "missing", "file", nil, 2, "no such file"},
		{"a missing file", "receipt", "missing", nil, 2, "no such file"},
		{"a missing report", "receipt", "file", []string{"--report", "@missing"}, 2, "no such file"},
		{"no keys", "receipt", "file", []string{"--keys", "@report"}, 2, "not a JWK set"},
		{"a report with a line twice", "receipt", "file", []string{"--report", "@twice"}, 2, "not a validation report"},
		{"a damaged file", "receipt", "broken.gz", nil, 2, "damaged"},
		{"two standard inputs", "receipt", "file", []string{"--report", "-", "--keys", "-"}, 2, "only one input"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"@" + tt.receipt, "@" + tt.file, "--keys", "@keys", "--issuer", receiptIssuer},
				tt.more...)
			if code, out := f.verify(args...); code != tt.code || !strings.Contains(out, tt.want) {
				t.Errorf("got the exit code %d and %q, want %d and %q", code, out, tt.code, tt.want)
			}
		})
	}
}

// Files in the wrong order and key sets without keys are refused with the reason.
func TestVerifyRefusesOtherFiles(t *testing.T) {
	f := newReceiptFixture(t)
	f.write("no keys", `{"keys":[]}`)
	f.write("large", strings.Repeat("x", 1<<20+1))
	for _, test := range []struct {
		name, want string
		args       []string
	}{
		{"swapped", "the receipt comes first, then the file: sluice verify " +
			files.ShellName(filepath.Join(f.dir, "receipt")),
			[]string{"@file", "@receipt"}},
		{"large and swapped", "the receipt comes first", []string{"@large", "@receipt"}},
		{"too large", "large has more than 1048576 bytes", []string{"@large", "@file"}},
		{"no file", "no such file", []string{"@nothing", "@file"}},
		{"an empty key set", "it is a JWK set without keys", []string{"@receipt", "@file", "--keys", "@no keys"}},
		{"no key set", "it is not a JWK set", []string{"@receipt", "@file", "--keys", "@report"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, out := f.verify(append(test.args, "--issuer", receiptIssuer)...)
			if code != command.ExitFailed || !strings.Contains(out, test.want) {
				t.Errorf("got the exit code %d and %q, want 2 and %q", code, out, test.want)
			}
		})
	}
}

// Without --issuer, a receipt must be of the service that 'sluice login' stored.
func TestVerifyFindsIssuerInProfile(t *testing.T) {
	f := newReceiptFixture(t)
	for _, name := range []string{"XDG_CONFIG_HOME", "HOME"} {
		t.Setenv(name, f.dir)
	}
	for _, name := range []string{"SLUICE_API_URL", "SLUICE_PROFILE", "SLUICE_DATA"} {
		t.Setenv(name, "")
	}
	t.Chdir(f.dir) // where no local cloud runs
	verify := func(wantCode int, want string) {
		t.Helper()
		difftest.Reply(t, "exit code", wantCode, want)(f.verify("@receipt", "@file", "--keys", "@keys"))
	}
	verify(2, "--issuer is needed")
	for name, url := range map[string]string{service.DefaultProfile: receiptIssuer, "other": "https://else.test"} {
		errtest.Fatal(t, errtest.Of((service.Profile{APIURL: url}).Store(name)))
	}
	verify(0, "Verified")
	t.Setenv("SLUICE_PROFILE", "other")
	verify(1, "it is of another issuer")
	t.Setenv("SLUICE_PROFILE", "missing")
	verify(2, "there is no profile missing")
	t.Setenv("SLUICE_API_URL", receiptIssuer)
	verify(0, "Verified")
}

// Without --keys, the keys are fetched once, and again only for a receipt of another key.
func TestVerifyFetchesKeys(t *testing.T) {
	f := newReceiptFixture(t)
	t.Setenv("XDG_CACHE_HOME", f.dir)
	t.Setenv("HOME", f.dir)
	published, fetched := f.keySet(f.key, "old"), 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fetched++; r.URL.Path != "/receipts/jwks.json" || r.Header.Get("Authorization") != "" {
			t.Errorf("got a request for %s with %v, want the keys without a token", r.URL, r.Header)
		}
		w.Write([]byte(published))
	}))
	f.claims.Issuer = server.URL
	f.write("receipt", f.sign(f.key, f.claims))
	verify := func(wantCode, wantFetched int) {
		t.Helper()
		code, _ := f.verify("@receipt", "@file", "--issuer", server.URL)
		difftest.Equal(t, "the exit code", []any{wantCode, wantFetched}, []any{code, fetched})
	}
	verify(1, 1) // the key is not published
	published = f.keySet(f.key, "k")
	verify(0, 2)
	server.Close()
	verify(0, 2) // offline
	other := errtest.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	text, err := jose.Sign(other, jose.Header{Algorithm: jose.ES256, Type: receipt.Type, KeyID: "new"}, f.claims)
	errtest.Fatal(t, err)
	f.write("receipt", text)
	verify(2, 2) // offline, and the key is not known
}

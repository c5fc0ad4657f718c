package adapter_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
	"sluice/shared/screening/adapter"
)

const (
	// encryptionKey and authenticationKey are the Base64 of "encryption-key-for-tests-32bytes" and of
	// "authentication-key-for-test-32by".
	encryptionKey     = "ZW5jcnlwdGlvbi1rZXktZm9yLXRlc3RzLTMyYnl0ZXM="
	authenticationKey = "YXV0aGVudGljYXRpb24ta2V5LWZvci10ZXN0LTMyYnk="
	batchID           = "0b6f3f5e-54b1-4d5b-8a3e-0d8a1f5f9b11"
)

func newKeys(t testing.TB) *adapter.Keys {
	t.Helper()
	keys, err := adapter.ParseKeys(encryptionKey, authenticationKey)
	errtest.Fatal(t, err)
	return keys
}

// sealedByOthers is a response that openssl has sealed: base64 -w0 | openssl enc -aes-256-cbc, openssl dgst -sha256
// -hmac.
var sealedByOthers = adapter.Sealed{
	Data: "Wi3WVu60d0seduognPxXBjwysSJK0A7ueWSbeF13qOVaHYTHM3jhuHEs8iDMgKpYUqSU3+s7u9reoFx/EaibI1kfbdpsH41vIAeQ" +
		"k/bO7M+aAJJuLzggTDmZ3XmrK2za",
	IV:  "AAECAwQFBgcICQoLDA0ODw==",
	MAC: "ojIFwgyo9W5c/9yYUsHEorwjEAPpwLHOUjRVBBWD93M=",
}

func TestOpenWhatOthersSeal(t *testing.T) {
	packed, err := newKeys(t).Open(sealedByOthers)
	if want := `{"batchId":"` + batchID + `","matches":[]}`; err != nil || string(packed) != want {
		t.Errorf("got %q, %v, want %q", packed, err, want)
	}
}

func TestSealAndOpen(t *testing.T) {
	keys := newKeys(t)
	for _, text := range []string{"", "x", strings.Repeat("x", 11), strings.Repeat("x", 12), strings.Repeat("x", 13),
		strings.Repeat(`{"batchId":`, 1000)} {
		for _, compress := range []bool{false, true} {
			t.Run(fmt.Sprint(len(text), compress), func(t *testing.T) {
				sealed, err := keys.Seal([]byte(text), compress)
				errtest.Fatal(t, err)
				packed, err := keys.Open(sealed)
				errtest.Fatal(t, err)
				if got, err := adapter.Unpack(packed); err != nil || string(got) != text {
					t.Errorf("got %q, %v, want %q", got, err, text)
				}
				if again, err := keys.Seal([]byte(text), compress); err != nil || again.IV == sealed.IV ||
					again.Data == sealed.Data {
					t.Errorf("sealing twice gives the same bytes: %v", err)
				}
			})
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	keys := newKeys(t)
	other, err := adapter.ParseKeys(authenticationKey, encryptionKey)
	errtest.Fatal(t, err)
	text := []byte(`{"batchId":"` + batchID + `","matches":[]}`)
	seal := func(k *adapter.Keys) adapter.Sealed {
		s, err := k.Seal(text, false)
		errtest.Fatal(t, err)
		return s
	}
	sealed := seal(keys)
	ciphertext, err := base64.StdEncoding.DecodeString(sealed.Data)
	errtest.Fatal(t, err)
	macOf := func(data []byte) string {
		h := hmac.New(sha256.New, []byte("authentication-key-for-test-32by"))
		h.Write(data)
		return base64.StdEncoding.EncodeToString(h.Sum(nil))
	}
	encode := base64.StdEncoding.EncodeToString
	for name, s := range map[string]adapter.Sealed{
		"nothing":                         {},
		"no MAC":                          {sealed.Data, sealed.IV, ""},
		"no IV":                           {sealed.Data, "", sealed.MAC},
		"no data":                         {"", sealed.IV, macOf(nil)},
		"MAC of another message":          {sealed.Data, sealed.IV, macOf([]byte("x"))},
		"MAC over the plaintext":          {sealed.Data, sealed.IV, macOf(text)},
		"MAC over the packed text":        {sealed.Data, sealed.IV, macOf([]byte(encode(text)))},
		"MAC over the Base64":             {sealed.Data, sealed.IV, macOf([]byte(sealed.Data))},
		"MAC in part":                     {sealed.Data, sealed.IV, sealed.MAC[:24]},
		"MAC in hexadecimal":              {sealed.Data, sealed.IV, fmt.Sprintf("%x", sealed.MAC)},
		"keys of another provider":        seal(other),
		"data in plain":                   {encode(text), sealed.IV, macOf(text)},
		"truncated by a block":            {encode(ciphertext[:len(ciphertext)-16]), sealed.IV, sealed.MAC},
		"truncated by a block, MAC right": {encode(ciphertext[:16]), sealed.IV, macOf(ciphertext[:16])},
		"truncated by a byte, MAC right": {encode(ciphertext[:len(ciphertext)-1]), sealed.IV,
			macOf(ciphertext[:len(ciphertext)-1])},
		"IV of another length":     {sealed.Data, encode(make([]byte, 12)), sealed.MAC},
		"another IV":               {sealed.Data, encode(make([]byte, 16)), sealed.MAC},
		"Base64 with a line feed":  {sealed.Data[:8] + "\n" + sealed.Data[8:], sealed.IV, sealed.MAC},
		"Base64 with spare bits":   {sealed.Data, sealed.IV[:21] + "x==", sealed.MAC},
		"MAC with a line feed":     {sealed.Data, sealed.IV, sealed.MAC + "\n"},
		"Base64 without padding":   {sealed.Data, strings.TrimRight(sealed.IV, "="), sealed.MAC},
		"not Base64":               {"{}", sealed.IV, sealed.MAC},
		"wrong key for encryption": sealWith(t, encode(make([]byte, 32)), text),
		"right key, other contents": {encode(bytes.Repeat([]byte{1}, 32)), sealed.IV, macOf(bytes.Repeat([]byte{1},
			32))},
	} {
		t.Run(name, func(t *testing.T) {
			if packed, err := keys.Open(s); !errors.Is(err, adapter.ErrNotAuthentic) {
				// Another IV leaves a text that is Base64 by chance at best; then it is no answer.
				_, invalid := adapter.ParseAnswer(packed, adapter.Screen, adapter.Success)
				if invalid == nil {
					t.Errorf("got %q, %v, want ErrNotAuthentic", packed, err)
				}
			}
		})
	}
}

// sealWith seals with another key for encryption and the right one for authentication.
func sealWith(t *testing.T, encryption string, text []byte) adapter.Sealed {
	t.Helper()
	keys, err := adapter.ParseKeys(encryption, authenticationKey)
	errtest.Fatal(t, err)
	s, err := keys.Seal(text, false)
	errtest.Fatal(t, err)
	return s
}

// The initialization vector is not authenticated. Every change of one of its bits is refused, or what
// it changes means the same.
func TestChangedIVChangesNothing(t *testing.T) {
	keys := newKeys(t)
	for name, text := range map[string]string{
		"compact":  `{"batchId":"` + batchID + `","matches":[]}`,
		"matches":  `{"matches":[],"batchId":"` + batchID + `"}`,
		"indented": "{\n  \"batchId\": \"" + batchID + "\",\n  \"matches\": []\n}",
		"error":    `{"batchId":"` + batchID + `","errorDetails":"no"}`,
		"details":  `{"errorDetails":"no","batchId":"` + batchID + `"}`,
	} {
		status := adapter.Success
		if strings.Contains(text, "errorDetails") {
			status = adapter.Error
		}
		for _, compress := range []bool{false, true} {
			t.Run(fmt.Sprint(name, compress), func(t *testing.T) {
				sealed, err := keys.Seal([]byte(text), compress)
				errtest.Fatal(t, err)
				iv, err := base64.StdEncoding.DecodeString(sealed.IV)
				errtest.Fatal(t, err)
				for i := range len(iv) * 256 {
					changed := bytes.Clone(iv)
					changed[i/256] ^= byte(i % 256)
					a, err := openAnswer(keys, adapter.Sealed{Data: sealed.Data, MAC: sealed.MAC,
						IV: base64.StdEncoding.EncodeToString(changed)}, status)
					if err != nil {
						continue
					}
					if a.BatchID != batchID || len(a.Matches) > 0 || a.ErrorDetails != nil && *a.ErrorDetails != "no" {
						t.Fatalf("changing byte %d of the IV gives %+v", i/256, a)
					}
				}
			})
		}
	}
}

func openAnswer(keys *adapter.Keys, s adapter.Sealed, status string) (adapter.Answer, error) {
	packed, err := keys.Open(s)
	if err != nil {
		return adapter.Answer{}, err
	}
	text, err := adapter.Unpack(packed)
	if err != nil {
		return adapter.Answer{}, err
	}
	return adapter.ParseAnswer(text, adapter.Screen, status)
}

func TestParseKeys(t *testing.T) {
	key := func(n int, fill byte) string {
		return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, n))
	}
	for name, test := range map[string]struct {
		encryption, authentication string
		want                       string // a part of the error; "" for none
	}{
		"right":                    {key(32, 1), key(32, 2), ""},
		"longest":                  {key(32, 1), key(128, 2), ""},
		"encryption, a byte less":  {key(31, 1), key(32, 2), "encryption key"},
		"encryption, a byte more":  {key(33, 1), key(32, 2), "encryption key"},
		"AES-128":                  {key(16, 1), key(32, 2), "encryption key"},
		"authentication too short": {key(32, 1), key(31, 2), "authentication key"},
		"authentication too long":  {key(32, 1), key(129, 2), "authentication key"},
		"the same":                 {key(32, 1), key(32, 1), "must differ"},
		"no Base64":                {"encryption-key-for-tests-32bytes", key(32, 2), "encryption key"},
		"none":                     {"", "", "encryption key"},
	} {
		t.Run(name, func(t *testing.T) {
			keys, err := adapter.ParseKeys(test.encryption, test.authentication)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(),
				test.want)) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			if text := fmt.Sprintf("%v %+v %#v %s", keys, keys, keys, err); strings.Contains(text, "1 1") ||
				test.encryption != "" && strings.Contains(text, test.encryption) {
				t.Errorf("%s shows a key", text)
			}
		})
	}
}

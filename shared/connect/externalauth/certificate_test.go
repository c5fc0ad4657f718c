package externalauth_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/externalauth/externalauthtest"
)

func TestParsePEM(t *testing.T) {
	t.Parallel()
	one := externalauthtest.New(t, "a", false, time.Now(), time.Now().AddDate(1, 0, 0), nil)
	text := one.PEM()
	for name, tt := range map[string]struct {
		text string
		want error
	}{
		"one":                     {text, nil},
		"without the last break":  {strings.TrimSpace(text), nil},
		"with Windows breaks":     {strings.ReplaceAll(text, "\n", "\r\n"), nil},
		"with white space around": {" \n\t" + text + "\r\n ", nil},
		"empty":                   {"", externalauth.ErrNotPEM},
		"twice":                   {text + text, externalauth.ErrSeveralCertificates},
		"twice on one line":       {strings.TrimSpace(text) + text, externalauth.ErrSeveralCertificates},
		"one in another": {strings.Replace(text, "-----\n", "-----\n"+text, 1),
			externalauth.ErrSeveralCertificates},
		"behind a broken one": {"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n" + text,
			externalauth.ErrSeveralCertificates},
		"behind text":          {"a" + text, externalauth.ErrNotPEM},
		"before text":          {text + "a", externalauth.ErrNotPEM},
		"before another block": {text + "-----BEGIN X-----\nAA==\n-----END X-----\n", externalauth.ErrNotPEM},
		"before a key":         {text + one.KeyPEM(), externalauth.ErrPrivateKey},
		"a key":                {one.KeyPEM(), externalauth.ErrPrivateKey},
		"a request": {strings.ReplaceAll(text, "CERTIFICATE", "CERTIFICATE REQUEST"),
			externalauth.ErrNotPEM},
		"trusted": {strings.ReplaceAll(text, "CERTIFICATE", "TRUSTED CERTIFICATE"),
			externalauth.ErrNotPEM},
		"with a header":   {strings.Replace(text, "-----\n", "-----\nA: b\n\n", 1), externalauth.ErrNotPEM},
		"without its end": {text[:len(text)-10], externalauth.ErrNotPEM},
		"not in base64":   {strings.Replace(text, "MII", "M!I", 1), externalauth.ErrNotPEM},
		"of something else": {string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
			Bytes: []byte("text")})), externalauth.ErrNotPEM},
		"with bytes after it": {string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
			Bytes: append(one.Certificate.Raw, 0)})), externalauth.ErrNotPEM},
		"in base64 alone":        {strings.Split(text, "-----")[2], externalauth.ErrNotPEM},
		"with a byte order mark": {"\ufeff" + text, externalauth.ErrNotPEM},
		"that is a million letters": {"-----BEGIN CERTIFICATE-----\n" + strings.Repeat("A", 1<<20) +
			"\n-----END CERTIFICATE-----", externalauth.ErrNotPEM},
	} {
		c, err := externalauth.ParsePEM(tt.text)
		if !errors.Is(err, tt.want) || err == nil && !c.Equal(one.Certificate) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// A secret is shown nowhere by accident.
func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	c := externalauth.Configuration{
		Headers: []externalauth.NameValue{{Name: "a", Value: "s3cret"}},
		OAuth:   &externalauth.OAuth{ClientSecret: "s3cret"},
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "c", c, "oauth", *c.OAuth, "secret", c.OAuth.ClientSecret)
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "c", c, "oauth", *c.OAuth, "secret", c.OAuth.ClientSecret)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&log, verb+verb+verb+verb, c, &c, *c.OAuth, c.OAuth.ClientSecret)
	}
	if strings.Contains(log.String(), "s3cret") || strings.Contains(log.String(), fmt.Sprintf("%x", "s3cret")) {
		t.Errorf("the secret is printed: %s", log.String())
	}
}

// A text that is parsed as one certificate is parsed as the same one after it is written in the usual way.
func FuzzParsePEM(f *testing.F) {
	one := externalauthtest.New(f, "a", false, time.Unix(0, 0), time.Unix(1, 0), nil).PEM()
	for _, text := range []string{one, one + one, one[:100], "-----BEGIN CERTIFICATE-----\n!\n" + one,
		strings.Replace(one, "\n", "\n\n", 3)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := externalauth.ParsePEM(text)
		if err != nil {
			return
		}
		usual := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}))
		again, err := externalauth.ParsePEM(usual)
		if err != nil || !again.Equal(c) {
			t.Errorf("%q is a certificate, but %q is not the same: %v", text, usual, err)
		}
		if strings.Count(text, "BEGIN") > 1 && strings.Count(usual, "BEGIN") == 1 {
			t.Errorf("%q is more than one certificate", text)
		}
		externalauth.DetailsOf(c)
	})
}

package externalauth_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/shared/connect/externalauth"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestCanonicalURL(t *testing.T) {
	for want, spellings := range map[string][]string{
		"https://api.example.com": {
			"https://api.example.com", "HTTPS://API.Example.COM", "https://api.example.com/",
			"https://api.example.com:443/",
			"https://api.example.com:/", "https://api.example.com:0443", "https://api.example.com.",
			"https://api.example.com/.",
			"https://api.example.com/a/..", "https://api.example.com/../..//", "https://api.example.com/%2E%2e/",
		},
		"https://api.example.com/a/b": {
			"https://api.example.com/a/b", "https://api.example.com/a/b/", "https://api.example.com/./a//../b",
			"https://api.example.com/%61/%62", "https://api.example.com/x/../a/b/c/%2e%2E",
		},
		"https://api.example.com/A":         {"https://api.example.com/A", "https://api.example.com/%41"},
		"https://api.example.com/a%2Fb":     {"https://api.example.com/a%2fb", "https://api.example.com/a%2Fb/"},
		"https://api.example.com/%C3%BC%20": {"https://api.example.com/ü%20", "https://api.example.com/%c3%bc%20"},
		"https://api.example.com/a/%2B":     {"https://api.example.com/a/+", "https://api.example.com/a/%2b"},
		"https://api.example.com//a":        {"https://api.example.com//a", "https://api.example.com/..//a"},
		"https://api.example.com:8443":      {"https://api.example.com:8443/", "https://api.example.com:08443"},
		"https://192.0.2.7":                 {"https://192.0.2.7/", "https://[::ffff:192.0.2.7]:443"},
		"https://[2001:db8::1]":             {"https://[2001:DB8:0::1]/", "https://[2001:db8::1]:443"},
		"https://[2001:db8::1]:444":         {"https://[2001:db8:0:0::1]:444"},
		"https://my_host":                   {"https://my_host"},
	} {
		for _, text := range spellings {
			difftest.Equal(t, text+" became", want, errtest.Must(externalauth.CanonicalURL(text))(t))
		}
	}
}

func TestCanonicalURLRefuses(t *testing.T) {
	for text, want := range map[string]error{
		"":                                 externalauth.ErrURLForm,
		"api.example.com":                  externalauth.ErrURLForm,
		"//api.example.com":                externalauth.ErrURLForm,
		"http://api.example.com":           externalauth.ErrURLForm,
		"https:api.example.com":            externalauth.ErrURLForm,
		"https:///a":                       externalauth.ErrURLForm,
		"https://api.example.com/%zz":      externalauth.ErrURLForm,
		"https://api.example.com/\xff":     externalauth.ErrURLForm,
		"https://api example.com":          externalauth.ErrURLForm,
		" https://api.example.com":         externalauth.ErrURLForm,
		"https://api.example.com/\n":       externalauth.ErrURLForm,
		"https://api.example.com:a":        externalauth.ErrURLForm,
		"https://me@api.example.com":       externalauth.ErrURLUser,
		"https://me:pw@api.example.com":    externalauth.ErrURLUser,
		"https://@api.example.com":         externalauth.ErrURLUser,
		"https://api.example.com/?":        externalauth.ErrURLQuery,
		"https://api.example.com/?a=b":     externalauth.ErrURLQuery,
		"https://api.example.com/#":        externalauth.ErrURLQuery,
		"https://api.example.com/#a":       externalauth.ErrURLQuery,
		"https://api.example.com:0":        externalauth.ErrURLHost,
		"https://api.example.com:65536":    externalauth.ErrURLHost,
		"https://:443":                     externalauth.ErrURLHost,
		"https://api..example.com":         externalauth.ErrURLHost,
		"https://.":                        externalauth.ErrURLHost,
		"https://-a.example.com":           externalauth.ErrURLHost,
		"https://2130706433":               externalauth.ErrURLHost,
		"https://0x7f000001":               externalauth.ErrURLHost,
		"https://127.1":                    externalauth.ErrURLHost,
		"https://[fe80::1%25eth0]":         externalauth.ErrURLHost,
		"https://b\u00fccher.example":      externalauth.ErrURLHost,
		"https://\u212aelvin.example":      externalauth.ErrURLHost,
		"https://b%C3%BCcher.example":      externalauth.ErrURLHost,
		"https://*.example.com":            externalauth.ErrURLHost,
		"https://" + longHost + ".example": externalauth.ErrURLHost,
	} {
		errtest.Is(t, fmt.Sprintf("%q became", text), errtest.Of(externalauth.CanonicalURL(text)), want)
	}
}

var longHost = strings.Repeat("a", 64)

func TestCheckTokenURL(t *testing.T) {
	for text, want := range map[string]error{
		"https://id.example.com/token?version=2": nil,
		"https://id.example.com/token?a?b":       nil,
		"https://id.example.com/token#":          externalauth.ErrURLQuery,
		"https://id.example.com/token?a#b":       externalauth.ErrURLQuery,
		"http://id.example.com/token?version=2":  externalauth.ErrURLForm,
		"https://a:b@id.example.com/token":       externalauth.ErrURLUser,
		"?https://id.example.com":                externalauth.ErrURLForm,
	} {
		errtest.Is(t, text, externalauth.CheckTokenURL(text), want)
	}
}

func TestChoose(t *testing.T) {
	var configurations []externalauth.Configuration
	for _, u := range []string{
		"https://api.example.com/v1", "https://API.example.com:443/v1/hooks/", "https://api.example.com:8443",
		"https://example.com/%7Eus", "not a URL",
	} {
		configurations = append(configurations, externalauth.Configuration{URL: u})
	}
	for target, want := range map[string]string{
		"https://api.example.com/v1":                 "https://api.example.com/v1",
		"https://api.example.com/v1/":                "https://api.example.com/v1",
		"https://api.example.com/v1?a=/hooks":        "https://api.example.com/v1",
		"https://api.example.com/v1/hook":            "https://api.example.com/v1",
		"https://api.example.com/v1/hooks2":          "https://api.example.com/v1",
		"https://api.example.com/v1/hooks":           "https://API.example.com:443/v1/hooks/",
		"https://api.example.com./v1/hooks/7?a=b#c":  "https://API.example.com:443/v1/hooks/",
		"https://api.example.com/x/%2e./v1/%68ooks/": "https://API.example.com:443/v1/hooks/",
		"https://api.example.com/v1/hooks/..":        "https://api.example.com/v1",
		"https://api.example.com/v1/hooks%2Fa":       "https://api.example.com/v1",
		"https://api.example.com/v10":                "",
		"https://api.example.com/V1":                 "",
		"https://api.example.com":                    "",
		"https://api.example.com/":                   "",
		"https://xapi.example.com/v1":                "",
		"https://api.example.com.evil.example/v1":    "",
		"https://api.example.com:8443/anything":      "https://api.example.com:8443",
		"https://example.com/~us/1":                  "https://example.com/%7Eus",
	} {
		got, ok, err := externalauth.Choose(configurations, target)
		if got.URL != want || ok != (want != "") || err != nil {
			t.Errorf("%s is served by %q, %t, %v; want %q", target, got.URL, ok, err, want)
		}
	}
	for _, target := range []string{"http://api.example.com/v1", "https://2130706433/", "",
		"https://b\u00fccher.example/"} {
		if got, ok, err := externalauth.Choose(configurations, target); err == nil {
			t.Errorf("%s is served by %q, %t; want an error", target, got.URL, ok)
		}
	}
}

// A canonical URL is its own canonical URL, and serves itself.
func FuzzCanonicalURL(f *testing.F) {
	for _, text := range []string{"https://a/b/../%2e/c", "https://[::1]:0443//", "https://a/%2F/\u212a",
		"https://a?b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := externalauth.CanonicalURL(text)
		if err != nil {
			return
		}
		if second, err := externalauth.CanonicalURL(first); err != nil || second != first {
			t.Errorf("%q became %q, and that %q, %v", text, first, second, err)
		}
		if _, ok, err := externalauth.Choose([]externalauth.Configuration{{URL: text}}, first+"/x?y"); !ok ||
			err != nil {
			t.Errorf("%q does not serve %q: %v", text, first+"/x?y", err)
		}
	})
}

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestUnauthorized(t *testing.T) {
	t.Parallel()
	encode := base64.RawURLEncoding.EncodeToString
	good := login(t, environment).token
	parts := strings.Split(good, ".")
	claims := decodeTokenPart(t, good, 1)
	claims["scope"] = "tenant/" + uuid.NewString()
	changed := ok(json.Marshal(claims))(t)
	for _, test := range []struct{ name, authorization string }{
		{"no token", ""},
		{"another scheme", "Basic " + good},
		{"no scheme", good},
		{"not a token", "Bearer nonsense"},
		{"no signature", "Bearer " + encode([]byte(`{"alg":"none","typ":"at+jwt"}`)) + "." + parts[1] + "."},
		{"changed claims", "Bearer " + parts[0] + "." + encode(changed) + "." + parts[2]},
		{"another signature", "Bearer " + parts[0] + "." + parts[1] + "." + encode(make([]byte, 64))},
		{"unknown key", "Bearer " + encode([]byte(`{"alg":"ES256","typ":"at+jwt","kid":"x"}`)) + "." + parts[1] + "." +
			parts[2]},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.authorization == "" {
				skipWithout(t, responses)
			}
			for _, path := range []string{"batch/status/" + uuid.NewString(), "some-transaction"} {
				checkUnauthorized(t, path, test.authorization)
			}
		})
	}
}

func checkUnauthorized(t *testing.T, path, authorization string) {
	t.Helper()
	anybody := &session{t: t, environment: environment}
	r := anybody.call("GET", transactionsPath+path, "", "Authorization", authorization)
	assert(t, environment.isRefusal(r.status, t.Name()), "%s: want the refusal of a token, got %s", r.request, r.text)
	if r.status != http.StatusUnauthorized {
		return
	}
	var body map[string]string
	err := json.Unmarshal(r.text, &body)
	assert(t, err == nil && body["message"] == "Unauthorized", "%s: 401 %s, want Unauthorized", path, r.text)
	got := r.header.Get("WWW-Authenticate")
	assert(t, got == "Bearer", "%s: WWW-Authenticate is %q, want Bearer", path, got)
}

// absentTransaction is the path of a transaction that does not exist: an accepted token gets 404 there.
const absentTransaction = transactionsPath + "absent"

// An upload URL and a token end with their lifetime, which is a second, and an address gets so many tokens and no more,
// whoever asks.
func TestLifetimes(t *testing.T) {
	t.Parallel()
	cloud := newCloud(t, "--set", "UploadUrlLifetime=1", "--set", "TokenLifetime=1", "--set", "TokenRequests=60")
	api := login(t, cloud)
	u := api.newUpload(true)
	withoutMatch := u
	withoutMatch.RequiredHeaders = map[string]string{"If-None-Match": `"wrong"`}
	eventually(t, "the URL's end at "+u.ExpiresAt.String(), func() bool {
		if code, _ := put(t, withoutMatch, nil); code == 200 {
			t.Fatal("a URL accepts another header than the signed one")
		}
		return time.Now().After(u.ExpiresAt.Add(time.Second))
	})
	expectPut(t, 403, u, jsonLines(validLine()))
	eventually(t, "a 401 after the token's lifetime of a second", func() bool {
		r := api.call("GET", absentTransaction, "")
		if r.status == http.StatusNotFound {
			return false
		}
		r.expect(t, http.StatusUnauthorized)
		got := r.header.Get("WWW-Authenticate")
		assert(t, got == "Bearer", "401 with WWW-Authenticate %q, want Bearer", got)
		return true
	})
	// On a slow machine a token may expire before it is used.
	eventually(t, "a 404 with a new token", func() bool {
		return login(t, cloud).call("GET", absentTransaction, "").is(http.StatusNotFound)
	})
	form := tokenForm(cloud)
	form.Set("client_id", uuid.NewString())
	for deadline := time.Now().Add(patience); ; {
		req := ok(http.NewRequest(http.MethodPost, cloud.TokenURL, strings.NewReader(form.Encode())))(t)
		req.Header.Set("Content-Type", formType)
		req.Header.Set("X-Forwarded-For", "198.51.100."+strconv.Itoa(rand.IntN(256))) // is not believed
		code, header, text := send(t, req)
		if code != http.StatusTooManyRequests && time.Now().Before(deadline) {
			continue
		}
		assert(t, code == http.StatusTooManyRequests && strings.Contains(string(text), `"temporarily_unavailable"`) &&
			header.Get("Retry-After") != "" && header.Get("X-Rate-Limit-Remaining") == "0",
			"got %d %s with %v, want 429 with temporarily_unavailable", code, text, header)
		return
	}
}

func TestDisabledClientIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	c := newClient(t, environment, environment.TenantID)
	api := loginAs(t, environment, c)
	api.expect(http.StatusNotFound, "GET", absentTransaction, "")
	must(t, environment.admin(nil, "client", "disable", c.ClientID))
	api.expectTokenRefused("GET", absentTransaction)
	form := tokenForm(environment)
	form.Set("client_id", c.ClientID)
	form.Set("client_secret", c.ClientSecret)
	if code, _, body := postToken(t, formType, form.Encode()); code != 400 || body["error"] != "invalid_client" {
		t.Errorf("a new token: %d %v, want 400 with invalid_client", code, body)
	}
}

// Bodies reach a function with their size and their content type.
func TestBodiesOfRequests(t *testing.T) {
	api := begin(t)
	const jsonType = "application/json"
	for _, test := range []struct {
		name, contentType, body string
		code                    int
		content                 string
	}{
		{"malformed JSON", jsonType, `{"reject_on_invalid": tru`, 422, "json_invalid"},
		{"another content type", "text/plain", `{}`, 415, jsonType},
		{"no content type", "", `{}`, 415, jsonType},
		{"a charset", jsonType + "; charset=utf-8", `{"reject_on_invalid": false, "more": 1}`, 200, "batch_id"},
		{"no body with a content type", jsonType, ``, 200, "batch_id"},
		{"no body without a content type", "", ``, 200, "batch_id"},
		{"over the limit", jsonType, `{"x":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "message"},
	} {
		t.Run(test.name, func(t *testing.T) {
			api.call("POST", uploadPath, test.body, "Content-Type", test.contentType).expect(t, test.code, test.content)
		})
	}
}

// A path for which there is nothing is not found, whatever the method. A token is needed below a greedy path of the
// template only.
func TestUnknownPaths(t *testing.T) {
	api := begin(t, responses)
	methods, id := []string{"GET", "HEAD", "OPTIONS", "POST", "PATCH", "DELETE"}, uuid.NewString()
	for token, below := range map[string]int{"": 401, api.token: 404, "not a token": 401} {
		caller := api.in(t)
		caller.token = token
		for _, method := range methods {
			for _, path := range []string{"/", "/nothing", transactionsPath + "batch/generate-upload-url/more",
				policyQueries + "/x/more", "/screeningcommand/api/v3", "/documentmanagementcommand"} {
				caller.expectUnknown(method, path, 404)
			}
			for _, path := range []string{documentQueries, documentQueries + "/" + id + "/more",
				documentCommands + "//" + id, documentCommands + "/../entity", "/policycommand/api/v1/policies",
				"/policycommand/" + id, "/screeningcommand/api/v3/batch/" + id} {
				caller.expectUnknown(method, path, below)
			}
		}
		for _, method := range methods[1:] { // each path has a route of another method
			caller.expectUnknown(method, documentQueries+"/mimeTypesAllowed", below)
		}
		caller.expectUnknown("GET", documentCommands, below)
		caller.expectUnknown("PUT", "/policycommand/api/v2/policies", below)
	}
}

// expectUnknown checks that a request of no route is answered with 404 and nothing else, or refused.
func (s *session) expectUnknown(method, path string, status int) {
	s.t.Helper()
	want := map[int]string{404: "Not found.", 401: "Unauthorized"}[status]
	r := s.call(method, path, "", "Content-Type", "text/plain").expect(s.t, status)
	kind, body := r.header.Get("Content-Type"), map[string]string{}
	if method != http.MethodHead {
		must(s.t, json.Unmarshal(r.text, &body))
	}
	assert(s.t, kind == "application/json" && (method == http.MethodHead || len(body) == 1 && body["message"] == want),
		"%s %s: %s %s, want application/json with %s", method, path, kind, r.text, want)
}

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sluice/shared/connect/event"
	"sluice/shared/connect/webhook"
)

// A receiver that fails for a while gets the delivery later; its attempts are shown, and it can be sent again.
func TestWebhookIsTriedAgain(t *testing.T) {
	api := beginBatchTenant(t, receivers)
	r := api.newReceiver()
	w := api.newWebhook(r.URL, "")
	r.answers(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "overloaded")
	})
	started := time.Now()
	api.follow(api.startBatch(true, nil))
	eventually(t, "the first attempt", func() bool { return len(r.requests()) > 0 })
	r.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	d := api.ended(w, r.requests()[0].header.Get("x-sluice-delivery"))
	require(t, len(d.Attempts) >= 2 && d.summary() == "Successful -",
		"delivery %+v, want a failed and a successful attempt", d)
	first, last := d.Attempts[0], d.Attempts[len(d.Attempts)-1]
	assert(t, *first.Status == 503 && *first.Code == "status" && *first.Answer == "overloaded" && *last.Status == 202,
		"attempts %+v, want 503 overloaded first and 202 last", d.Attempts)
	before := len(r.requests())
	resent := sendFor[struct{ Resent int }](api, "POST", webhooksPath+"/"+w.ID+"/resend",
		fmt.Sprintf(`{"since":%q,"outcomes":["Successful"]}`, started.Add(-time.Minute).UTC().Format(time.RFC3339)))
	eventually(t, "the delivery that is sent again", func() bool { return len(r.requests()) > before })
	again := r.requests()[before]
	assert(t, resent.Resent == 1 && again.header.Get("x-sluice-delivery") == d.ID &&
		string(again.body) == string(d.Payload), "%d deliveries were sent again, the first as %s, want %s",
		resent.Resent, again.header.Get("x-sluice-delivery"), d.ID)
	if d = api.ended(w, d.ID); d.Run != 2 {
		t.Errorf("sent again in run %d, want 2", d.Run)
	}
}

// Each way in which a receiver fails has an outcome that the tenant sees.
func TestFailuresOfReceivers(t *testing.T) {
	api := beginTenant(t, receivers)
	r := api.newReceiver()
	for _, test := range []struct {
		name, url string
		answer    http.HandlerFunc
		want      string
	}{
		{"500", r.URL, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "Failed status"},
		{"410", r.URL, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) }, "Failed gone"},
		{"redirect", r.URL, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://169.254.169.254/latest/meta-data")
			w.WriteHeader(307)
		}, "Failed redirect"},
		{"a gigabyte", r.URL, func(w http.ResponseWriter, _ *http.Request) {
			for block := make([]byte, 1<<20); ; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}, "Successful -"},
		{"reset", r.URL, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			"Failed connection_failed"},
		{"not TLS", "https" + strings.TrimPrefix(api.environment.APIURL, "http"), nil, "Failed tls_failed"},
		{"certificate not known", "https://localhost:" + portOf(r.URL), nil, "Failed certificate_refused"},
		{"link-local address", "https://169.254.169.254/", nil, "Failed address_refused"},
		{"unknown name", "https://receiver.invalid/", nil, "Failed name_not_found"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.answer != nil {
				r.answers(test.answer)
			}
			s := *api
			s.t = t
			w := s.newWebhook(test.url, "")
			d := s.test(w)
			assert(t, d.summary() == test.want && d.AttemptCount == 1, "%s after %d attempts, want %s after 1: %+v",
				d.summary(), d.AttemptCount, test.want, d)
			s.mustSend("DELETE", webhooksPath+"/"+w.ID, "", nil)
		})
	}
}

// portOf returns the port of a URL.
func portOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	return u.Port()
}

// 410 to a delivery disables the webhook. What happens then is recorded and can be sent again.
func TestGoneDisablesAWebhook(t *testing.T) {
	api := beginBatchTenant(t, receivers)
	r := api.newReceiver()
	w := api.newWebhook(r.URL, "")
	watcher := api.newWebhook(r.URL+"/watcher", "")
	one := webhooksPath + "/" + w.ID
	r.answers(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/watcher" {
			w.WriteHeader(http.StatusGone)
		}
	})
	api.follow(api.startBatch(true, nil))
	eventually(t, "the end of the webhook", func() bool {
		api.mustSend("GET", one, "", &w)
		return !w.Enabled
	})
	assert(t, w.DisabledReason != nil && *w.DisabledReason == "gone" && w.DisabledAt != nil,
		"disabled: %+v, want the reason gone", w)
	eventually(t, "the event that it is disabled", func() bool {
		for _, got := range r.requests() {
			var m event.Message
			decodeStrictly(t, got.body, &m)
			if m.Type == event.WebhookDisabled && m.CausationID == w.ID {
				return webhook.Verify(got.header, got.body, watcher.Secret, time.Now()) == nil
			}
		}
		return false
	})
	api.follow(api.startBatch(true, nil))
	var list struct{ Deliveries []deliveryView }
	eventually(t, "the delivery that is only recorded", func() bool {
		api.mustSend("GET", one+"/deliveries", "", &list)
		return len(list.Deliveries) == 2
	})
	if got := list.Deliveries[0].summary(); got != "Failed webhook_disabled" {
		t.Errorf("the newer delivery: %s, want Failed webhook_disabled", got)
	}
	api.expect(409, "POST", one+"/resend", `{"since":"2020-01-01T00:00:00Z"}`)
	r.answers(func(http.ResponseWriter, *http.Request) {})
	api.mustSend("PUT", one, fmt.Sprintf(`{"url":%q,"enabled":true,"eventTypes":["*"]}`, r.URL), nil)
	resent := sendFor[struct{ Resent int }](api, "POST", one+"/resend", `{"since":"2020-01-01T00:00:00Z"}`)
	assert(t, resent.Resent == 2, "%d deliveries are sent again, want 2", resent.Resent)
	for _, d := range list.Deliveries {
		if got := api.ended(w, d.ID); got.summary() != "Successful -" {
			t.Errorf("sent again: %s, want success", got.summary())
		}
	}
}

// A delivery whose execution is stopped ends all the same, and can be sent again.
func TestStoppedDelivery(t *testing.T) {
	api := beginBatchTenant(t, receivers)
	r := api.newReceiver()
	r.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	w := api.newWebhook(r.URL, "")
	api.follow(api.startBatch(true, nil))
	eventually(t, "the first attempt", func() bool { return len(r.requests()) > 0 })
	d := api.onlyDelivery(w)
	stopExecution(t, environment, "delivery", d.Events[0].ID+"_"+w.ID)
	if d = api.ended(w, d.ID); d.summary() != "Failed interrupted" {
		t.Errorf("stopped: %s, want Failed interrupted", d.summary())
	}
	r.answers(func(http.ResponseWriter, *http.Request) {})
	api.mustSend("POST", webhooksPath+"/"+w.ID+"/deliveries/"+d.ID+"/resend", "", nil)
	if d = api.ended(w, d.ID); d.summary() != "Successful -" {
		t.Errorf("sent again: %s", d.summary())
	}
}

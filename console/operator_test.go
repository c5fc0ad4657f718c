package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"sluice/internal/figures"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// fakeOperator counts how often its lists are read.
type fakeOperator struct {
	reads int
	err   error
}

func (o *fakeOperator) list(name string) (any, error) {
	o.reads++
	return []string{name}, o.err
}

func (o *fakeOperator) Tenants(context.Context) (any, error)     { return o.list("tenant") }
func (o *fakeOperator) Clients(context.Context) (any, error)     { return o.list("client") }
func (o *fakeOperator) Keys(context.Context) (any, error)        { return o.list("key") }
func (o *fakeOperator) ReceiptKeys(context.Context) (any, error) { return o.list("receipt key") }

func TestOperatorLists(t *testing.T) {
	operator := &fakeOperator{}
	s, err := New(Config{Client: newFakeService(t).client(t, ""), Address: consoleAddress, Operator: operator})
	errtest.Fatal(t, err)
	cookie := beginSession(t, s)
	for path, want := range map[string]string{
		"tenants": `{"tenants":["tenant"]}`, "clients": `{"clients":["client"]}`,
		"keys": `{"access_tokens":["key"],"receipts":["receipt key"]}`,
	} {
		for range 3 {
			w := ask(s, http.MethodGet, "/console/operator/"+path, nil, fromPage(cookie))
			difftest.Equal(t, path, []any{http.StatusOK, want + "\n"}, []any{w.Code, w.Body.String()})
		}
	}
	if operator.reads != 4 {
		t.Errorf("the lists were read %d times, want each once in %v", operator.reads, operatorPause)
	}
	if w := ask(s, http.MethodPost, "/console/operator/tenants", nil, fromPage(cookie)); w.Code < 400 {
		t.Errorf("a list can be written: %d", w.Code)
	}
}

func TestOperatorFails(t *testing.T) {
	operator := &fakeOperator{err: errors.New("no credentials")}
	s, err := New(Config{Client: newFakeService(t).client(t, ""), Address: consoleAddress, Operator: operator})
	errtest.Fatal(t, err)
	w := ask(s, http.MethodGet, "/console/operator/clients", nil, fromPage(beginSession(t, s)))
	if p := problemOf(t, w); p.Status != http.StatusBadGateway || p.Detail != "no credentials" {
		t.Errorf("got %+v", p)
	}
}

// Whoever is not an operator is told so, and what the page may show is in the session.
func TestNoOperatorAndNoMetrics(t *testing.T) {
	s, cookie := newConsole(t, newFakeService(t))
	if w := ask(s, http.MethodGet, "/console/operator/tenants", nil, fromPage(cookie)); w.Code != http.StatusForbidden {
		t.Errorf("the list of tenants answers %d, want 403", w.Code)
	}
	if w := ask(s, http.MethodGet, "/console/metrics", nil, fromPage(cookie)); w.Code != http.StatusNotFound {
		t.Errorf("the metrics answer %d, want 404", w.Code)
	}
	var info Info
	w := ask(s, http.MethodGet, "/console/session", nil, fromPage(cookie))
	if err := json.Unmarshal(w.Body.Bytes(), &info); err != nil || info.IsOperator || info.Metrics ||
		info.TenantID != "t" {
		t.Errorf("the session is %s (%v)", w.Body, err)
	}
}

func TestMetrics(t *testing.T) {
	data := t.TempDir()
	s := errtest.Must(New(Config{Client: newFakeService(t).client(t, ""), Address: consoleAddress,
		Metrics: &Metrics{Data: data}}))(t)
	cookie := beginSession(t, s)
	read := func(query string) (int, figures.Snapshot) {
		t.Helper()
		w := ask(s, http.MethodGet, "/console/metrics"+query, nil, fromPage(cookie))
		var snapshot figures.Snapshot
		errtest.Fatal(t, json.Unmarshal(w.Body.Bytes(), &snapshot))
		return w.Code, snapshot
	}
	difftest.Reply(t, "without a log the metrics answer", http.StatusNotFound)(read(""))
	errtest.Fatal(t, os.MkdirAll(filepath.Join(data, "logs"), 0o700))
	line := `2025-11-26T08:15:01.000Z sluice-batch r-1 {"record":"audit","status":200,"ms":1}` + "\n"
	errtest.Fatal(t, os.WriteFile(filepath.Join(data, "logs", "functions.log"), []byte(line+line), 0o600))
	for query, want := range map[string]int64{"": 2, "?since=1ms": 0, "?batch=" + testBatch: 0} {
		if status, got := read(query); status != http.StatusOK || got.Requests.Count != want {
			t.Errorf("%q: got %d with %d requests, want 200 with %d", query, status, got.Requests.Count, want)
		}
	}
	for _, query := range []string{"?since=x", "?since=-1s", "?since=9999999h", "?batch=x"} {
		difftest.Reply(t, fmt.Sprintf("%q answers", query), http.StatusBadRequest)(read(query))
	}
	errtest.Fatal(t, errtest.Of(s.Close()))
}

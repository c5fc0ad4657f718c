package endpoint

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestDispatch(t *testing.T) {
	named := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(w, name+" "+r.URL.Path+" "+string(body))
		})
	}
	dynamo := httptest.NewServer(named("dynamo"))
	defer dynamo.Close()
	address, err := url.Parse(dynamo.URL)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(New(Services{DynamoDB: address, States: named("states"), Keys: named("keys"), Lambda: named("lambda")}))
	defer server.Close()
	for _, test := range []struct{ target, path, want string }{
		{"DynamoDB_20120810.GetItem", "/", "dynamo / x"},
		{"AWSStepFunctions.StartExecution", "/", "states / x"},
		{"TrentService.Sign", "/", "keys / x"},
		{"", "/2015-03-31/functions/f/invocations", "lambda /2015-03-31/functions/f/invocations x"},
		{"AmazonSQS.SendMessage", "/", `{"__type":"UnknownOperationException","message":"The local cloud does not know POST AmazonSQS.SendMessage %2F."}`},
	} {
		r, err := http.NewRequest(http.MethodPost, server.URL+test.path, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Target", test.target)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(got) != test.want {
			t.Errorf("%s %s: %s, %v", test.target, test.path, got, err)
		}
	}
}

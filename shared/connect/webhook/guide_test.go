package webhook_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/shared/connect/webhook"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// output collects the output of a program.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// The receivers of docs/webhooks.md accept genuine messages, once, and nothing else. Those whose language is not
// installed are left out.
func TestReceiversOfTheGuide(t *testing.T) {
	page := errtest.Must(os.ReadFile("../../../docs/webhooks.md"))(t)
	for _, language := range []struct {
		name, file string
		command    []string
	}{
		{"python", "receiver.py", []string{"python3"}},
		{"javascript", "receiver.js", []string{"node"}},
		{"go", "receiver.go", []string{"go", "run"}},
	} {
		t.Run(language.name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() {
				t.Skip("it starts an interpreter")
			}
			if err := exec.Command(language.command[0], map[bool]string{true: "version",
				false: "--version"}[language.name == "go"]).Run(); err != nil {
				t.Skipf("%s cannot be run: %v", language.command[0], err)
			}
			block := regexp.MustCompile("(?s)```" + language.name + "\n(.*?)```").FindSubmatch(page)
			if block == nil {
				t.Fatalf("docs/webhooks.md has no block in %s", language.name)
			}
			file := filepath.Join(t.TempDir(), language.file)
			errtest.Fatal(t, os.WriteFile(file, block[1], 0o600))
			address, printed := startReceiver(t, append(language.command, file))
			checkReceiver(t, address, printed)
		})
	}
}

// startReceiver runs a receiver with the secrets "new" and "old" until the test ends, and returns its address. The
// receiver takes a port that was free a moment before, and ends if another program was faster: then it is started
// again.
func startReceiver(t *testing.T, command []string) (address string, printed *output) {
	t.Helper()
	const attempts = 3
	for range attempts {
		l := errtest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
		address = l.Addr().String()
		l.Close()
		_, port, _ := net.SplitHostPort(address)
		printed = &output{}
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "PORT="+port, "WEBHOOK_SECRETS=new old")
		cmd.Stdout, cmd.Stderr = printed, printed
		startGroup(cmd)
		errtest.Fatal(t, cmd.Start())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = cmd.Wait()
		}()
		t.Cleanup(func() {
			select {
			case <-ended: // its process ID may be another's
			default:
				endGroup(cmd)
				<-ended
			}
		})
		if isListening(t, address, ended) {
			return address, printed
		}
	}
	t.Fatalf("%v does not listen: %s", command, printed)
	return "", nil
}

// isListening waits until a program listens at an address, and reports false if it ends before that.
func isListening(t *testing.T, address string, ended <-chan struct{}) bool {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(3 * time.Minute); ; {
		select {
		case <-ended:
			return false
		case <-deadline:
			return false
		case <-tick.C:
		}
		conn, err := net.Dial("tcp", address)
		if err != nil {
			continue
		}
		conn.Close()
		select {
		case <-ended: // somebody else listens there
			return false
		default:
			return true
		}
	}
}

// checkReceiver sends a receiver requests that it must accept or refuse.
func checkReceiver(t *testing.T, address string, printed *output) {
	t.Helper()
	now := time.Now()
	const single = `{"id":"1","eventType":"a:b","causationId":"first","payload":{"name":"\u00e9"}}`
	const batch = `{"messages":[{"id":"1","eventType":"a:b","causationId":"first"},{"id":"2","eventType":"c:d",` +
		`"causationId":"second"}]}`
	for _, test := range []struct {
		name, body, secret string
		at                 time.Time
		change             func(http.Header)
		want               int
	}{
		{"genuine", single, "new", now, nil, 204},
		{"again", single, "new", now, nil, 204},
		{"previous secret", single, "old", now, nil, 204},
		{"batch", batch, "new", now, nil, 204},
		{"another secret", single, "newer", now, nil, 403},
		{"too old", single, "new", now.Add(-10 * time.Minute), nil, 403},
		{"from the future", single, "new", now.Add(10 * time.Minute), nil, 403},
		{"another delivery", single, "new", now, func(h http.Header) { h.Set("x-sluice-delivery", "other") }, 403},
		{"a time that was changed", single, "new", now, func(h http.Header) {
			h.Set("x-sluice-signature", strings.Replace(h.Get("x-sluice-signature"), "t=", "t=0", 1))
		}, 403},
		{"two times", single, "new", now, func(h http.Header) {
			h.Set("x-sluice-signature",
				"t=1,"+h.Get("x-sluice-signature"))
		}, 403},
		{"no signature", single, "new", now, func(h http.Header) { h.Del("x-sluice-signature") }, 403},
		{"not a signature", single, "new", now, func(h http.Header) { h.Set("x-sluice-signature", "t=x,v1=zz,=,v1") },
			403},
		{"x-signature alone", single, "new", now, func(h http.Header) {
			h.Set("x-sluice-signature",
				h.Get("x-signature"))
		}, 403},
	} {
		r, err := http.NewRequest(http.MethodPost, "http://"+address+"/events", strings.NewReader(test.body))
		errtest.Fatal(t, err)
		webhook.Sign(r.Header, "0196f0a0-1111-7222-8333-444455556666", test.at, []byte(test.body),
			webhook.Secrets{Current: test.secret})
		if test.change != nil {
			test.change(r.Header)
		}
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("%s: %v: %s", test.name, err, printed)
		}
		reply.Body.Close()
		difftest.Equal(t, fmt.Sprintf("%s: %s", test.name, printed), test.want, reply.StatusCode)
	}
	want := []string{"a:b first\n", "c:d second\n"} // in any order, as each request has a thread of its own
	lines := func() []string { return slices.Sorted(strings.Lines(printed.String())) }
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); len(lines()) < len(want) && time.Now().Before(deadline); <-tick.C {
	}
	if got := lines(); !slices.Equal(got, want) {
		t.Errorf("printed %q, want %q: each message once", got, want)
	}
}

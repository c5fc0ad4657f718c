package storage

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
)

// A client that sends its whole body before it reads the reply gets the reply to a PUT that is refused, and no reset.
func TestRefusedPutIsAnswered(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 5<<20/16)
	signed, _ := presignPut(t, uniqueKey("refused-put"), time.Hour)
	if status, text, err := putNaively(signed, body, true); err != nil || status != http.StatusOK {
		t.Fatalf("the first PUT: %d %s, %v; want 200", status, text, err)
	}
	for _, tt := range []struct {
		name, url string
		status    int
		text      string
	}{
		{"the object exists", signed, http.StatusPreconditionFailed, "PreconditionFailed"},
		{"the signature is wrong", strings.Replace(signed, "X-Amz-Signature=", "X-Amz-Signature=0", 1),
			http.StatusForbidden, "SignatureDoesNotMatch"},
	} {
		for _, expect := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, expect %t", tt.name, expect), func(t *testing.T) {
				for i := range 300 {
					status, text, err := putNaively(tt.url, body, expect)
					if err != nil || status != tt.status || !strings.Contains(text, tt.text) {
						t.Fatalf("round %d: %d %s, %v; want %d with %s", i, status, text, err, tt.status, tt.text)
					}
				}
			})
		}
	}
}

// A token beside the signature of a URL is refused, as AWS refuses it, and the URL can still be used.
func TestASignedURLWithATokenIsRefused(t *testing.T) {
	signed, _ := presignPut(t, uniqueKey("token"), time.Hour)
	status, text := put(t, signed, "x", "If-None-Match", "*", "Authorization", "Bearer x")
	if status != http.StatusBadRequest || !strings.Contains(text, "<Code>InvalidArgument</Code>") ||
		!strings.Contains(text, "Only one auth mechanism allowed") {
		t.Errorf("got %d %s, want 400 InvalidArgument", status, text)
	}
	difftest.Reply(t, "without the token", http.StatusOK)(put(t, signed, "x", "If-None-Match", "*"))
}

// putNaively sends a whole request and reads the reply after that. With expect, it waits for 100 Continue first, unless
// the final reply comes in its place.
func putNaively(target string, body []byte, expect bool) (status int, text string, err error) {
	u, err := url.Parse(target)
	if err != nil {
		return 0, "", err
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		return 0, "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return 0, "", err
	}
	head := fmt.Sprintf("PUT %s HTTP/1.1\r\nHost: %s\r\nIf-None-Match: *\r\nContent-Length: %d\r\n", u.RequestURI(),
		u.Host, len(body))
	if expect {
		head += "Expect: 100-continue\r\n"
	}
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		return 0, "", fmt.Errorf("write the head: %w", err)
	}
	replies := bufio.NewReader(conn)
	if expect {
		resp, err := http.ReadResponse(replies, nil)
		if err != nil {
			return 0, "", fmt.Errorf("read 100: %w", err)
		}
		if resp.StatusCode != http.StatusContinue {
			text, err := io.ReadAll(resp.Body)
			return resp.StatusCode, string(text), err
		}
	}
	if _, err := conn.Write(body); err != nil {
		return 0, "", fmt.Errorf("write the body: %w", err)
	}
	resp, err := http.ReadResponse(replies, nil)
	if err != nil {
		return 0, "", fmt.Errorf("read the reply: %w", err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(all), err
}

package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"sluice/client"
)

// repeat sends a request with an idempotency key and returns the answer. It comes again when the service says so, as
// clients do: on a busy machine an earlier attempt may not have ended in time.
func (s *session) repeat(path, key, body string) (status int, header http.Header, text []byte) {
	s.t.Helper()
	eventually(s.t, "the end of an earlier attempt", func() bool {
		req := s.newRequest(http.MethodPost, path, body)
		req.Header.Set("Idempotency-Key", key)
		status, header, text = send(s.t, req)
		return status != http.StatusConflict || header.Get("Retry-After") == ""
	})
	return status, header, text
}

// replay repeats a request until the service replays a stored answer, or answers with an error. On a busy machine an
// answer is not always stored in time; the request is then carried out again under the same key.
func (s *session) replay(path, key, body string) (status int, header http.Header, text []byte) {
	s.t.Helper()
	eventually(s.t, "an answer that was kept", func() bool {
		status, header, text = s.repeat(path, key, body)
		return status/100 != 2 || header.Get("Idempotency-Replayed") == "true"
	})
	return status, header, text
}

// expectUpload repeats a request for an upload URL, whose answer must be replayed or not, and returns the answer.
func (s *session) expectUpload(key, body string, wantReplayed bool) (u client.Upload) {
	s.t.Helper()
	request := s.repeat
	if wantReplayed {
		request = s.replay
	}
	status, header, text := request(uploadPath, key, body)
	if err := json.Unmarshal(text, &u); err != nil || status != 200 ||
		(header.Get("Idempotency-Replayed") == "true") != wantReplayed {
		s.t.Fatalf("got %d %s with %v, %v; want an upload, replayed: %t", status, text, header, err, wantReplayed)
	}
	return u
}

// A request for an upload URL that is repeated with its key is about one batch, to its end and after it.
func TestUploadRepeated(t *testing.T) {
	s := begin(t)
	const body = `{"reject_on_invalid":false}`
	k := uuid.NewString()
	first := s.expectUpload(k, body, false)
	again := s.expectUpload(k, body, true)
	require(t, again.BatchID == first.BatchID && again.URL != "", "again: got %+v, want a URL for batch %s", again,
		first.BatchID)
	expectPut(t, 200, again, []byte(validLine().String()))
	if last, _ := s.follow(first.BatchID); last.Status != client.StatusProcessed || last.RejectOnInvalid {
		t.Errorf("the batch ended as %+v, want PROCESSED", last)
	}
	ended := s.expectUpload(k, body, true)
	if ended.BatchID != first.BatchID || ended.URL != "" || ended.Message != "The batch awaits no upload any more." {
		t.Errorf("after the end of the batch: got %+v, want the batch without a URL", ended)
	}
	for name, c := range map[string]struct {
		key, body string
		want      string
	}{
		"another body":     {k, "{}", `"type":"idempotency_key_reused"`},
		"a wrong body":     {k + "2", `{"reject_on_invalid":1}`, `"type":"bool_type"`},
		"a key of unicode": {"ké", "{}", `"type":"idempotency_key"`},
		"a key too long":   {strings.Repeat("k", 256), "{}", `"type":"idempotency_key"`},
	} {
		if status, _, text := s.repeat(uploadPath, c.key, c.body); status != 422 ||
			!strings.Contains(string(text), c.want) {
			t.Errorf("%s: got %d %s, want 422 with %s", name, status, text, c.want)
		}
	}
	if u := s.expectUpload(k+"2", "{}", false); u.BatchID == first.BatchID {
		t.Errorf("the key of a refused request: got the batch of another key")
	}
}

// Of twenty requests with one key at once, all that are answered are about one batch, and the others come again.
func TestUploadsRepeatedAtOnce(t *testing.T) {
	s := begin(t)
	key := uuid.NewString()
	var mu sync.Mutex
	batches := map[string]int{}
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			u, err := s.client.CreateUploadWith(t.Context(), client.UploadOptions{IdempotencyKey: key})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			batches[u.BatchID]++
		})
	}
	group.Wait()
	assert(t, len(batches) == 1, "got the batches %v, want one", batches)
}

// A single transaction that is repeated with its key is stored once, and is not sent again over a later content.
func TestSingleTransactionRepeated(t *testing.T) {
	s := begin(t)
	l := validLine()
	text := l.String()
	key := l.modificationID()
	status, _, first := s.repeat(singlePath, key, text)
	require(t, status == 201, "got %d %s, want 201", status, first)
	l.withModification("amount", 99.5)
	if status, header, body := s.repeat(singlePath, key, l.String()); status != 422 {
		t.Errorf("another content with the same key: got %d %s %v, want 422", status, body, header)
	}
	if status, _, body := s.repeat(singlePath, key+" 2", l.String()); status != 201 {
		t.Errorf("another content with another key: got %d %s, want 201", status, body)
	}
	status, header, again := s.replay(singlePath, key, text)
	assert(t, status == 201 && string(again) == string(first) && header.Get("Idempotency-Replayed") == "true",
		"again: got %d %s %v, want 201 %s, replayed", status, again, header, first)
	s.expectStored(l, "", 0)
	if status, header, body := s.repeat(uploadPath, key, "{}"); status != 200 ||
		header.Get("Idempotency-Replayed") != "" {
		t.Errorf("the same key on the other path: got %d %s %v, want a batch of its own", status, body, header)
	}
}

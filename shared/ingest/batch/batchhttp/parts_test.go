package batchhttp_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

var someSHA256 = base64.StdEncoding.EncodeToString(make([]byte, 32))

// The declared properties of a single PUT are signed.
func TestDeclaredUpload(t *testing.T) {
	a := newAPI(t)
	const emptySHA256 = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
	for body, want := range map[string]struct {
		signed  string
		headers map[string]any
	}{
		`{"upload":"single"}`: {"host;if-none-match", map[string]any{"If-None-Match": "*"}},
		`{"content_length":1000}`: {"content-length;host;if-none-match",
			map[string]any{"If-None-Match": "*", "Content-Length": "1000"}},
		`{"checksum_sha256":"` + someSHA256 + `","content_length":null}`: {"host;if-none-match;x-amz-checksum-sha256",
			map[string]any{"If-None-Match": "*", "X-Amz-Checksum-Sha256": someSHA256}},
		`{"content_length":0}`: {"host;if-none-match;x-amz-checksum-sha256",
			map[string]any{"If-None-Match": "*", "X-Amz-Checksum-Sha256": emptySHA256}},
	} {
		t.Run(body, func(t *testing.T) {
			got := a.generateUploadURL(t, body)
			u := errtest.Must(url.Parse(got["url"].(string)))(t)
			if signed := u.Query().Get("X-Amz-SignedHeaders"); signed != want.signed {
				t.Errorf("got the signed headers %s, want %s", signed, want.signed)
			}
			difftest.Equal(t, "required headers", want.headers, got["required_headers"])
		})
	}
}

func TestWrongDeclarations(t *testing.T) {
	a := newAPI(t)
	for body, want := range map[string]string{
		`{"content_length":-1}`:                         "content_length number_range",
		`{"content_length":1001}`:                       "content_length number_range",
		`{"content_length":1.5}`:                        "content_length integer_type",
		`{"checksum_sha256":"x"}`:                       "checksum_sha256 checksum",
		`{"checksum_sha256":"` + someSHA256[1:] + `"}`:  "checksum_sha256 checksum",
		`{"checksum_sha256":"` + someSHA256 + `\n"}`:    "checksum_sha256 checksum",
		`{"checksum_sha256":""}`:                        "checksum_sha256 checksum",
		`{"upload":"resumable"}`:                        "upload enum",
		`{"upload":"multipart"}`:                        "content_length missing",
		`{"upload":"multipart","content_length":1001}`:  "content_length number_range",
		`{"upload":"single","part_checksums":true}`:     "part_checksums multipart_only",
		`{"part_checksums":true,"content_length":1001}`: "content_length number_range part_checksums multipart_only",
	} {
		status, reply := a.call(t, "POST", "/batch/generate-upload-url", body)
		if got := details(reply); status != 422 || got != want {
			t.Errorf("%s: got %d %s, want 422 %s", body, status, got, want)
		}
	}
}

// details returns the places and codes of a 422.
func details(reply map[string]any) string {
	var found []string
	list, _ := reply["detail"].([]any)
	for _, d := range list {
		detail := d.(map[string]any)
		for _, step := range detail["loc"].([]any)[1:] {
			found = append(found, fmt.Sprint(step))
		}
		found = append(found, detail["type"].(string))
	}
	return strings.Join(found, " ")
}

// multipart begins an upload in parts of 1,000 bytes: 400, 400 and 200.
func (a *api) multipart(t *testing.T, more string) (id string) {
	t.Helper()
	got := a.generateUploadURL(t, `{"upload":"multipart","content_length":1000`+more+`}`)
	id = got["batch_id"].(string)
	uploadID, _ := got["upload_id"].(string)
	want := map[string]any{"batch_id": id, "upload_id": uploadID, "part_size": 400.0, "part_count": 3.0,
		"expires_at": "2026-11-27T08:30:00Z", "max_bytes": 1000.0}
	if diff := gocmp.Diff(want, got); diff != "" || uploadID == "" {
		t.Fatalf("the reply (-want +got):\n%s", diff)
	}
	return id
}

// The URL of a part is for exactly its bytes, and puts off the end of the upload.
func TestSignParts(t *testing.T) {
	a := newAPI(t)
	id := a.multipart(t, "")
	a.now = now.Add(time.Hour)
	status, reply := a.call(t, "POST", "/batch/upload-parts/"+id, `{"part_numbers":[3,1]}`)
	list, _ := reply["parts"].([]any)
	if status != 200 || len(list) != 2 {
		t.Fatalf("got %d %v, want two parts", status, reply)
	}
	for i, want := range []struct{ number, size string }{{"3", "200"}, {"1", "400"}} {
		part := list[i].(map[string]any)
		u, err := url.Parse(part["url"].(string))
		headers := map[string]any{"Content-Length": want.size}
		if err != nil || u.Query().Get("partNumber") != want.number || u.Query().Get("uploadId") != "upload-1-false" ||
			u.Path != "/uploads/uploads/t1/"+id || !gocmp.Equal(part["required_headers"], any(headers)) ||
			u.Query().Get("X-Amz-SignedHeaders") != "content-length;host" || part["expires_at"] == "" {
			t.Errorf("got %v, %v, want part %s of %s bytes", part, err, want.number, want.size)
		}
	}
	b, err := a.batches.Get(t.Context(), batch.ID(id))
	if want := now.Add(75 * time.Minute); err != nil || !b.UploadBy.Equal(want) {
		t.Errorf("the upload ends at %v, %v, want %v", b.UploadBy, err, want)
	}
	if _, reply := a.call(t, "GET", "/batch/upload-parts/"+id, ""); reply["expires_at"] != "2026-11-27T09:30:00Z" {
		t.Errorf("got %v, want the end put off to 2026-11-27T09:30:00Z", reply["expires_at"])
	}
	a.now = now.Add(batch.MaxMultipartAge - time.Hour)
	a.call(t, "POST", "/batch/upload-parts/"+id, `{"part_numbers":[1]}`)
	if _, reply := a.call(t, "GET", "/batch/upload-parts/"+id, ""); reply["expires_at"] != "2026-12-02T08:15:00Z" {
		t.Errorf("got %v, want it put off no further than 2026-12-02T08:15:00Z", reply["expires_at"])
	}
}

func TestWrongPartNumbers(t *testing.T) {
	a := newAPI(t)
	plain, summed := a.multipart(t, ""), a.multipart(t, `,"part_checksums":true`)
	many := strings.Repeat("1,", 100)
	sum := `"` + someSHA256 + `"`
	for _, tt := range []struct{ id, body, want string }{
		{plain, ``, "part_numbers array_too_short"},
		{plain, `{"part_numbers":[]}`, "part_numbers array_too_short"},
		{plain, `{"part_numbers":[` + many + `1]}`, "part_numbers array_too_long"},
		{plain, `{"part_numbers":[0,4,2,2]}`,
			"part_numbers 0 number_range part_numbers 1 number_range part_numbers 3 repeated"},
		{plain, `{"part_numbers":["1"]}`, "part_numbers 0 integer_type"},
		{plain, `{"part_numbers":[1],"other":1}`, "other extra_forbidden"},
		{plain, `{"part_numbers":[1],"checksums_sha256":[` + sum + `]}`, "checksums_sha256 extra_forbidden"},
		{summed, `{"part_numbers":[1]}`, "checksums_sha256 missing"},
		{summed, `{"part_numbers":[1],"checksums_sha256":[` + sum + `,` + sum + `]}`, "checksums_sha256 missing"},
		{summed, `{"part_numbers":[1],"checksums_sha256":["x"]}`, "checksums_sha256 0 checksum"},
		{summed, `{"part_numbers":[1],"checksums_sha256":[` + sum + `]}`, ""},
	} {
		status, reply := a.call(t, "POST", "/batch/upload-parts/"+tt.id, tt.body)
		if got := details(reply); got != tt.want || (status == 200) != (tt.want == "") {
			t.Errorf("%s: got %d %s, want %s", tt.body, status, got, tt.want)
		}
		if status == 200 {
			part := reply["parts"].([]any)[0].(map[string]any)
			want := map[string]any{"Content-Length": "400", "X-Amz-Checksum-Sha256": someSHA256}
			difftest.Equal(t, "required headers", want, part["required_headers"])
		}
	}
}

const allParts = `{"parts":[{"part_number":3,"etag":"c"},{"part_number":1,"etag":"\"a\""},{"part_number":2,` +
	`"etag":"b"}]}`

// storeAll stores all parts of an upload.
func (a *api) storeAll() {
	a.parts.store(1, 400, "a")
	a.parts.store(2, 400, "b")
	a.parts.store(3, 200, "c")
}

// expect makes a request that is answered with a status and, if it is not empty, a message.
func (a *api) expect(t *testing.T, what, method, path, body string, status int, message string) {
	t.Helper()
	got, reply := a.call(t, method, path, body)
	if got != status || message != "" && reply["message"] != message {
		t.Errorf("%s: got %d %v, want %d %s", what, got, reply, status, message)
	}
}

func TestCompletion(t *testing.T) {
	a := newAPI(t)
	id := a.multipart(t, "")
	path := "/batch/complete-upload/" + id
	a.expect(t, "nothing stored", "POST", path, allParts, 409, "Parts 1, 2, 3 are not uploaded.")
	a.parts.store(1, 400, "a")
	a.parts.store(2, 400, "x")
	a.expect(t, "some stored", "POST", path, allParts, 409,
		"Part 3 is not uploaded. Part 2 was uploaded with another ETag.")
	a.parts.store(2, 399, "b")
	a.parts.store(3, 200, "c")
	a.expect(t, "a part too small", "POST", path, allParts, 409, "Part 2 has the wrong size; upload it again.")
	a.storeAll()
	a.expect(t, "none named", "POST", path, `{"parts":[]}`, 409, "Parts 1, 2, 3 are not named.")
	for body, want := range map[string]string{
		"":               "parts missing",
		`{}`:             "parts missing",
		`{"parts":null}`: "parts missing",
		`{"parts":[{"part_number":1,"etag":"a"},{"part_number":1,"etag":"a"}]}`: "parts 1 part_number repeated",
		`{"parts":[{"part_number":4,"etag":"a"}]}`:                              "parts 0 part_number number_range",
		`{"parts":[{"part_number":1,"etag":"\"\""}]}`:                           "parts 0 etag missing",
		`{"parts":[{},{},{},{}]}`:                                               "parts array_too_long",
		`{"parts":[{"part_number":1,"etag":"a","size":4}]}`:                     "parts 0 size extra_forbidden",
	} {
		if status, reply := a.call(t, "POST", path, body); status != 422 || details(reply) != want {
			t.Errorf("%s: got %d %s, want 422 %s", body, status, details(reply), want)
		}
	}
	a.parts.onComplete = func() { a.parts.store(2, 400, "later") }
	a.expect(t, "a part changed meanwhile", "POST", path, allParts, 409,
		"A part was uploaded again meanwhile. List the parts, and try again.")
	a.parts.onComplete = nil
	a.storeAll()
	for _, call := range []string{"first", "repeated"} {
		a.expect(t, call, "POST", path, allParts, 200, "")
	}
	other := strings.Replace(allParts, `"b"`, `"x"`, 1)
	a.expect(t, "other parts", "POST", path, other, 409, "The upload is complete, with other parts than these.")
	a.expect(t, "list", "GET", "/batch/upload-parts/"+id, "", 409, "The upload is complete.")
	a.expect(t, "give up", "DELETE", "/batch/upload-parts/"+id, "", 409, "The upload is complete.")

	a.apply(t, id, batch.Transition{To: batch.Uploaded, ReceivedAt: now,
		Object: &batch.Object{Key: "k", ETag: `"e-3"`, Size: 1000}}, batch.Transition{To: batch.Failed,
		ErrorMessage: "It failed."})
	a.expect(t, "repeated after the end", "POST", path, allParts, 200, "")
	a.expect(t, "other parts after the end", "POST", path, other, 409, "")
	a.expect(t, "more URLs", "POST", "/batch/upload-parts/"+id, `{"part_numbers":[1]}`, 409, "The upload is complete.")
	a.expect(t, "give up after the end", "DELETE", "/batch/upload-parts/"+id, "", 409, "The upload is complete.")
}

// A completion whose answer is lost is repeated, and of two at once both succeed.
func TestRepeatedCompletion(t *testing.T) {
	a := newAPI(t)
	id := a.multipart(t, "")
	a.storeAll()
	a.parts.lost = true
	a.expect(t, "lost answer", "POST", "/batch/complete-upload/"+id, allParts, 500, "")
	a.expect(t, "repeated", "POST", "/batch/complete-upload/"+id, allParts, 200, "")

	b := newAPI(t)
	id = b.multipart(t, "")
	b.storeAll()
	first := true
	b.parts.onComplete = func() {
		if first {
			first = false
			b.expect(t, "the second", "POST", "/batch/complete-upload/"+id, allParts, 200, "")
		}
	}
	b.expect(t, "the first", "POST", "/batch/complete-upload/"+id, allParts, 200, "")
}

// An upload that is given up ends its batch, and nothing more is taken.
func TestGivenUpUpload(t *testing.T) {
	a := newAPI(t)
	id := a.multipart(t, "")
	a.parts.store(1, 400, "a")
	for _, call := range []string{"first", "repeated"} {
		a.expect(t, call, "DELETE", "/batch/upload-parts/"+id, "", 200, "")
	}
	if _, aborted := a.parts.state(); !aborted || len(a.closer.asked) == 0 {
		t.Errorf("the upload is aborted: %t, and %d closes are asked for; want true and some", aborted,
			len(a.closer.asked))
	}
	const ended = "The batch has ended. The upload was given up by the client."
	_, reply := a.call(t, "GET", "/batch/status/"+id, "")
	if reply["status"] != "ERROR" || reply["error_message"] != "The upload was given up by the client." {
		t.Errorf("the status is %v, want ERROR", reply)
	}
	a.expect(t, "more URLs", "POST", "/batch/upload-parts/"+id, `{"part_numbers":[1]}`, 409, ended)
	a.expect(t, "list", "GET", "/batch/upload-parts/"+id, "", 409, ended)
	a.expect(t, "completion", "POST", "/batch/complete-upload/"+id, allParts, 409, ended)
}

// A completion that finds the batch ended in between is refused.
func TestCompletionOfEndedBatch(t *testing.T) {
	a := newAPI(t)
	id := a.multipart(t, "")
	a.storeAll()
	a.parts.onComplete = func() { a.apply(t, id, batch.Transition{To: batch.Failed, ErrorMessage: "Cancelled."}) }
	a.expect(t, "completion", "POST", "/batch/complete-upload/"+id, allParts, 409, "The batch has ended. Cancelled.")
	a.expect(t, "give up", "DELETE", "/batch/upload-parts/"+id, "", 409, "The batch has ended. Cancelled.")
}

// A cancel removes the parts.
func TestCancelledUpload(t *testing.T) {
	a := newAPI(t)
	id := a.multipart(t, "")
	a.storeAll()
	a.expect(t, "cancel", "POST", "/batch/cancel/"+id, "", 200, "")
	if _, aborted := a.parts.state(); !aborted {
		t.Error("the upload is not aborted")
	}
	a.expect(t, "completion", "POST", "/batch/complete-upload/"+id, allParts, 409,
		"The batch has ended. Cancelled by the client.")
}

// Storage deletes the parts of an upload that takes too long.
func TestExpiredUpload(t *testing.T) {
	a := newAPI(t)
	id := a.multipart(t, "")
	a.storeAll()
	for _, u := range a.parts.uploads {
		u.aborted = true
	}
	const gone = "The upload was not completed in time, and its parts are deleted. Begin a new batch."
	a.expect(t, "list", "GET", "/batch/upload-parts/"+id, "", 409, gone)
	a.expect(t, "completion", "POST", "/batch/complete-upload/"+id, allParts, 409, gone)
	a.now = now.Add(batch.MaxMultipartAge + time.Second)
	a.expect(t, "more URLs", "POST", "/batch/upload-parts/"+id, `{"part_numbers":[1]}`, 409, gone)
}

// Routes of parts are for batches of the tenant that are uploaded in parts.
func TestPartsOfOtherBatches(t *testing.T) {
	a := newAPI(t)
	single, foreign := a.createBatch(t), a.multipart(t, "")
	routes := []struct{ method, path, body string }{
		{"POST", "/batch/upload-parts/", `{"part_numbers":[1]}`}, {"GET", "/batch/upload-parts/", ""},
		{"DELETE", "/batch/upload-parts/", ""}, {"POST", "/batch/complete-upload/", allParts},
	}
	for _, r := range routes {
		a.expect(t, "a single PUT", r.method, r.path+single, r.body, 409,
			"The file of this batch is uploaded by a single PUT; it has no parts.")
		a.expect(t, "no UUID", r.method, r.path+"x", r.body, 422, "")
	}
	again := struct{ method, path, body string }{"POST", "/batch/upload-url/", ""}
	a.expect(t, "a multipart upload", again.method, again.path+foreign, again.body, 409,
		"The file of this batch is uploaded in parts; ask for their URLs with POST upload-parts.")
	a.expect(t, "no UUID", again.method, again.path+"x", again.body, 422, "")
	routes = append(routes, again)
	a.caller.Tenant = "t2"
	for _, r := range routes {
		a.expect(t, "a foreign batch", r.method, r.path+foreign, r.body, 404, "Batch not found.")
	}
	a.caller.Permissions = nil
	for _, r := range routes {
		a.expect(t, "without the permission", r.method, r.path+foreign, r.body, http.StatusForbidden, "")
	}
}

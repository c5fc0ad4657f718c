package e2e

import (
	"strings"
	"testing"

	"sluice/client"
)

// A file that comes again is noticed, packed or not, and rejected if that is asked for; the command line says so.
func TestDuplicateFiles(t *testing.T) {
	s := begin(t)
	file := jsonLines(validLines(3)...)
	rejects := client.UploadOptions{RejectOnInvalid: true, OnDuplicate: client.RejectDuplicate}
	first, _ := s.processWith(rejects, file)
	require(t, first.Status == client.StatusProcessed && first.DuplicateOf == "",
		"the first batch is %+v, want PROCESSED, a duplicate of none", first)
	message := "This file was processed as batch " + first.BatchID + "."
	for name, content := range map[string][]byte{"the same file": file, "its gzip": packGzip(t, file)} {
		got, _ := s.processWith(rejects, content)
		result := s.result(got.BatchID)
		assert(t, got.Status == client.StatusValidationFailed && got.ErrorMessage == message &&
			got.DuplicateOf == first.BatchID && result.Valid != nil && !(*result.Valid) && result.Message == message,
			"%s: got %+v and %+v, want VALIDATION_FAILED: %s", name, got, result, message)
	}
	path := writeFile(t, "batch.jsonl", file)
	stdout, stderr, code := login(t, environment).command("upload", path, "--on-duplicate", "reject")
	assert(t, code == 1 && stderr == "" && strings.Contains(stdout, message),
		"upload --on-duplicate reject: exit code %d, stderr %q, %s; want 1 and %s", code, stderr, stdout, message)
	stdout, stderr, code = login(t, environment).command("upload", path)
	assert(t, code == 0 && stderr == "" && strings.Contains(stdout, "the same file as batch "+first.BatchID+"\n"),
		"upload: exit code %d, stderr %q, %s; want 0 and the batch %s", code, stderr, stdout, first.BatchID)
	if _, stderr, code := login(t, environment).command("upload", path, "--on-duplicate", "refuse"); code != 2 {
		t.Errorf("upload --on-duplicate refuse: exit code %d, stderr %q, want 2", code, stderr)
	}
}

// Equal files at the same time are processed, or rejected for one that was processed; all but one name another batch.
func TestEqualFilesAtOnce(t *testing.T) {
	s := begin(t)
	file := jsonLines(validLines(3)...)
	var ids []string
	for range 3 {
		u := ok(s.client.CreateUploadWith(t.Context(),
			client.UploadOptions{RejectOnInvalid: true, OnDuplicate: client.RejectDuplicate}))(t)
		expectPut(t, 200, u, file)
		ids = append(ids, u.BatchID)
	}
	originals := 0
	for _, id := range ids {
		switch b, _ := s.follow(id); {
		case b.Status == client.StatusProcessed && b.DuplicateOf == "":
			originals++
		case b.DuplicateOf == "" || b.DuplicateOf == b.BatchID:
			t.Errorf("got %+v, want a batch that names another one", b)
		}
	}
	assert(t, originals == 1, "%d batches are PROCESSED and duplicates of none, want 1", originals)
}

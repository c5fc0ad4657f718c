package console

import (
	"encoding/json"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// Only so many files are uploaded at a time. A file that waits can be removed.
func TestUploadsWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	test := newFilesTest(t, FilesConfig{})
	for range maxUploads {
		test.uploads <- struct{}{}
	}
	first, second := test.drop("a", lines(1)), test.drop("b", lines(2))
	for _, id := range []string{first, second} {
		test.awaitState(id, stateChecked)
		test.startUpload(id, "{}")
		test.await(id, "waiting", func(r fileRecord) bool { return r.Upload.Waiting })
	}
	test.call("DELETE", "/"+first, "", nil)
	difftest.Equal(t, "requests of uploads that wait", 0, len(test.service.Requests()))
	<-test.uploads
	test.awaitState(second, stateDone)
	for range maxUploads - 1 {
		<-test.uploads
	}
}

// When the console ends, it says how to go on with each upload, in a command line that a shell reads as it is meant.
func TestUnfinishedUploads(t *testing.T) {
	t.Parallel()
	test := newFilesTest(t, FilesConfig{Flags: "--profile test"})
	test.partsFrom = 100
	arrived, _ := test.holdPart("2")
	large := test.drop("-it's large.jsonl", lines(1))
	test.awaitState(large, stateChecked)
	test.startUpload(large, "{}")
	<-arrived
	for range maxUploads - 1 {
		test.uploads <- struct{}{}
	}
	small := test.drop("small.jsonl", "{}")
	test.awaitState(small, stateChecked)
	test.startUpload(small, `{"reject_on_invalid": false, "name": "a b", "metadata": {"k": "v w"},
		"validate_only": true, "on_duplicate": "reject_open",
		"screen_unknown": {"threshold": 87.5, "on_hit": "reject"}}`)
	test.await(small, "waiting", func(r fileRecord) bool { return r.Upload.Waiting })
	errtest.Fatal(t, test.Close())
	var got []string
	for _, u := range test.Unfinished() {
		got = append(got, u.Command)
	}
	want := []string{
		`sluice upload --profile test --resume 01980000-0000-7000-8000-000000000001 './-it'\''s large.jsonl'`,
		"sluice upload --profile test small.jsonl --reject-on-invalid=false --validate-only " +
			"--on-duplicate reject_open --name 'a b' --metadata 'k=v w' --screen all --threshold 87.5 --on-hit reject",
	}
	if text, _ := json.Marshal(got); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("the commands are %s, want %q", text, want)
	}
}

package e2e

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"sluice/client"
)

// packGzip returns a gzip member.
func packGzip(t *testing.T, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	ok(w.Write(content))(t)
	must(t, w.Close())
	return out.Bytes()
}

// packZstd returns a zstd frame.
func packZstd(t *testing.T, content []byte) []byte {
	t.Helper()
	w := ok(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)))(t)
	defer w.Close()
	return w.EncodeAll(content, nil)
}

// What is wrong with a packed file is said where it is noticed, and nothing of the file is stored.
func TestRefusedPackedFiles(t *testing.T) {
	t.Parallel()
	onboardEntities(t, environment)
	l := validLine()
	content := jsonLines(l)
	g, z := packGzip(t, content), packZstd(t, content)
	bomb := bytes.Repeat(packGzip(t, make([]byte, 10<<20)), 100)
	tar := slices.Concat(bytes.Repeat([]byte("a"), 257), []byte("ustar"), content)
	cut := func(file []byte) []byte { return file[:len(file)-1] }
	for _, test := range []struct {
		name, message string
		file          []byte
	}{
		{"a cut gzip stream", fmt.Sprintf("The gzip stream is damaged at byte %d.", len(g)-1), cut(g)},
		{"a cut zstd stream", fmt.Sprintf("The zstd stream is damaged at byte %d.", len(z)-1), cut(z)},
		{"garbage after gzip", fmt.Sprintf("The gzip stream ends at byte %d, and 10 bytes follow its last member. "+
			"Remove what follows.", len(g)), append(slices.Clone(g), "0123456789"...)},
		{"a byte after zstd", fmt.Sprintf("The zstd stream ends at byte %d, and 1 byte follows its last frame. "+
			"Remove what follows.", len(z)), append(slices.Clone(z), '\n')},
		{"a bomb of 1 GB", fmt.Sprintf("The file unpacks to more than 100 times its size of %d bytes, which is as "+
			"much as is allowed. Upload it unpacked.", len(bomb)), bomb},
		{"a tar.gz", "The file unpacks to an archive (tar archive); pack the JSON Lines themselves, and once.",
			packGzip(t, tar)},
		{"gzip in zstd", "The file unpacks to an archive (gzip archive); pack the JSON Lines themselves, and once.",
			packZstd(t, g)},
		{"an executable", "The file unpacks to an executable (ELF executable), not to JSON Lines.",
			packZstd(t, []byte("\x7fELF...."))},
		{"malware", "The malware scan refused the file (Eicar-Test-Signature).",
			packGzip(t, append(slices.Clone(content), eicar...))},
	} {
		t.Run(test.name, func(t *testing.T) {
			api := begin(t)
			last := api.expectProcess("ERROR", test.file)
			assert(t, last.ErrorMessage == test.message, "the message is %q, want %q", last.ErrorMessage, test.message)
			if r := api.result(last.BatchID); r.Valid != nil || r.ErrorsFileURL != "" || r.Message != test.message {
				t.Errorf("validation result %+v, want valid null, no report and the same message", r)
			}
			api.expectNotStored(l)
		})
	}
	t.Run("gzip of nothing", func(t *testing.T) {
		t.Parallel()
		last := login(t, environment).expectProcess("VALIDATION_FAILED", packGzip(t, nil))
		want := "The file contains no transaction."
		assert(t, last.ErrorMessage == want, "the message is %q, want %q", last.ErrorMessage, want)
	})
}

// What was announced of a file is what it must be.
func TestAnnouncedEncodings(t *testing.T) {
	api := begin(t)
	content := jsonLines(validLine())
	g, z := packGzip(t, content), packZstd(t, content)
	for _, test := range []struct {
		announced string
		file      []byte
		message   string
		found     string
	}{
		{"identity", content, "", "identity"},
		{"gzip", g, "", "gzip"},
		{"zstd", z, "", "zstd"},
		{"gzip", content, "The file was announced as packed with gzip, but it does not begin as such a file does.",
			"identity"},
		{"zstd", nil, "The file was announced as packed with zstd, but it does not begin as such a file does.",
			"identity"},
		{"zstd", g, "The file was announced as packed with zstd, but it is packed with gzip.", "gzip"},
		{"identity", z, "The file was announced as not packed, but it is packed with zstd.", "zstd"},
	} {
		u, err := api.client.CreateUploadWith(t.Context(), client.UploadOptions{ContentEncoding: test.announced})
		if err == nil {
			err = api.client.UploadFile(t.Context(), u, bytes.NewReader(test.file), int64(len(test.file)), nil)
		}
		must(t, err)
		last, _ := api.follow(u.BatchID)
		want := "PROCESSED"
		if test.message != "" {
			want = "ERROR"
		}
		assert(t, last.Status == want && last.ErrorMessage == test.message && last.ContentEncoding == test.found,
			"%d bytes announced as %s: ended with %s (%q) of %s, want %s (%q) of %s", len(test.file), test.announced,
			last.Status, last.ErrorMessage, last.ContentEncoding, want, test.message, test.found)
	}
}

package unpack_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/unpack"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

var text = strings.Repeat(`{"request_uuid":"1f0a8f4e-6f54-4d0a-8c6b-0d9a5c7b4e15"}`+"\n", 3)

// packGzip returns a gzip member.
func packGzip(t testing.TB, content string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Name = "batch.jsonl"
	errtest.Fatal(t, errtest.Of(io.WriteString(w, content)))
	errtest.Fatal(t, w.Close())
	return out.Bytes()
}

// packZstd returns a zstd frame with a checksum.
func packZstd(t testing.TB, content string) []byte {
	t.Helper()
	w := errtest.Must(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true)))(t)
	defer w.Close()
	return w.EncodeAll([]byte(content), nil)
}

// pack returns text packed, by the names of encodings.
var pack = map[batch.Encoding]func(testing.TB, string) []byte{batch.Gzip: packGzip, batch.Zstd: packZstd}

// skippable is a skippable frame of zstd.
const skippable = "\x5a\x2a\x4d\x18\x03\x00\x00\x00abc"

var generous = unpack.Limits{MaxBytes: 1 << 30, MaxRatio: 10000}

// readAll unpacks a file.
func readAll(packed io.Reader, encoding batch.Encoding, size int, limits unpack.Limits) (string, error) {
	r := unpack.NewReader(packed, encoding, int64(size), limits)
	defer r.Close()
	content, err := io.ReadAll(r)
	return string(content), err
}

func damagedAt(encoding batch.Encoding, at int) string {
	return fmt.Sprintf("The %s stream is damaged at byte %d.", encoding, at)
}

func trailingAt(encoding batch.Encoding, at, n int) string {
	follow := fmt.Sprint(n, " bytes follow")
	if n == 1 {
		follow = "1 byte follows"
	}
	part := map[batch.Encoding]string{batch.Gzip: "member", batch.Zstd: "frame"}[encoding]
	return fmt.Sprintf("The %s stream ends at byte %d, and %s its last %s. Remove what follows.", encoding, at, follow,
		part)
}

func TestRecognize(t *testing.T) {
	for head, want := range map[string]batch.Encoding{
		"": batch.Identity, "{": batch.Identity, "\x1f\x8b": batch.Identity, "\x1f\x8b\x08": batch.Gzip,
		"\x1f\x8b\x07\x00": batch.Identity, "\x28\xb5\x2f": batch.Identity, "\x28\xb5\x2f\xfd": batch.Zstd,
		"\x50\x2a\x4d\x18": batch.Zstd, "\x5f\x2a\x4d\x18": batch.Zstd, "\x60\x2a\x4d\x18": batch.Identity,
		"P*M": batch.Identity, "PK\x03\x04": batch.Identity,
	} {
		difftest.Equal(t, head, want, unpack.Recognize([]byte(head)))
	}
}

// All members and all frames belong to a file, wherever a read ends.
func TestWholeFiles(t *testing.T) {
	g, z := packGzip(t, text), packZstd(t, text)
	emptyGzip, emptyZstd := packGzip(t, ""), packZstd(t, "")
	for name, tt := range map[string]struct {
		encoding batch.Encoding
		packed   []byte
		want     string
	}{
		"gzip":                    {batch.Gzip, g, text},
		"gzip of nothing":         {batch.Gzip, emptyGzip, ""},
		"members":                 {batch.Gzip, slices.Concat(g, emptyGzip, g, emptyGzip), text + text},
		"zstd":                    {batch.Zstd, z, text},
		"zstd of nothing":         {batch.Zstd, emptyZstd, ""},
		"frames":                  {batch.Zstd, slices.Concat(z, emptyZstd, z), text + text},
		"skippable frames":        {batch.Zstd, slices.Concat([]byte(skippable), z, []byte(skippable)), text},
		"nothing but a skippable": {batch.Zstd, []byte(skippable), ""},
	} {
		t.Run(name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"at once": bytes.NewReader(tt.packed), "byte by byte": iotest.OneByteReader(bytes.NewReader(tt.packed)),
				"the end with the data": iotest.DataErrReader(bytes.NewReader(tt.packed)),
			} {
				difftest.Equal(t, how, tt.want, errtest.Must(readAll(r, tt.encoding, len(tt.packed), generous))(t))
			}
		})
	}
}

// A stream that is cut is damaged at its end. If a file goes on where nothing may follow, its message says where and by
// how much.
func TestDamagedFiles(t *testing.T) {
	for encoding, pack := range pack {
		one := pack(t, text)
		two := slices.Concat(one, one)
		for end := range len(two) {
			if end == 0 || end == len(one) { // nothing, or a file that is whole
				continue
			}
			_, err := readAll(bytes.NewReader(two[:end]), encoding, end, generous)
			if want := damagedAt(encoding, end); err == nil || err.Error() != want {
				t.Errorf("%s cut after %d of %d bytes: got error %v, want %q", encoding, end, len(two), err, want)
			}
		}
		for _, garbage := range []string{"\x00\x00\x00\x00", "{}\n{}\n{}\n{}\n",
			"\x1f\x8b\x09\x00\x00\x00\x00\x00\x00\x00", "\n", "\x00", "]", "\x1f\x8c", "xx\n",
			"\x28\xb5\x2e"} {
			packed := slices.Concat(two, []byte(garbage))
			content, err := readAll(bytes.NewReader(packed), encoding, len(packed), generous)
			want := trailingAt(encoding, len(two), len(garbage))
			if err == nil || err.Error() != want || content != text+text {
				t.Errorf("%s and %q: got %d bytes, error %v, want %d bytes and %q", encoding, garbage, len(content),
					err, 2*len(text), want)
			}
		}
	}
}

// A bit that flips is noticed, unless it is one of the name or the time in the header of gzip, which nothing depends
// on.
func TestFlippedBits(t *testing.T) {
	for encoding, pack := range pack {
		packed := pack(t, text)
		unnoticed := 0
		for i := range 8 * len(packed) {
			flipped := slices.Clone(packed)
			flipped[i/8] ^= 1 << (i % 8)
			content, err := readAll(bytes.NewReader(flipped), encoding, len(packed), generous)
			if err == nil && content != text {
				t.Errorf("%s with bit %d flipped: got another content and no error", encoding, i)
			}
			if err != nil && !errors.As(err, new(*unpack.Error)) {
				t.Errorf("%s with bit %d flipped: got error %v, want one for the client", encoding, i, err)
			}
			if err == nil {
				unnoticed++
			}
		}
		// Four bytes of time, two of the packing program and system, and the name.
		if most := map[batch.Encoding]int{batch.Gzip: 8 * (4 + 2 + len("batch.jsonl\x00")),
			batch.Zstd: 16}[encoding]; unnoticed > most {
			t.Errorf("%s: %d flipped bits were not noticed, want %d at most", encoding, unnoticed, most)
		}
	}
}

func TestLimits(t *testing.T) {
	size := int64(len(text))
	for encoding, pack := range pack {
		packed := pack(t, text)
		ratio := (size + int64(len(packed)) - 1) / int64(len(packed))
		for name, tt := range map[string]struct {
			limits unpack.Limits
			want   string
		}{
			"as large as allowed": {unpack.Limits{MaxBytes: size}, ""},
			"a byte too large": {unpack.Limits{MaxBytes: size - 1, MaxRatio: 1000},
				fmt.Sprintf("The file unpacks to more than the %d bytes that are allowed. Split it into several "+
					"batches.", size-1)},
			"as dense as allowed": {unpack.Limits{MaxBytes: 1000, MaxRatio: ratio}, ""},
			"too dense": {unpack.Limits{MaxBytes: 1000, MaxRatio: ratio - 1},
				fmt.Sprintf("The file unpacks to more than %d times its size of %d bytes, which is as much as is "+
					"allowed. Upload it unpacked.", ratio-1, len(packed))},
			"nothing allowed": {unpack.Limits{},
				"The file unpacks to more than the 0 bytes that are allowed. Split it into " + "several batches."},
		} {
			t.Run(string(encoding)+" "+name, func(t *testing.T) {
				content, err := readAll(bytes.NewReader(packed), encoding, len(packed), tt.limits)
				got := ""
				if err != nil {
					got = err.Error()
				}
				if got != tt.want || err == nil && content != text {
					t.Errorf("got %d bytes, error %q, want %q", len(content), got, tt.want)
				}
			})
		}
	}
}

// A file of 1 MB that unpacks to 1 GB is given up once it has passed its limit.
func TestBomb(t *testing.T) {
	for encoding, pack := range pack {
		part := pack(t, strings.Repeat("\x00", 10<<20))
		bomb := bytes.Repeat(part, 100)
		packed := bytes.NewReader(bomb)
		r := unpack.NewReader(packed, encoding, int64(len(bomb)), unpack.Limits{MaxBytes: 2 << 30, MaxRatio: 20})
		n, err := io.Copy(io.Discard, r)
		r.Close()
		if want := int64(20 * len(bomb)); n != want || !errors.As(err, new(*unpack.Error)) {
			t.Errorf("%s of %d bytes: got %d bytes unpacked, error %v, want %d and an error for the client", encoding,
				len(bomb), n, err, want)
		}
	}
}

// Features that the formats allow and the service does not are refused by the header of the frame.
func TestRefusedFrames(t *testing.T) {
	const magic, lastBlock = "\x28\xb5\x2f\xfd", "\x19\x00\x00abc" // three bytes as they are
	for name, tt := range map[string]struct{ packed, content, want string }{
		"a window of 128 MiB": {packed: magic + "\x00\x88" + lastBlock, content: "abc"},
		"a window of 144 MiB": {packed: magic + "\x00\x89" + lastBlock,
			want: "The zstd stream needs 128 MiB of memory or more to be unpacked. Pack it again with a smaller " +
				"window: without --long, or with --long=27 at most."},
		"one segment of 129 MiB": {packed: magic + "\xa0\x00\x00\x10\x08" + lastBlock,
			want: "The zstd stream needs 128 MiB of memory or more to be unpacked. Pack it again with a smaller " +
				"window: without --long, or with --long=27 at most."},
		"a dictionary": {packed: magic + "\x01\x48\x07" + lastBlock,
			want: "The zstd stream needs a dictionary. Pack it again without one."},
		"a reserved bit": {packed: magic + "\x08\x48" + lastBlock, want: damagedAt(batch.Zstd, 5)},
	} {
		t.Run(name, func(t *testing.T) {
			content, err := readAll(strings.NewReader(tt.packed), batch.Zstd, len(tt.packed), generous)
			got := ""
			if err != nil {
				got = err.Error()
			}
			difftest.Equal(t, "result", []any{tt.want, tt.content}, []any{got, content})
		})
	}
}

// An error of the packed file is never taken for damage, or for its end.
func TestErrorsOfThePackedFile(t *testing.T) {
	for encoding, pack := range pack {
		packed := pack(t, text)
		packed = slices.Concat(packed, packed)
		for _, want := range []error{io.ErrUnexpectedEOF, errors.New("lost")} {
			for end := range len(packed) + 1 {
				lost := io.MultiReader(bytes.NewReader(packed[:end]), iotest.ErrReader(want))
				errtest.Is(t, fmt.Sprintf("%s lost after %d bytes", encoding, end),
					errtest.Of(readAll(lost, encoding, len(packed), generous)), want)
			}
		}
	}
}

package storedline

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"sluice/sampledata"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// generate returns lines of the generator, other ones than those on which dictionaries are trained.
func generate(n int64, seed uint64) []Line {
	s := scanner.New(transaction.Rules{})
	var lines []Line
	for i, text := range sampledata.Lines(n, seed, 0) {
		identity := s.Identify(text)
		lines = append(lines, Line{
			TransactionID: string(identity.TransactionExternalID), ModificationID: string(identity.ModificationID),
			Number: int64(i + 1), MainEntity: identity.MainEntity, Text: text,
		})
	}
	return lines
}

func newTestCodec(t testing.TB) *Codec {
	t.Helper()
	return errtest.Must(New())(t)
}

const (
	id1 = "0193a0b4-7c00-7000-8000-000000000001"
	id2 = "fedcba98-7654-3210-0123-456789abcdef"
)

// Every text is read as it was stored.
func TestLinesAreReadAsTheyWereStored(t *testing.T) {
	c := newTestCodec(t)
	for name, l := range map[string]Line{
		"empty":    {},
		"one byte": {Text: []byte("x")},
		"single": {TransactionID: "t", ModificationID: "m",
			Text: []byte("{\n\"a\": \"t\",\r\n\t\"b\": \"m\"}")},
		"IDs are UUIDs": {TransactionID: id1, ModificationID: id2,
			Text: []byte(`["` + id1 + `","` + id2 + `"]`)},
		"IDs are equal": {TransactionID: id1, ModificationID: id1,
			Text: []byte(`["` + id1 + `","` + id1 + `"]`)},
		"IDs without quotes":  {TransactionID: "tx", ModificationID: "m", Text: []byte(`tx m "txm" "tx`)},
		"IDs with escapes":    {TransactionID: `a"b`, ModificationID: "m\\n", Text: []byte(`["a\"b","m\\n"]`)},
		"ID again":            {TransactionID: "t", ModificationID: "m", Text: []byte(`["t","t","m","t","m"]`)},
		"other order":         {TransactionID: "t", ModificationID: "m", Text: []byte(`["m","t"]`)},
		"UUIDs side by side":  {Text: []byte(id1 + id2 + "-" + id1)},
		"UUID too short":      {Text: []byte(id1[1:] + " " + id1[:35])},
		"upper-case UUID":     {Text: []byte(strings.ToUpper(id2))},
		"dashes":              {Text: []byte(strings.Repeat("-", 100))},
		"marks":               {TransactionID: "t", Text: []byte("\"t\" \x01 \x02 \x03 " + id1)},
		"not UTF-8":           {Text: []byte("\xff\xfe" + id1 + "\xc3")},
		"zeros":               {Text: make([]byte, 300_000)},
		"long":                {TransactionID: "t", Text: []byte(strings.Repeat(`"t",`+id1, 10_000))},
		"largest line number": {Number: 1<<63 - 1, MainEntity: transaction.ReceivingPartner, Text: []byte("{}")},
		"a frame of zstd":     {Text: magic},
	} {
		t.Run(name, func(t *testing.T) {
			want := l
			want.Text = bytes.Clone(l.Text)
			stored := c.Encode(l)
			if !bytes.Equal(stored, c.Encode(l)) {
				t.Error("the line is not stored in the same way again")
			}
			got, err := c.Decode(stored, l.TransactionID, l.ModificationID)
			if len(want.Text) == 0 {
				want.Text, got.Text = nil, nil
			}
			errtest.Fatal(t, err)
			difftest.Equal(t, "read", want, got)
		})
	}
	for _, l := range generate(500, 4711) {
		difftest.Equal(t, "read", l, errtest.Must(c.Decode(c.Encode(l), l.TransactionID, l.ModificationID))(t))
	}
}

// Packing and the dictionary pay: a generated line is stored in less than a third of its bytes. Frames of earlier
// releases had about six tenths.
func TestSizeOfStoredLines(t *testing.T) {
	c := newTestCodec(t)
	sent, stored := 0, 0
	for _, l := range generate(500, 815) {
		sent += len(l.Text)
		stored += len(c.Encode(l))
	}
	if share := float64(stored) / float64(sent); share > 0.3 {
		t.Errorf("%d bytes are stored as %d, %.3f of them; want at most 0.3", sent, stored, share)
	}
}

// dictionaryDigests are the SHA-256 of all dictionaries. Stored lines cannot be read without the very bytes with which
// they were stored: add a line for a new dictionary, and never change one.
var dictionaryDigests = map[uint32]string{
	1: "cb167567a677aa30490af0af00436e15cccdff5e513dd6850f1b4ab5e8630032",
}

func TestDictionariesNeverChange(t *testing.T) {
	all := errtest.Must(readDictionaries())(t)
	digests := map[uint32]string{}
	for id, content := range all {
		sum := sha256.Sum256(content)
		digests[id] = hex.EncodeToString(sum[:])
	}
	difftest.Equal(t, "SHA-256 of the dictionaries", dictionaryDigests, digests)
}

// A program reads lines stored with any of its dictionaries, and returns an error if it lacks one.
func TestSeveralDictionaries(t *testing.T) {
	all, err := readDictionaries()
	errtest.Fatal(t, err)
	lines := generate(200, 99)
	var texts [][]byte
	for _, l := range lines {
		texts = append(texts, Pack(l))
	}
	both := maps.Clone(all)
	const another = 200
	both[another], err = zstd.BuildDict(zstd.BuildDictOptions{
		ID: another, Contents: texts, History: bytes.Join(texts[:20], nil), Offsets: [3]int{1, 4, 8},
	})
	errtest.Fatal(t, err)
	older := newTestCodec(t)
	newer := errtest.Must(newCodec(both, another))(t)
	for _, l := range lines {
		for name, stored := range map[string][]byte{"older": older.Encode(l), "newer": newer.Encode(l)} {
			got := errtest.Must(newer.Decode(stored, l.TransactionID, l.ModificationID))(t)
			difftest.Equal(t, name+": read", l, got)
		}
		if got, err := older.Decode(newer.Encode(l), l.TransactionID, l.ModificationID); err == nil ||
			!errors.Is(err, ErrUnknownDictionary) {
			t.Fatalf("without the dictionary: read %+v, %v; want ErrUnknownDictionary", got, err)
		}
	}
}

// A damaged item is a named error, and never takes more memory than a line may have.
func TestDamagedLines(t *testing.T) {
	c := newTestCodec(t)
	good := c.Encode(Line{TransactionID: id1, Text: []byte(`["` + id1 + `","` + id2 + `"]`)})
	frame := func(content []byte) []byte { return c.encoder.EncodeAll(content, nil)[len(magic):] }
	large := frame(make([]byte, MaxTextBytes+1))
	marks := frame(bytes.Repeat([]byte{markTransaction}, 1<<20))
	for name, test := range map[string]struct {
		stored []byte
		want   error
	}{
		"empty":                 {nil, ErrDamaged},
		"a later format":        {[]byte{2, 0, 0, 0}, ErrUnknownFormat},
		"the format alone":      {[]byte{formatPacked}, ErrDamaged},
		"unknown flags":         {append([]byte{formatPacked, 0x40, 0, 0}, frame([]byte("x"))...), ErrDamaged},
		"a number without end":  {append([]byte{formatPacked, 0}, bytes.Repeat([]byte{0xff}, 20)...), ErrDamaged},
		"a negative number":     {append(binary.AppendUvarint([]byte{formatPacked, 0}, 1<<63), 0), ErrDamaged},
		"more UUIDs than bytes": {append([]byte{formatPacked, 0, 0, 2}, make([]byte, 31)...), ErrDamaged},
		"very many UUIDs":       {binary.AppendUvarint([]byte{formatPacked, 0, 0}, 1<<60), ErrDamaged},
		"UUIDs without marks": {append(append([]byte{formatPacked, 0, 0, 1}, make([]byte, 16)...),
			frame([]byte("x"))...), ErrDamaged},
		"marks without UUIDs": {append([]byte{formatPacked, 0, 0, 0}, frame([]byte{markUUID})...), ErrDamaged},
		"no frame":            {[]byte{formatPacked, 0, 0, 0}, ErrDamaged},
		"cut":                 {good[:len(good)-1], ErrDamaged},
		"a bomb":              {append([]byte{formatPacked, 0, 0, 0}, large...), ErrDamaged},
		"a bomb of marks":     {append([]byte{formatPacked, 0, 0, 0}, marks...), ErrDamaged},
		"a frame, cut":        {magic, ErrDamaged},
		"a bomb in a frame":   {append(bytes.Clone(magic), large...), ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := c.Decode(test.stored, strings.Repeat("t", 255), "m")
			if !errors.Is(err, test.want) || l.Text != nil {
				t.Errorf("read %.40q, %v; want the error %v", l.Text, err, test.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	c := newTestCodec(f)
	for _, l := range generate(5, 5) {
		f.Add(c.Encode(l), l.TransactionID, l.ModificationID)
	}
	f.Add([]byte{formatPacked, flagUnpacked, 0, 0, 1, 0, 1, 0, 0}, "", "")
	f.Add(magic, "t", "m")
	f.Fuzz(func(t *testing.T, stored []byte, transactionID, modificationID string) {
		if len(transactionID) > transaction.MaxIDBytes || len(modificationID) > transaction.MaxIDBytes {
			return
		}
		l, err := c.Decode(stored, transactionID, modificationID)
		switch {
		case err == nil && len(l.Text) <= MaxTextBytes:
		case err != nil && l.Text == nil && (errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnknownFormat) ||
			errors.Is(err, ErrUnknownDictionary)):
		default:
			t.Errorf("read %d bytes, %v", len(l.Text), err)
		}
	})
}

func FuzzEncode(f *testing.F) {
	c := newTestCodec(f)
	for _, l := range generate(5, 6) {
		f.Add(l.TransactionID, l.ModificationID, l.Number, l.Text)
	}
	f.Add(id1, id1, int64(1), []byte(`"`+id1+`""`+id1+`"`))
	f.Fuzz(func(t *testing.T, transactionID, modificationID string, number int64, text []byte) {
		l := Line{transactionID, modificationID, max(number, 0), transaction.Receiver, text}
		got, err := c.Decode(c.Encode(l), transactionID, modificationID)
		if err != nil || !bytes.Equal(got.Text, text) || got.Number != l.Number || got.MainEntity != l.MainEntity {
			t.Errorf("stored %+v, read %+v, %v", l, got, err)
		}
	})
}

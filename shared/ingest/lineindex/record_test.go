package lineindex

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// ids returns the identifiers of a line as they are collected.
func ids(texts ...string) (ids [Kinds][]byte) {
	for k, text := range texts {
		ids[k] = []byte(text)
	}
	return ids
}

// FuzzRecord appends records of any identifiers, and reads them again.
func FuzzRecord(f *testing.F) {
	const uuid = "0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11"
	long := strings.Repeat("x", transaction.MaxIDBytes)
	f.Add("p", "t", "m", uuid)
	f.Add("", strings.ToUpper(uuid), uuid[:35], uuid+"0")
	f.Add(long[1:], long, long+"x", "")
	// Almost UUIDs: a dash in the place of a digit.
	f.Add("20-26-01-abcd-abcd-abcd-0123456789ab", "00000000-0000-0000-0000--12345678901",
		"00000000-0000-0000-0000-1234567890--", "------------------------------------")
	f.Fuzz(func(t *testing.T, payment, transact, modification, request string) {
		given := ids(payment, transact, modification, request)
		want := Record{Line: 7}
		for k, id := range given {
			if isIndexed(id) {
				want.IDs[k] = string(id)
			}
		}
		b := appendRecord(nil, 7, &given)
		if len(b) > maxRecordBytes {
			t.Errorf("a record has %d bytes", len(b))
		}
		got, n, err := readRecord(append(b, "next"...))
		errtest.Fatal(t, err)
		difftest.Equal(t, "record", want, got)
		difftest.Equal(t, "length", len(b), n)
		for end := range b {
			if _, _, err := readRecord(b[:end]); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%d of %d bytes: error %v", end, len(b), err)
			}
		}
	})
}

// FuzzReadRecord reads records of any bytes. One that is read has the same identifiers when it is written again.
func FuzzReadRecord(f *testing.F) {
	given := ids("p", "", "0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11", "r")
	f.Add(appendRecord(nil, 1, &given))
	f.Add([]byte{1, 0, 0, 0, 0xff})
	f.Add([]byte{1, 0, 0, 0, 0x01, 2, 'x'})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, n, err := readRecord(b)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("error %v", err)
			}
			return
		}
		if n > len(b) || n > maxRecordBytes {
			t.Errorf("the record has %d bytes of %d", n, len(b))
		}
		read := ids(r.IDs[:]...)
		again, _, err := readRecord(appendRecord(nil, uint32(r.Line), &read))
		errtest.Fatal(t, err)
		difftest.Equal(t, "record", r, again)
	})
}

// Only the form that AppendUUID returns is packed.
func FuzzPackUUID(f *testing.F) {
	f.Add([]byte("0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11"))
	f.Add([]byte("00000000-0000-0000-0000--12345678901"))
	f.Fuzz(func(t *testing.T, text []byte) {
		uuid, isUUID := transaction.ParseUUID(text)
		if packed := transaction.AppendUUID(nil, uuid[:]); isUUID && !bytes.Equal(text, packed) {
			t.Errorf("%q is packed as %s", text, packed)
		}
	})
}

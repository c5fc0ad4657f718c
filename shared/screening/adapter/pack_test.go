package adapter_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
	"sluice/shared/screening/adapter"
)

func TestUnpack(t *testing.T) {
	pack := func(text []byte) []byte {
		encoded, err := adapter.Encode(text, true)
		errtest.Fatal(t, err)
		packed, err := adapter.Decode(encoded)
		errtest.Fatal(t, err)
		return packed
	}
	noise := make([]byte, adapter.MaxJSONBytes/adapter.MaxRatio) // which does not become smaller
	rand.Read(noise)
	small := pack([]byte(`{"batchId":""}`))
	zeros := func(n int) []byte { return make([]byte, n) }
	for name, test := range map[string]struct {
		packed []byte
		want   int    // bytes of the text
		err    string // a part of the error; "" for none
	}{
		"plain":                {[]byte("{}"), 2, ""},
		"empty":                {nil, 0, ""},
		"gzip":                 {small, 14, ""},
		"two members":          {append(pack([]byte("{")), pack([]byte("}"))...), 2, ""},
		"cut":                  {small[:len(small)-1], 0, "damaged"},
		"trailing garbage":     {append(bytes.Clone(small), "garbage"...), 0, "damaged"},
		"only the magic bytes": {[]byte{0x1f, 0x8b}, 0, "header"},
		"wrong checksum":       {append(bytes.Clone(small[:len(small)-8]), zeros(8)...), 0, "damaged"},
		"1 MiB of zeros":       {pack(zeros(1 << 20)), 1 << 20, ""},
		"bomb by ratio":        {pack(zeros(1<<20 + 1)), 0, "100 times"},
		"bomb by size":         {pack(append(noise, zeros(adapter.MaxJSONBytes)...)), 0, "when it is unpacked"},
		"plain, too large":     {bytes.Repeat([]byte(" "), adapter.MaxJSONBytes+1), 0, "bytes"},
		"plain, largest":       {bytes.Repeat([]byte(" "), adapter.MaxJSONBytes), adapter.MaxJSONBytes, ""},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := adapter.Unpack(test.packed)
			if test.err == "" && (err != nil || len(text) != test.want) {
				t.Fatalf("got %d bytes, %v, want %d bytes", len(text), err, test.want)
			}
			var invalid *adapter.InvalidError
			if test.err != "" && (!errors.As(err, &invalid) || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got %d bytes, %v, want %q", len(text), err, test.err)
			}
		})
	}
}

package main

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zstd"

	"sluice/shared/kit/errtest"
)

// The same lines give the same dictionary, and it has a code for every byte.
func TestTrainingIsReproducible(t *testing.T) {
	var dictionaries [2][]byte
	for i := range dictionaries {
		samples, err := generateSamples(600)
		errtest.Fatal(t, err)
		if dictionaries[i], err = train(7, samples, 8<<10); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(dictionaries[0], dictionaries[1]) {
		t.Error("training twice gave two dictionaries")
	}
	d := errtest.Must(zstd.InspectDictionary(dictionaries[0]))(t)
	if d.ID() != 7 || d.ContentSize() > 8<<10 || d.ContentSize() < 4<<10 {
		t.Errorf("dictionary %d has %d bytes, want dictionary 7 with 4 to 8 KiB", d.ID(), d.ContentSize())
	}
	encoder := errtest.Must(zstd.NewWriter(nil, zstd.WithEncoderDict(dictionaries[0])))(t)
	decoder := errtest.Must(zstd.NewReader(nil, zstd.WithDecoderDicts(dictionaries[0])))(t)
	if got, err := decoder.DecodeAll(encoder.EncodeAll(everyByte(), nil), nil); err != nil ||
		!bytes.Equal(got, everyByte()) {
		t.Errorf("decoded %x, %v; want every byte once", got, err)
	}
}

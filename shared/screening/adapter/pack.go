package adapter

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
)

// minBomb is the least size of a suspicious unpacked text, with any ratio.
const minBomb = 1 << 20

// Encode packs JSON text: gzip if that is wanted, then Base64. That is the whole form of data for providers without
// authentication.
func Encode(text []byte, compress bool) (string, error) {
	if !compress {
		return base64.StdEncoding.EncodeToString(text), nil
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(text); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}

// Decode undoes the Base64 of Encode and returns what Unpack reads. It returns an *InvalidError if the text is not
// Base64.
func Decode(data string) ([]byte, error) {
	packed, err := decodeBase64(data)
	if err != nil {
		return nil, invalidf("The response is not Base64 with padding.")
	}
	return packed, nil
}

// gzipMagic begins packed data that is compressed. JSON text never begins so.
var gzipMagic = []byte{0x1f, 0x8b}

// InvalidError is the error of a response, in a sentence for people. It quotes nothing of the response.
type InvalidError struct{ Message string }

// Error implements error.
func (e *InvalidError) Error() string { return e.Message }

func invalidf(format string, values ...any) error {
	return &InvalidError{fmt.Sprintf(format, values...)}
}

// Unpack returns the JSON text of what Open or Decode has returned, uncompressed if it is gzip. Text of more than
// MaxJSONBytes or, over 1 MiB, of more than MaxRatio times the packed size is an *InvalidError, and so is what is not
// gzip throughout; no more than that is ever held in memory.
func Unpack(packed []byte) ([]byte, error) {
	if !bytes.HasPrefix(packed, gzipMagic) {
		if len(packed) > MaxJSONBytes {
			return nil, invalidf("The response has more than %d bytes.", MaxJSONBytes)
		}
		return packed, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, invalidf("The response begins as gzip, but its header is damaged.")
	}
	limit := min(MaxJSONBytes, max(minBomb, MaxRatio*len(packed)))
	text, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	switch {
	case len(text) > limit && limit == MaxJSONBytes:
		return nil, invalidf("The response has more than %d bytes when it is unpacked.", MaxJSONBytes)
	case len(text) > limit:
		return nil, invalidf("The response is more than %d times as large when it is unpacked.", MaxRatio)
	case err != nil:
		return nil, invalidf("The gzip stream of the response is damaged.")
	}
	return text, nil
}

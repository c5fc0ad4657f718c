// Package storedline defines the form in which the text of a line is stored: packed, so that what the key of its item
// says is not said again, and compressed with a dictionary.
//
// A stored line is
//
//	format      1 byte: 1
//	flags       1 byte: the role of the main entity in the lower 4 bits; 0x80 if the text is not packed
//	number      uvarint: the number of the line in its batch, 0 for the line of a single request
//	UUIDs       uvarint and 16 bytes each: the UUIDs of the text, in its order
//	text        a zstd frame without its magic number, whose header names its dictionary
//
// Releases before this form stored a bare zstd frame without a dictionary, whose first byte is 0x28, the first one of
// the magic number. Such items stay as they are and are read for ever, and so are the items of every dictionary: a
// dictionary is never changed or removed, only another one is added beside it, under the next ID. A format or
// dictionary is read one release before it is written: the release to which a deployment is rolled back must read it.
package storedline

import (
	"bytes"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"sluice/shared/ingest/transaction"
)

// Dictionaries are trained on lines of the generator alone, never on those of customers. The program says how.
//
//go:generate go run ../../../../internal/traindict -o dictionaries/1.dict -id 1

// dictionaries has one file for each dictionary, which its ID names.
//
//go:embed dictionaries/*.dict
var dictionaries embed.FS

// currentDictionary is the ID of the dictionary with which lines are stored.
const currentDictionary = 1

// MaxTextBytes limits the size of a line that is read. It is far above the size of a line (setting MaxLineBytes).
const MaxTextBytes = 16 << 20

// formatPacked is the first byte of a stored line, and formatFrame that of one of earlier releases.
const (
	formatPacked = 0x01
	formatFrame  = 0x28
)

// The flags of a stored line.
const (
	flagRole     = 0x0f
	flagUnpacked = 0x80
)

// magic begins every zstd frame.
var magic = []byte{formatFrame, 0xb5, 0x2f, 0xfd}

// Errors of Decode.
var (
	// ErrDamaged means that the bytes are not a stored line.
	ErrDamaged = errors.New("the stored line is damaged")
	// ErrUnknownFormat means that a later release may have stored the line.
	ErrUnknownFormat = errors.New("the format of the stored line is unknown")
	// ErrUnknownDictionary means that the line was stored with a dictionary that this program does not have.
	ErrUnknownDictionary = errors.New("the dictionary of the stored line is unknown")
)

var errTooLong = fmt.Errorf("the text has more than %d bytes", MaxTextBytes)

// Line is a stored line. The IDs are in the key of its item and in its text, where they need not be found: a text may
// write them with escapes.
type Line struct {
	TransactionID, ModificationID string
	// Number is the number of the line in its batch, from 1; 0 for the line of a single request.
	Number     int64
	MainEntity transaction.Role
	Text       []byte
}

// Codec encodes and decodes stored lines. It is safe for concurrent use.
type Codec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
	// buffers has values of *packed.
	buffers sync.Pool
}

// New returns a codec with all dictionaries of the program. It fails only if the program was built with a broken one.
func New() (*Codec, error) {
	all, err := readDictionaries()
	if err != nil {
		return nil, err
	}
	return newCodec(all, currentDictionary)
}

// readDictionaries returns the dictionaries by their IDs.
func readDictionaries() (map[uint32][]byte, error) {
	files, err := dictionaries.ReadDir("dictionaries")
	if err != nil {
		return nil, err
	}
	all := make(map[uint32][]byte, len(files))
	for _, file := range files {
		id, err := strconv.ParseUint(strings.TrimSuffix(file.Name(), ".dict"), 10, 8)
		if err != nil {
			return nil, fmt.Errorf("dictionary %s: the name is not an ID", file.Name())
		}
		if all[uint32(id)], err = dictionaries.ReadFile(path.Join("dictionaries", file.Name())); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// newCodec returns a codec that encodes with one of the dictionaries and decodes with all of them.
func newCodec(all map[uint32][]byte, current uint32) (*Codec, error) {
	var readable [][]byte
	for id, content := range all {
		dictionary, err := zstd.InspectDictionary(content)
		if err != nil {
			return nil, fmt.Errorf("dictionary %d: %w", id, err)
		}
		if dictionary.ID() != id {
			return nil, fmt.Errorf("dictionary %d: the file has ID %d", id, dictionary.ID())
		}
		readable = append(readable, content)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxTextBytes),
		zstd.WithDecoderDicts(readable...))
	if err != nil {
		return nil, err
	}
	c := &Codec{decoder: decoder}
	c.buffers.New = func() any { return new(packed) }
	c.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(256<<10), zstd.WithEncoderDict(all[current]))
	return c, err
}

// Encode returns the stored form of a line. The same line gives the same bytes as long as the dictionary is the same.
func (c *Codec) Encode(l Line) []byte {
	p := c.buffers.Get().(*packed)
	defer c.buffers.Put(p)
	flags, text := byte(l.MainEntity)&flagRole, l.Text
	if p.pack(l) {
		text = p.text
	} else {
		flags |= flagUnpacked
	}
	stored := append(p.stored[:0], formatPacked, flags)
	stored = binary.AppendUvarint(stored, uint64(l.Number))
	stored = binary.AppendUvarint(stored, uint64(len(p.uuids)/transaction.UUIDBytes))
	stored = append(stored, p.uuids...)
	start := len(stored)
	stored = c.encoder.EncodeAll(text, stored)
	stored = append(stored[:start], stored[start+len(magic):]...)
	p.stored = stored
	return bytes.Clone(stored)
}

// IsFrame reports whether a line was stored by a release before this form: its number and main entity are not in what
// is stored.
func IsFrame(stored []byte) bool { return len(stored) > 0 && stored[0] == formatFrame }

// Decode is the inverse of Encode, for a line whose key has the given IDs. Of a line for which IsFrame reports true it
// returns only the text and the IDs. Its errors are ErrDamaged, ErrUnknownFormat and ErrUnknownDictionary.
func (c *Codec) Decode(stored []byte, transactionID, modificationID string) (Line, error) {
	l := Line{TransactionID: transactionID, ModificationID: modificationID}
	var err error
	switch {
	case len(stored) == 0:
		return Line{}, ErrDamaged
	case IsFrame(stored):
		l.Text, err = c.decompress(stored)
		return l, err
	case stored[0] != formatPacked:
		return Line{}, fmt.Errorf("%w: %d", ErrUnknownFormat, stored[0])
	}
	h, err := readHeader(stored[1:])
	if err != nil {
		return Line{}, err
	}
	l.Number, l.MainEntity = h.number, transaction.Role(h.flags&flagRole)
	if l.Text, err = c.decompress(append(bytes.Clone(magic), h.frame...)); err != nil || h.flags&flagUnpacked != 0 {
		return l, err
	}
	p := packed{text: l.Text, uuids: h.uuids}
	if l.Text, err = p.unpack(transactionID, modificationID); err != nil {
		return Line{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return l, nil
}

// header has the values that precede the text of a stored line, and the frame of the text without its magic number.
type header struct {
	flags  byte
	number int64
	uuids  []byte
	frame  []byte
}

// readHeader reads a stored line that begins at its flags.
func readHeader(stored []byte) (header, error) {
	if len(stored) == 0 || stored[0]&^(flagRole|flagUnpacked) != 0 {
		return header{}, ErrDamaged
	}
	h := header{flags: stored[0]}
	number, n := binary.Uvarint(stored[1:])
	if n <= 0 || int64(number) < 0 {
		return header{}, ErrDamaged
	}
	stored = stored[1+n:]
	count, n := binary.Uvarint(stored)
	if n <= 0 || count > uint64(len(stored)-n)/transaction.UUIDBytes {
		return header{}, ErrDamaged
	}
	stored = stored[n:]
	size := count * transaction.UUIDBytes
	h.number, h.uuids, h.frame = int64(number), stored[:size], stored[size:]
	return h, nil
}

// decompress returns the content of a zstd frame, with the dictionary that the frame names.
func (c *Codec) decompress(frame []byte) ([]byte, error) {
	text, err := c.decoder.DecodeAll(frame, nil)
	switch {
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return nil, ErrUnknownDictionary
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return text, nil
}

// Pack returns the packed text of a line, on which dictionaries are trained. It is nil if the line cannot be packed.
func Pack(l Line) []byte {
	p := new(packed)
	if !p.pack(l) {
		return nil
	}
	return p.text
}

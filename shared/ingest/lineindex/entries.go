package lineindex

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// blockEntries is how many entries are read at a time.
const blockEntries = 4 << 10

// entryFile is an object that begins with sorted entries.
type entryFile struct {
	files Files
	key   string
}

// each calls visit with those of the entries [from, to) that have a digest, until it returns false. Many entries, as
// there are where many lines share an identifier, are searched by halves.
func (f entryFile) each(ctx context.Context, from, to int64, digest uint64, visit func([]entry) (bool, error)) error {
	read := func(from, to int64) ([]entry, error) {
		b, err := readRange(ctx, f.files, f.key, from*entryBytes, to*entryBytes)
		entries := make([]entry, 0, len(b)/entryBytes)
		for ; len(b) > 0; b = b[entryBytes:] {
			entries = append(entries, decodeEntry(b))
		}
		if err == nil && !slices.IsSortedFunc(entries, compareEntries) {
			err = fmt.Errorf("%w: %s is not in order", ErrCorrupt, f.key)
		}
		return entries, err
	}
	last := to
	for to-from > blockEntries { // the first entry with the digest is not before from, and not after to
		middle := from + (to-from)/2
		e, err := read(middle, middle+1)
		if err != nil {
			return err
		}
		if e[0].digest < digest {
			from = middle + 1
		} else {
			to = middle
		}
	}
	for from < last {
		entries, err := read(from, min(from+blockEntries, last))
		if err != nil {
			return err
		}
		from += int64(len(entries))
		first, _ := slices.BinarySearchFunc(entries, digest, compareDigest)
		end, _ := slices.BinarySearchFunc(entries, digest+1, compareDigest)
		if digest+1 == 0 {
			end = len(entries)
		}
		if first < end {
			if isMore, err := visit(entries[first:end]); err != nil || !isMore {
				return err
			}
		}
		if end < len(entries) {
			return nil
		}
	}
	return nil
}

func compareDigest(e entry, digest uint64) int {
	return cmp.Compare(e.digest, digest)
}

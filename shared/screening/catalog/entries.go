package catalog

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"
)

// writeEntries writes entries in the format of storage: gzip, one JSON object per line.
func writeEntries(w io.Writer, entries []watchlist.Entry) error {
	packed := gzip.NewWriter(w)
	encoder := json.NewEncoder(packed)
	for i := range entries {
		if err := encoder.Encode(&entries[i]); err != nil {
			return err
		}
	}
	return packed.Close()
}

// readEntries reads the format of writeEntries.
func readEntries(r io.Reader) ([]watchlist.Entry, error) {
	packed, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("reading stored entries: %w", err)
	}
	decoder := json.NewDecoder(bufio.NewReader(packed))
	var entries []watchlist.Entry
	for {
		var e watchlist.Entry
		err := decoder.Decode(&e)
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading stored entries: %w", err)
		}
		entries = append(entries, e)
	}
}

// build makes the index of a version from its entries. It fails if their digest is not the version.
func build(v Version, entries []watchlist.Entry) (*match.Index, error) {
	x := match.Build(match.Source{Name: v.List, Format: v.Format,
		List: &watchlist.List{SourceDate: v.SourceDate, Entries: entries}})
	if got := x.Lists[0].Version; v.Version != "" && got != v.Version {
		return nil, fmt.Errorf("the stored entries of %s have the digest of version %s", v, got)
	}
	return x, nil
}

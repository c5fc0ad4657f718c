package catalog

import "sluice/shared/screening/watchlist"

// NewPartScreener returns a screener of some entries of a version. It finds the same of these entries as a screener of
// the whole version.
func NewPartScreener(v Version, entries []watchlist.Entry) (*Screener, error) {
	part := v
	part.Version = "" // a part has another digest
	x, err := build(part, entries)
	if err != nil {
		return nil, err
	}
	x.Lists[0].Version = v.Version
	return NewScreener(Loaded{Version: v, index: x}), nil
}

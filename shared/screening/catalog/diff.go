package catalog

import (
	"bytes"
	"encoding/json"

	"sluice/shared/screening/watchlist"
)

// Changes counts what differs between two versions of a list.
type Changes struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"`
}

// IsEmpty reports whether nothing differs.
func (c Changes) IsEmpty() bool { return c == Changes{} }

// entryKey identifies an entry of a version: entries with the same ID are told apart by their order.
type entryKey struct {
	id string
	n  int
}

// keyEntries returns the entries of a version by their keys.
func keyEntries(entries []watchlist.Entry) map[entryKey]*watchlist.Entry {
	count := map[string]int{}
	keyed := make(map[entryKey]*watchlist.Entry, len(entries))
	for i := range entries {
		id := entries[i].ID
		keyed[entryKey{id, count[id]}] = &entries[i]
		count[id]++
	}
	return keyed
}

// countChanges compares two versions of a list.
func countChanges(before, after []watchlist.Entry) Changes {
	old, now := keyEntries(before), keyEntries(after)
	var c Changes
	for key, e := range now {
		switch was := old[key]; {
		case was == nil:
			c.Added++
		case !isSame(was, e):
			c.Changed++
		}
	}
	c.Removed = len(old) + c.Added - len(now)
	return c
}

// isSame reports whether two entries say the same.
func isSame(a, b *watchlist.Entry) bool {
	x, _ := json.Marshal(a) // an entry has nothing that cannot be written
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

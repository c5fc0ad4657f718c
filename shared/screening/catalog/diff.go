package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"sluice/shared/screening/watchlist"
)

// ChangeKind is the kind of an entry's change between two versions of a list.
type ChangeKind string

const (
	// Added entries are new.
	Added ChangeKind = "added"
	// Removed entries are gone.
	Removed ChangeKind = "removed"
	// Changed entries have other names, birth dates or identifiers: another identity.
	Changed ChangeKind = "changed"
	// Amended entries have changed, but not in their identity.
	Amended ChangeKind = "amended"
	// Moved entries have another ID.
	Moved ChangeKind = "moved"
	// Merged entries are gone, and their identity is part of another entry.
	Merged ChangeKind = "merged"
)

// Change is the change of one entry.
type Change struct {
	Kind ChangeKind
	// Before is nil for an added entry, After for a removed one. After of a merged entry is the entry that contains it
	// now.
	Before, After *watchlist.Entry
	// IsNews reports that After may match names that Before did not match, or that decisions about Before may not hold
	// for it: it is added, or its identity has changed. A merged entry is news if its new entry has more facts than the
	// merged entries.
	IsNews bool
}

// Changes counts what differs between two versions of a list. Amended entries count as changed; an entry that moved or
// was merged is neither added nor removed.
type Changes struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"`
	Moved   int `json:"moved"`
	Merged  int `json:"merged"`
}

// CountChanges counts changes by kind.
func CountChanges(changes []Change) Changes {
	var c Changes
	for _, change := range changes {
		switch change.Kind {
		case Added:
			c.Added++
		case Removed:
			c.Removed++
		case Changed, Amended:
			c.Changed++
		case Moved:
			c.Moved++
		case Merged:
			c.Merged++
		}
	}
	return c
}

// Identity is the digest of an entry's names, birth dates and identifiers, in any order.
func Identity(e *watchlist.Entry) string {
	text, _ := json.Marshal(factsOf(e)) // texts can be written
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// factsOf returns the facts of an entry's identity, sorted, each with its kind before it.
func factsOf(entries ...*watchlist.Entry) []string {
	var facts []string
	for _, e := range entries {
		for _, n := range e.Names {
			// A weak alias is never looked for alone, so that the kind matters.
			kind := "name "
			if n.Kind == watchlist.Weak {
				kind = "weak "
			}
			facts = append(facts, kind+n.Text)
		}
		for _, date := range e.BirthDates {
			facts = append(facts, "born "+date)
		}
		for _, id := range e.Identifiers {
			facts = append(facts, "identifier "+identifierText(id))
		}
	}
	slices.Sort(facts)
	return slices.Compact(facts)
}

// identifierText returns the letters and digits of an identifier. Its type and country are written in many ways.
func identifierText(id watchlist.Identifier) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r > 127 {
			return r
		}
		return -1
	}, strings.ToUpper(id.Value))
}

// differ compares two versions of a list.
type differ struct {
	before, after map[entryKey]*watchlist.Entry
	// keyOf has the keys of the entries after the change.
	keyOf map[*watchlist.Entry]entryKey
	// byName and byIdentifier find the entries after the change, in their order.
	byName, byIdentifier map[string][]*watchlist.Entry
}

// entryKey identifies an entry of a version: an ID and, for entries with the same ID, their order.
type entryKey struct {
	id string
	n  int
}

// keyEntries returns the entries of a version by their keys, and the keys in the order of the entries.
func keyEntries(entries []watchlist.Entry) (map[entryKey]*watchlist.Entry, []entryKey) {
	count := map[string]int{}
	keyed := make(map[entryKey]*watchlist.Entry, len(entries))
	keys := make([]entryKey, len(entries))
	for i := range entries {
		id := entries[i].ID
		keys[i] = entryKey{id, count[id]}
		keyed[keys[i]] = &entries[i]
		count[id]++
	}
	return keyed, keys
}

// Diff returns the changes between two versions of a list: removed, merged and moved entries in the order of before,
// then all others in the order of after.
func Diff(before, after []watchlist.Entry) []Change {
	d := &differ{keyOf: map[*watchlist.Entry]entryKey{}}
	var oldKeys, newKeys []entryKey
	d.before, oldKeys = keyEntries(before)
	d.after, newKeys = keyEntries(after)
	for key, e := range d.after {
		d.keyOf[e] = key
	}
	var changes []Change
	parts := map[*watchlist.Entry][]*watchlist.Entry{} // the entries merged into an entry
	for _, key := range oldKeys {
		if d.after[key] != nil {
			continue
		}
		gone := d.before[key]
		if heir := d.heirOf(gone, newKeys); heir != nil {
			parts[heir] = append(parts[heir], gone)
			changes = append(changes, Change{Kind: Merged, Before: gone, After: heir})
		} else {
			changes = append(changes, Change{Kind: Removed, Before: gone})
		}
	}
	for heir := range parts {
		if was := d.before[d.keyOf[heir]]; was != nil {
			parts[heir] = append(parts[heir], was)
		}
	}
	for i := range changes {
		if c := &changes[i]; c.Kind == Merged {
			if len(parts[c.After]) == 1 {
				c.Kind, c.IsNews = Moved, Identity(c.Before) != Identity(c.After)
			} else {
				c.IsNews = !addsNothing(c.After, parts[c.After])
			}
		}
	}
	for _, key := range newKeys {
		changes = appendChange(changes, d.before[key], d.after[key], parts[d.after[key]])
	}
	return changes
}

// appendChange appends the change of an entry that exists after the change. Parts are the entries merged into it.
func appendChange(changes []Change, was, e *watchlist.Entry, parts []*watchlist.Entry) []Change {
	switch {
	case was == nil && len(parts) > 0: // the changes already have it as moved or merged
		return changes
	case was == nil:
		return append(changes, Change{Kind: Added, After: e, IsNews: true})
	case isSame(was, e):
		return changes
	case Identity(was) == Identity(e):
		return append(changes, Change{Kind: Amended, Before: was, After: e})
	}
	isMerger := len(parts) > 0 && addsNothing(e, parts)
	return append(changes, Change{Kind: Changed, Before: was, After: e, IsNews: !isMerger})
}

// addsNothing reports whether all facts of an entry's identity are already in its parts.
func addsNothing(e *watchlist.Entry, parts []*watchlist.Entry) bool {
	known := factsOf(parts...)
	return !slices.ContainsFunc(factsOf(e), func(fact string) bool {
		_, found := slices.BinarySearch(known, fact)
		return !found
	})
}

// heirOf returns the successor of an entry whose ID is gone, nil if there is none or more than one.
func (d *differ) heirOf(gone *watchlist.Entry, newKeys []entryKey) *watchlist.Entry {
	if d.byName == nil {
		d.addFinders(newKeys)
	}
	var heirs []*watchlist.Entry
	add := func(candidates []*watchlist.Entry, isHeir func(e *watchlist.Entry) bool) {
		if len(candidates) > maxCandidates {
			return
		}
		for _, e := range candidates {
			if !slices.Contains(heirs, e) && isHeir(e) {
				heirs = append(heirs, e)
			}
		}
	}
	for _, id := range gone.Identifiers {
		if text := identifierText(id); len(text) >= minIdentifier {
			add(d.byIdentifier[text], func(e *watchlist.Entry) bool { return sharesName(gone, e) })
		}
	}
	if len(heirs) == 0 && len(gone.Names) > 0 {
		add(d.byName[foldName(gone.Names[0].Text)], func(e *watchlist.Entry) bool {
			return e.Schema == gone.Schema && hasAllNames(e, gone) && mayBeBornAs(gone, e)
		})
	}
	if len(heirs) != 1 {
		return nil
	}
	return heirs[0]
}

const (
	// maxCandidates bounds the entries to compare with a removed one: a name or number that more entries share
	// identifies none of them.
	maxCandidates = 20
	// minIdentifier is the least length of an identifier that identifies an entry.
	minIdentifier = 5
)

func (d *differ) addFinders(newKeys []entryKey) {
	d.byName, d.byIdentifier = map[string][]*watchlist.Entry{}, map[string][]*watchlist.Entry{}
	for _, key := range newKeys {
		e := d.after[key]
		for _, n := range e.Names {
			name := foldName(n.Text)
			d.byName[name] = append(d.byName[name], e)
		}
		for _, id := range e.Identifiers {
			text := identifierText(id)
			d.byIdentifier[text] = append(d.byIdentifier[text], e)
		}
	}
}

func foldName(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

func hasName(e *watchlist.Entry, name string) bool {
	return slices.ContainsFunc(e.Names, func(n watchlist.Name) bool { return foldName(n.Text) == name })
}

func sharesName(a, b *watchlist.Entry) bool {
	return slices.ContainsFunc(a.Names, func(n watchlist.Name) bool { return hasName(b, foldName(n.Text)) })
}

func hasAllNames(e, other *watchlist.Entry) bool {
	return !slices.ContainsFunc(other.Names, func(n watchlist.Name) bool { return !hasName(e, foldName(n.Text)) })
}

// mayBeBornAs reports whether two entries have a date of birth in common, or one of them has none.
func mayBeBornAs(a, b *watchlist.Entry) bool {
	return len(a.BirthDates) == 0 || len(b.BirthDates) == 0 ||
		slices.ContainsFunc(a.BirthDates, func(date string) bool { return slices.Contains(b.BirthDates, date) })
}

// isSame reports whether two entries have the same content.
func isSame(a, b *watchlist.Entry) bool {
	x, _ := json.Marshal(a) // an entry has nothing that cannot be written
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

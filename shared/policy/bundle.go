package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// EncodeContents returns contents as JSON and the SHA-256 of that in hexadecimal digits. The same contents have the
// same bytes, independently of the order of their parts: fields, jurisdictions and data groups are sorted by their
// IDs. It returns ErrTooLarge for more than MaxBundleBytes.
func EncodeContents(c Contents) (text []byte, digest string, err error) {
	c.Fields = append([]Field{}, c.Fields...)
	c.Jurisdictions = slices.Clone(c.Jurisdictions)
	c.DataGroups = slices.Clone(c.DataGroups)
	for i := range c.DataGroups {
		c.DataGroups[i] = c.DataGroups[i].pinned()
	}
	c.sort()
	text, err = json.Marshal(c)
	if err != nil {
		return nil, "", fmt.Errorf("encode contents of a policy: %w", err)
	}
	if len(text) > MaxBundleBytes {
		return nil, "", ErrTooLarge
	}
	sum := sha256.Sum256(text)
	return text, hex.EncodeToString(sum[:]), nil
}

// DecodeContents is the inverse of EncodeContents. It does not compare the digest.
func DecodeContents(text []byte) (Contents, error) {
	var c Contents
	if err := json.Unmarshal(text, &c); err != nil {
		return Contents{}, fmt.Errorf("decode contents of a policy: %w", err)
	}
	return c, nil
}

// pinned returns a data group as bundles have it: without its revision and the reason for its status.
func (g DataGroup) pinned() DataGroup {
	g.Revision, g.Reason = 0, ""
	g.Fields = append([]Field{}, g.Fields...)
	return g
}

// DataGroupIDs returns the IDs of the fields' data groups, sorted and each once.
func DataGroupIDs(fields []Field) []string {
	var ids []string
	for _, f := range fields {
		if f.HasDataGroup() && f.FieldTypeID != "" {
			ids = append(ids, f.FieldTypeID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// CheckSize returns ErrTooMany if contents have more than MaxFields, including the fields of data groups, or more than
// MaxJurisdictions.
func (c Contents) CheckSize() error {
	fields := len(c.Fields)
	for _, g := range c.DataGroups {
		fields += len(g.Fields)
	}
	if fields > MaxFields || len(c.Jurisdictions) > MaxJurisdictions {
		return ErrTooMany
	}
	return nil
}

// groupBytesLimit bounds what GroupBytes counts, so that data groups that refer to each other in a circle have a size.
const groupBytesLimit = 1 << 40

// GroupBytes estimates the bytes of JSON of the data groups, each counted once for each field that refers to it. A
// program that is compiled of the contents can grow like that, however small the contents are themselves.
func (c Contents) GroupBytes() (int64, error) {
	own := make(map[string]int64, len(c.DataGroups))
	for _, g := range c.DataGroups {
		text, err := json.Marshal(g)
		if err != nil {
			return 0, fmt.Errorf("encode a data group of a policy: %w", err)
		}
		own[g.ID] = int64(len(text))
	}
	var known map[string]int64 // the sizes with the groups inside, one level deeper in each round
	for range MaxNesting + 1 {
		deeper := make(map[string]int64, len(own))
		for _, g := range c.DataGroups {
			deeper[g.ID] = min(own[g.ID]+sizeOfGroups(g.Fields, known), groupBytesLimit)
		}
		known = deeper
	}
	return min(sizeOfGroups(c.Fields, known), groupBytesLimit), nil
}

// sizeOfGroups returns the size of the data groups of fields, each counted once for every reference.
func sizeOfGroups(fields []Field, sizes map[string]int64) int64 {
	var total int64
	for i := range fields {
		if f := &fields[i]; f.FieldType == TypeCollection || f.FieldType == TypeCustom {
			total += sizes[f.FieldTypeID]
		}
	}
	return total
}

package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// EncodeContents returns contents as JSON and the SHA-256 of that in hexadecimal digits. The same contents have the
// same bytes, in whatever order their parts are: fields, jurisdictions and data groups are put in the order of their
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

// pinned returns a data group without what is not part of a version of a policy.
func (g DataGroup) pinned() DataGroup {
	g.Revision, g.Reason = 0, ""
	g.Fields = append([]Field{}, g.Fields...)
	return g
}

// DataGroupIDs returns the IDs of the data groups to which fields refer, each once, in the order of the IDs.
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

// CheckSize returns ErrTooMany if contents have more than MaxFields, those of data groups included, or more than
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

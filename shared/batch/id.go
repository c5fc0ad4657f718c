package batch

import (
	"errors"

	"github.com/google/uuid"
)

// ID names a batch: a UUIDv7 in its 36-character lower-case form, so that IDs sort by the time of their making.
type ID string

// ErrNotID means that a text is no UUID.
var ErrNotID = errors.New("batch: not a UUID")

// NewID makes an ID from the current time and the system's randomness.
func NewID() (ID, error) {
	u, err := uuid.NewV7()
	if err != nil {
		return "", err
	}
	return ID(u.String()), nil
}

// ParseID accepts the 8-4-4-4-12 form in any case and version; ErrNotID otherwise.
func ParseID(s string) (ID, error) {
	u, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return "", ErrNotID
	}
	return ID(u.String()), nil
}

// Bytes returns the 16 bytes of the ID.
func (id ID) Bytes() [16]byte {
	u, err := uuid.Parse(string(id))
	if err != nil {
		return [16]byte{}
	}
	return u
}

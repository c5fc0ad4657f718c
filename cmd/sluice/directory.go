package main

import (
	"crypto/rand"
	"math/bits"

	"sluice/shared/duplicate"
	"sluice/shared/entity"
	"sluice/shared/validation"
)

// directory is the known entities, from a file. Each is one word, so that a look at one costs the memory one visit: in a map
// of strings it costs several, together as much as a quarter of the scanner.
type directory struct {
	key   duplicate.Key
	slots []uint64 // the upper half of an ID's digest with the state in its lowest bits, found by the lower half; 0: empty
}

const stateBits = 3

func readDirectory(path string) (*directory, error) {
	var secret [16]byte
	rand.Read(secret[:])
	d := &directory{key: duplicate.NewKey(secret)}
	var digests []duplicate.Digest
	var states []validation.EntityState
	err := readEntities(path, func(e entity.Entity) error {
		state := validation.NotOnboarded
		if e.LifecycleStatus.Onboarded() {
			state = validation.Onboarded
		}
		digests, states = append(digests, d.key.Digest([]byte(e.ID))), append(states, state)
		return nil
	})
	d.slots = make([]uint64, 1<<bits.Len(uint(2*len(digests)))) // at most half full
	for i, digest := range digests {
		*d.slot(digest) = digest.Hi&^stateBits | uint64(states[i]) // of an entity that is named twice, the last line counts
	}
	return d, err
}

// state returns what is known of an entity.
func (d *directory) state(id []byte) validation.EntityState {
	return validation.EntityState(*d.slot(d.key.Digest(id)) & stateBits)
}

// slot finds the entity's slot, or the empty one that would be its own.
func (d *directory) slot(digest duplicate.Digest) *uint64 {
	mask := uint64(len(d.slots) - 1)
	for i := digest.Lo & mask; ; i = (i + 1) & mask {
		if slot := d.slots[i]; slot == 0 || slot&^stateBits == digest.Hi&^stateBits {
			return &d.slots[i]
		}
	}
}

package validation

import (
	"encoding/binary"
	"hash/maphash"
	"io"

	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/entityid"
)

// Directory holds the states of entities, each in 16 to 32 bytes. It is filled by Add first; then any number of
// goroutines may read it.
//
// It does not store IDs but compares 62 bits of their hashes. The hash is secret and used in one process only: an
// author who chooses the IDs cannot make two of them look the same. False-positive rate: about 1 in 3 million files,
// for 15 million unknown IDs against 100,000 known.
type Directory struct {
	seed maphash.Seed
	// count is the number of slots in use, at most half of them.
	count int
	// slots is a hash table with linear probing. A slot has the state of an entity in its lowest stateWidth bits and
	// the hash of its ID in the others. An empty slot is 0: entities that are Missing are not in the table.
	slots []uint64
}

const (
	stateWidth = 2
	stateMask  = 1<<stateWidth - 1
	minSlots   = 16
)

// NewDirectory returns an empty directory.
func NewDirectory() *Directory {
	return &Directory{seed: maphash.MakeSeed(), slots: make([]uint64, minSlots)}
}

// Add adds an entity, or replaces its state. The state must not be Missing, which is the state of all entities that are
// not added.
func (d *Directory) Add(id string, state EntityState) {
	if 2*d.count >= len(d.slots) {
		d.grow()
	}
	hash := maphash.String(d.seed, entityid.Normalize(id))
	slot := d.slot(hash)
	if *slot == 0 {
		d.count++
	}
	*slot = hash&^stateMask | uint64(state)
}

// grow doubles the hash table.
func (d *Directory) grow() {
	old := d.slots
	d.slots = make([]uint64, 2*len(old))
	for _, slot := range old {
		if slot != 0 {
			*d.slot(slot) = slot
		}
	}
}

// uuidBytes is the length of an ID that may be a UUID, which counts in any case.
const uuidBytes = 36

func (d *Directory) hash(id []byte) uint64 {
	if len(id) == uuidBytes && mayHaveUpperCase(id) {
		return maphash.String(d.seed, entityid.Normalize(string(id)))
	}
	return maphash.Bytes(d.seed, id)
}

// mayHaveUpperCase reports whether one of the uuidBytes bytes of an ID lacks the bit 0x20. Digits, hyphens and
// lower-case letters have it: a UUID for which the result is false is in its usual form.
func mayHaveUpperCase(id []byte) bool {
	const bits = 0x2020202020202020
	word := binary.LittleEndian.Uint64
	return word(id)&word(id[8:])&word(id[16:])&word(id[24:])&word(id[uuidBytes-8:])&bits != bits
}

// state returns the state of the entity whose ID has a hash.
func (d *Directory) state(hash uint64) EntityState { return EntityState(*d.slot(hash) & stateMask) }

// slotIndex returns the index of the first slot in which an entity may be.
func (d *Directory) slotIndex(hash uint64) uint64 { return hash >> stateWidth & uint64(len(d.slots)-1) }

// firstSlot returns the content of the first slot in which an entity may be.
func (d *Directory) firstSlot(hash uint64) uint64 { return d.slots[d.slotIndex(hash)] }

// slot returns the slot of an entity, or the empty slot in which it would be.
func (d *Directory) slot(hash uint64) *uint64 {
	mask := uint64(len(d.slots) - 1)
	for i := d.slotIndex(hash); ; i = (i + 1) & mask {
		if slot := d.slots[i]; slot == 0 || slot&^stateMask == hash&^stateMask {
			return &d.slots[i]
		}
	}
}

// maxPendingReferences is the number of references that are looked up together. Many at a time find the directory in
// the processor's cache; single ones, between one line and the next, would not.
const maxPendingReferences = 8 << 10

// directoryCheck finds the references of one chunk to entities that transactions may not name. It replaces the entity
// part of an index and of ReconcilePartition if there is a Directory, and keeps its memory for the next chunk.
type directoryCheck struct {
	// directory holds the entities that exist; nil means that references are not checked.
	directory *Directory
	// pending are the references that have not been looked up.
	pending []pendingReference
	// forbidden are the references to entities that are missing or not onboarded. Their field text is the state.
	forbidden []reference
	sections  sectionWriter
}

// pendingReference is a reference with the hash of the entity's ID.
type pendingReference struct {
	hash uint64
	reference
}

// add adds a reference. References must be added in the order of their lines and offsets.
func (c *directoryCheck) add(id []byte, line, offset int64, role transaction.Role) {
	if c.directory == nil {
		return
	}
	ref := reference{line: uint32(line), offset: uint32(offset), role: role}
	c.pending = append(c.pending, pendingReference{c.directory.hash(id), ref})
	if len(c.pending) == maxPendingReferences {
		c.lookUpPending()
	}
}

// lookUpPending looks up the pending references, in groups: as the slots of a group are read before any of them is
// examined, the processor waits for all of them together.
func (c *directoryCheck) lookUpPending() {
	var slots [64]uint64
	for rest := c.pending; len(rest) > 0; {
		group := rest[:min(len(rest), len(slots))]
		rest = rest[len(group):]
		for i := range group {
			slots[i] = c.directory.firstSlot(group[i].hash)
		}
		for i := range group {
			if slots[i] == group[i].hash&^stateMask|uint64(Onboarded) {
				continue
			}
			if state := c.directory.state(group[i].hash); state != Onboarded {
				ref := group[i].reference
				ref.text = uint32(state)
				c.forbidden = append(c.forbidden, ref)
			}
		}
	}
	c.pending = c.pending[:0]
}

// writeRejections writes rejections (see rejections.go) for one of count chunks, which are empty for all other chunks,
// and removes all references. It writes nothing if there are no rejections.
func (c *directoryCheck) writeRejections(w io.Writer, chunk, count int) error {
	c.lookUpPending()
	byState := groupBy(int(Onboarded), c.forbidden, func(r reference) uint32 { return r.text })
	_, err := c.sections.write(w, rejectionsMagic, count, func(i int, b []byte) []byte {
		if i != chunk || len(c.forbidden) == 0 {
			return b
		}
		// No duplicates, and all references with the same state as if they were to one entity.
		b = append(b, 0, byte(Onboarded))
		for state := range Onboarded {
			references := byState.group(int(state))
			b = appendForbiddenEntity(b, state, len(references), appendReferences(nil, references, c.forbidden))
		}
		return b
	})
	c.forbidden = c.forbidden[:0]
	return err
}

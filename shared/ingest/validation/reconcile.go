package validation

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/duplicate"
)

// MaxLookup is the largest number of IDs in one call of Entities.Lookup.
const MaxLookup = 1000

// Entities is the onboarding system's knowledge of a tenant's entities.
type Entities interface {
	// Lookup returns the state of each of the given entities, in their order. The IDs are distinct, and at most
	// MaxLookup.
	Lookup(ctx context.Context, ids []string) ([]EntityState, error)
}

// ReconcileInput is the input of ReconcilePartition.
type ReconcileInput struct {
	// Partition is the partition to reconcile, in [0, Partitions).
	Partition int
	// LineCounts are the numbers of lines of all chunks: ValidateResult.Lines.
	LineCounts []int64
	// Index returns the index of a chunk, or nil if it is empty. It must be safe for concurrent use.
	Index func(chunk int) chunk.Source
	// Entities looks entities up; nil means that references to entities are not checked.
	Entities Entities
	// DigestKey is the key with which the chunks were validated.
	DigestKey [16]byte
	// Concurrency is the number of indexes that are read at the same time; 0 means 1.
	Concurrency int
}

// ReconcileResult is the outcome of reconciling a partition.
type ReconcileResult struct {
	// Duplicates is the number of lines that share their modification ID with other lines.
	Duplicates int64
	// Entities is the number of distinct entities that were looked up.
	Entities int64
	// ForbiddenEntities is the number of these entities that are missing or not onboarded.
	ForbiddenEntities int64
	// RejectionsBytes is the number of bytes written to rejections. If it is 0, there are none, and the file is not
	// needed.
	RejectionsBytes int64
	// RejectionsSections are the sections of the rejections; empty if there are no rejections.
	RejectionsSections Sections
}

// ReconcilePartition is the second pass. In one partition of the IDs of the whole batch it finds the lines that share a
// modification ID, and the lines that refer to entities which are missing or not onboarded. It looks up each entity
// once. It writes rejections (see rejections.go), or nothing if there are none.
func ReconcilePartition(ctx context.Context, in ReconcileInput, rejections io.Writer) (ReconcileResult, error) {
	return new(reconciler).reconcile(ctx, in, rejections)
}

// reconciler reconciles one partition at a time and keeps its memory for the next one.
type reconciler struct {
	reader sectionReader
	result ReconcileResult

	// linesBefore is the number of lines of the file preceding each chunk.
	linesBefore []int64

	// entries are the modification IDs of the partition in the order of the chunks. An ID has one entry in each chunk,
	// which is a multiple entry (duplicate.MultiFlag) if the ID is in repeated, that is, occurs more than once in the
	// chunk.
	entries  []duplicate.Entry
	repeated []repeatedID
	finder   duplicate.Finder
	sets     []duplicateSet
	members  []duplicateMember

	// entitySections are the entities of each chunk, as they are encoded in its index. entityNumbers has, for each of
	// them in order, the number of the distinct entity, and entityStates the state by that number.
	entitySections [][]byte
	entities       duplicate.Table
	entityNumbers  []uint32
	entityStates   []EntityState

	sections sectionWriter
}

// duplicateSet is a modification ID that more than one line of the file has: the number of these lines, and the first
// of its members.
type duplicateSet struct {
	lineCount   int64
	firstMember int32
}

// duplicateMember is the lines of one chunk that belong to a set. next is the next member of the set, in the order of
// the file, or noMember.
type duplicateMember struct {
	location uint64
	set      uint32
	next     int32
}

const noMember = -1

func (r *reconciler) reconcile(ctx context.Context, in ReconcileInput, rejections io.Writer) (ReconcileResult, error) {
	r.reset(in.LineCounts)
	err := r.reader.readEach(ctx, len(in.LineCounts), in.Concurrency,
		func(ctx context.Context, i int, buf []byte) ([]byte, error) {
			return readSection(ctx, in.Index(i), indexMagic, Partitions, in.Partition, buf)
		},
		func(i int, section []byte) error { return r.addSection(i, section, in.LineCounts[i]) })
	if err != nil {
		return ReconcileResult{}, fmt.Errorf("read index: %w", err)
	}
	r.findDuplicates()
	if in.Entities != nil {
		if err := r.lookUpEntities(ctx, in.Entities, duplicate.NewKey(in.DigestKey)); err != nil {
			return ReconcileResult{}, err
		}
	}
	if r.result.Duplicates+r.result.ForbiddenEntities == 0 {
		return r.result, nil
	}
	if r.result.RejectionsBytes, err = r.writeRejections(rejections); err != nil {
		return ReconcileResult{}, fmt.Errorf("write rejections: %w", err)
	}
	r.result.RejectionsSections = r.sections.written
	return r.result, nil
}

// reset starts a partition of chunks with the given numbers of lines.
func (r *reconciler) reset(lineCounts []int64) {
	r.result = ReconcileResult{}
	r.linesBefore = r.linesBefore[:0]
	sum := int64(0)
	for _, n := range lineCounts {
		r.linesBefore = append(r.linesBefore, sum)
		sum += n
	}
	r.entitySections = make([][]byte, len(lineCounts))
	r.repeated, r.entityNumbers = r.repeated[:0], r.entityNumbers[:0]
	r.members, r.sets, r.entityStates = r.members[:0], r.sets[:0], r.entityStates[:0]
	// As digests spread evenly over the partitions, this suffices for files of up to 32 million lines.
	r.entries = r.entries[:0]
	if n := int(min(sum/Partitions*33/32+1<<10, 1<<21)); cap(r.entries) < n {
		r.entries = nil // before there are two
		r.entries = make([]duplicate.Entry, 0, n)
	}
}

// addSection adds a chunk's section of the index. It does not keep the section, but copies the parts of it that stay
// encoded.
func (r *reconciler) addSection(chunk int, section []byte, lineCount int64) error {
	if len(section) == 0 {
		return nil
	}
	d := &decoder{b: section}
	r.entries = appendUniqueIDs(r.entries, d, chunk, lineCount)
	d.b = bytes.Clone(d.b)
	for n := d.uvarint(); n > 0 && !d.failed; n-- {
		digest, id := decodeRepeatedID(d, lineCount)
		if d.failed {
			break
		}
		r.entries = append(r.entries, duplicate.Entry{
			Digest:   digest,
			Location: duplicate.MultiFlag | entryLocation(chunk, uint32(len(r.repeated))),
		})
		r.repeated = append(r.repeated, id)
	}
	r.entitySections[chunk] = d.b
	eachUse(d, func(usedText) {})
	return d.finish(fmt.Sprintf("index of chunk %d", chunk))
}

// findDuplicates collects the members of all sets.
func (r *reconciler) findDuplicates() {
	r.finder.FindSets(r.entries, func(entries []duplicate.Entry) {
		s := duplicateSet{firstMember: int32(len(r.members))}
		for i := range entries {
			m := duplicateMember{
				location: entries[i].Location,
				set:      uint32(len(r.sets)),
				next:     int32(len(r.members) + 1),
			}
			if i == len(entries)-1 {
				m.next = noMember
			}
			r.members = append(r.members, m)
			s.lineCount += r.lineCount(m)
		}
		r.sets = append(r.sets, s)
		r.result.Duplicates += s.lineCount
	})
}

// lineCount returns the number of lines of a member.
func (r *reconciler) lineCount(m duplicateMember) int64 {
	if m.location&duplicate.MultiFlag == 0 {
		return 1
	}
	return int64(r.repeated[uint32(m.location)].count)
}

// eachLine calls f with the lines of a member within its chunk, until f returns false.
func (r *reconciler) eachLine(m duplicateMember, f func(line int64) bool) {
	if m.location&duplicate.MultiFlag == 0 {
		f(int64(uint32(m.location)))
		return
	}
	d := decoder{b: r.repeated[uint32(m.location)].lines}
	for line := int64(0); len(d.b) > 0; {
		line += int64(d.uvarint())
		if !f(line) {
			return
		}
	}
}

// lookUpEntities looks up each distinct entity once, MaxLookup at a time.
func (r *reconciler) lookUpEntities(ctx context.Context, entities Entities, key duplicate.Key) error {
	r.entities.Reset(0)
	ids := make([]string, 0, MaxLookup)
	var err error
	for _, section := range r.entitySections {
		if section == nil {
			continue
		}
		eachUse(&decoder{b: section}, func(e usedText) {
			number, isNew := r.entities.Intern(key.Digest(e.text))
			r.entityNumbers = append(r.entityNumbers, number)
			if !isNew || err != nil {
				return
			}
			if ids = append(ids, string(e.text)); len(ids) == MaxLookup {
				err = r.addEntityStates(ctx, entities, ids)
				ids = ids[:0]
			}
		})
		if err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return r.addEntityStates(ctx, entities, ids)
}

// addEntityStates looks up the next entities and adds their states.
func (r *reconciler) addEntityStates(ctx context.Context, entities Entities, ids []string) error {
	states, err := entities.Lookup(ctx, ids)
	if err == nil && len(states) != len(ids) {
		err = fmt.Errorf("got %d states for %d entities", len(states), len(ids))
	}
	if err != nil {
		return fmt.Errorf("look up entities: %w", err)
	}
	for _, state := range states {
		if state != Onboarded {
			r.result.ForbiddenEntities++
		}
	}
	r.result.Entities += int64(len(ids))
	r.entityStates = append(r.entityStates, states...)
	return nil
}

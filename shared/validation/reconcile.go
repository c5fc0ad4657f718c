package validation

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"sluice/shared/duplicate"
)

// Reconcile finds, in one partition of the whole batch, the lines that share a modification ID and the entities that
// transactions may not name, and writes marks for their lines, grouped by chunk. Nothing is written when there are none.
func Reconcile(ctx context.Context, in ReconcileInput, marks io.Writer) (ReconcileResult, error) {
	return new(reconciler).reconcile(ctx, in, marks)
}

// reconciler works through one partition at a time and keeps its memory for the next.
type reconciler struct {
	reader sectionReader
	before []int64 // lines of the file before each chunk

	entries []duplicate.Entry // in the order of the chunks, each of which has an ID once
	several []severalLines
	finder  duplicate.Finder
	members []member
	sets    []set

	refs     [][]byte // entities of each chunk's section, as written
	table    duplicate.Table
	numberOf []uint32 // the distinct entity of each one in refs, in their order
	states   []EntityState

	sections sectionWriter
}

// severalLines are the lines of an ID that occurs more than once in a chunk: count of them, each a uvarint difference.
type severalLines struct {
	count uint32
	lines []byte
}

// The Place of an entry is its chunk in the 31 bits above, and below its line, or with duplicate.MultiFlag its place in several.
func place(chunk int, line uint32) uint64 { return uint64(chunk)<<32 | uint64(line) }

func (r *reconciler) reconcile(ctx context.Context, in ReconcileInput, marks io.Writer) (ReconcileResult, error) {
	r.begin(in.Lines)
	err := r.reader.each(ctx, len(in.Lines), in.Fetch, func(ctx context.Context, i int, buf []byte) ([]byte, error) {
		return readSection(ctx, in.Index(i), indexMagic, Partitions, in.Partition, buf)
	}, func(i int, section []byte) error {
		return r.add(i, section, in.Lines[i])
	})
	if err != nil {
		return ReconcileResult{}, fmt.Errorf("read index: %w", err)
	}
	var result ReconcileResult
	result.Duplicates = r.findDuplicates()
	if in.Entities != nil {
		if err := r.resolve(ctx, in, &result); err != nil {
			return ReconcileResult{}, err
		}
	}
	if result.Duplicates+result.Failed == 0 {
		return result, nil
	}
	result.MarksBytes, err = r.writeMarks(marks, result.Failed > 0)
	if err != nil {
		return ReconcileResult{}, fmt.Errorf("write marks: %w", err)
	}
	return result, nil
}

func (r *reconciler) begin(lines []int64) {
	r.before = r.before[:0]
	sum := int64(0)
	for _, n := range lines {
		r.before = append(r.before, sum)
		sum += n
	}
	r.refs = make([][]byte, len(lines))
	r.several, r.numberOf = r.several[:0], r.numberOf[:0]
	r.members, r.sets, r.states = r.members[:0], r.sets[:0], r.states[:0]
	// Keyed digests spread evenly: this is enough, and made in one piece, up to a file of 16 million lines.
	if r.entries = r.entries[:0]; r.entries == nil {
		r.entries = make([]duplicate.Entry, 0, min(sum/Partitions*33/32+1<<10, 1<<20))
	}
}

// add takes a chunk's section apart, without unpacking what need not be. It keeps nothing of the section itself.
func (r *reconciler) add(chunk int, section []byte, lines int64) error {
	if len(section) == 0 {
		return nil
	}
	d := &decoder{b: section}
	r.addSingles(d, chunk, lines)
	d.b = bytes.Clone(d.b) // what is kept of the section, without the much larger rest
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		r.addSeveral(d, chunk, lines)
	}
	r.refs[chunk] = d.b
	each(d, func(entityUses) {})
	return d.done(fmt.Sprintf("index of chunk %d", chunk))
}

func (r *reconciler) addSingles(d *decoder, chunk int, lines int64) {
	var b []byte
	if head := d.take(4); head != nil {
		b = d.take(int(binary.LittleEndian.Uint32(head)) * singleBytes)
	}
	for ; len(b) > 0; b = b[singleBytes:] {
		line := binary.LittleEndian.Uint32(b[duplicate.DigestBytes:])
		if int64(line) >= lines {
			d.fail()
			return
		}
		r.entries = append(r.entries, duplicate.Entry{Digest: duplicate.DecodeDigest(b), Location: place(chunk, line)})
	}
}

func (r *reconciler) addSeveral(d *decoder, chunk int, lines int64) {
	digest, count := d.take(duplicate.DigestBytes), d.upTo(lines)
	list := d.text()
	if d.bad || !validLines(list, count, lines) {
		d.fail()
		return
	}
	r.entries = append(r.entries, duplicate.Entry{
		Digest:   duplicate.DecodeDigest(digest),
		Location: duplicate.MultiFlag | place(chunk, uint32(len(r.several))),
	})
	r.several = append(r.several, severalLines{uint32(count), list})
}

func validLines(list []byte, count, lines int64) bool {
	d := decoder{b: list}
	line := int64(0)
	for range count {
		line += d.upTo(lines)
		if d.bad || line >= lines {
			return false
		}
	}
	return count >= 2 && len(d.b) == 0
}

// entityUses is one entity of a section and where the chunk uses it.
type entityUses struct {
	id    []byte
	count uint64
	uses  []byte
}

// each calls f with the entities of a section.
func each(d *decoder, f func(entityUses)) {
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		e := entityUses{d.text(), d.uvarint(), d.text()}
		if !d.bad {
			f(e)
		}
	}
}

// resolve looks every distinct entity up, once.
func (r *reconciler) resolve(ctx context.Context, in ReconcileInput, result *ReconcileResult) error {
	key := duplicate.NewKey(in.Key)
	r.table.Reset(0)
	ids := make([]string, 0, MaxLookup)
	var failed error
	for _, refs := range r.refs {
		if refs == nil {
			continue
		}
		each(&decoder{b: refs}, func(e entityUses) {
			number, fresh := r.table.Intern(key.Digest(e.id))
			r.numberOf = append(r.numberOf, number)
			if !fresh || failed != nil {
				return
			}
			if ids = append(ids, string(e.id)); len(ids) == MaxLookup {
				failed = r.lookup(ctx, in.Entities, ids, result)
				ids = ids[:0]
			}
		})
		if failed != nil {
			return failed
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return r.lookup(ctx, in.Entities, ids, result)
}

// lookup notes the states of the next entities.
func (r *reconciler) lookup(ctx context.Context, entities Entities, ids []string, result *ReconcileResult) error {
	states, err := entities.Lookup(ctx, ids)
	if err == nil && len(states) != len(ids) {
		err = fmt.Errorf("%d answers for %d entities", len(states), len(ids))
	}
	if err != nil {
		return fmt.Errorf("look entities up: %w", err)
	}
	for _, state := range states {
		if state != Onboarded {
			result.Failed++
		}
	}
	result.Entities += int64(len(ids))
	r.states = append(r.states, states...)
	return nil
}

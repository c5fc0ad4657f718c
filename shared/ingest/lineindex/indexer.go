package lineindex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Indexer makes and merges the segments of indexes. It is safe for concurrent use.
type Indexer struct {
	Catalog Catalog
	// Work has the work files of batches, and Files the objects of the indexes.
	Work, Files Files
	// NewName names a run of Maintain, and a segment. Names differ.
	NewName func() string
	// Lease is how long a run may take for one file of a segment; after it, another one takes over its merge.
	Lease time.Duration
	// FileEntries is about how many entries a file of a segment has at most; 0 means 16 million.
	FileEntries int64
	Now         func() time.Time
}

// Catalog has the segments of tenants and the merges that are being made. It is safe for concurrent use.
type Catalog interface {
	// Register adds a segment to those of a tenant. Repeating it changes nothing.
	Register(ctx context.Context, tenant string, s Segment) error
	// Segments returns the segments of a tenant in the order of their IDs, and its merges that have not ended.
	Segments(ctx context.Context, tenant string) ([]Segment, []Merge, error)
	// BeginMerge adds a merge, on the condition that all its inputs are there and in no other merge; otherwise it
	// returns ErrTaken.
	BeginMerge(ctx context.Context, tenant string, m Merge) error
	// ClaimMerge returns a merge as it is and leaves it to a worker until a time; ErrTaken if it has ended, or
	// another worker has it.
	ClaimMerge(ctx context.Context, tenant, id, worker string, now, until time.Time) (Merge, error)
	// SaveMerge keeps how far a merge is, and leaves it to the worker until a later time. ErrTaken means that the
	// worker has it no more.
	SaveMerge(ctx context.Context, tenant, worker string, m Merge, until time.Time) error
	// PublishMerge adds the output of a merge to the segments, unless that is empty, and marks the merge as
	// published. It does so once: ErrTaken is as for SaveMerge, and for a merge that is published.
	PublishMerge(ctx context.Context, tenant, worker string, m Merge) error
	// RemoveInputs removes the inputs of a merge from the segments, and EndMerge removes the merge. Repeating them
	// is success.
	RemoveInputs(ctx context.Context, tenant string, m Merge) error
	EndMerge(ctx context.Context, tenant string, m Merge) error
}

// ErrTaken means that another worker has a merge or its inputs, or that the merge has ended.
var ErrTaken = errors.New("lineindex: the merge is another worker's")

// Merge is the work of making one segment of several. It is interrupted and resumed between files.
type Merge struct {
	// At is a time before the merge was planned: batches that had expired by then are left out. All workers write the
	// same.
	At time.Time
	// Inputs are the segments that are merged, and Output is the one that is made of them.
	Inputs []Segment
	Output Segment
	// Done is how many files of the output are written; Output.Entries has their numbers of entries.
	Done int
	// IsPublished means that the output is written and has replaced the inputs, which are still to be removed.
	IsPublished bool
}

// fanIn is how many segments of one size are merged. With 4, a line is written again about ten times in a year of a
// thousand batches a day, and a search reads up to maxSegments.
const fanIn = 4

// leastEntries is the number of entries up to which all segments are of one size: merging 4 of them takes two reads and
// a write of 256 kB at most.
const leastEntries = 16 << 10

// sizeOf returns the class of sizes of a segment: each is fanIn times the one before.
func sizeOf(s Segment) (class int) {
	for entries := s.total(); entries > leastEntries; entries /= fanIn {
		class++
	}
	return class
}

// maxSegments is how many segments a tenant has at most while its merges keep up, so that a search takes few requests.
const maxSegments = 28

// choose returns the segments that are to be merged next; none if nothing is to be done: those of the least class that
// has enough of them, the smallest ones if there are too many, or one that is stale.
func choose(segments []Segment, now time.Time) []Segment {
	var counts [64]int
	for _, s := range segments {
		counts[sizeOf(s)]++
	}
	if class := slices.IndexFunc(counts[:], func(n int) bool { return n >= fanIn }); class >= 0 {
		inputs := make([]Segment, 0, fanIn)
		for _, s := range segments {
			if sizeOf(s) == class && len(inputs) < fanIn {
				inputs = append(inputs, s)
			}
		}
		return inputs
	}
	if len(segments) > maxSegments {
		inputs := slices.SortedFunc(slices.Values(segments), func(a, b Segment) int {
			return cmp.Compare(a.total(), b.total())
		})[:fanIn]
		slices.SortFunc(inputs, func(a, b Segment) int { return cmp.Compare(a.ID, b.ID) })
		return inputs
	}
	for _, s := range segments {
		if isStale(s, now) {
			return []Segment{s}
		}
	}
	return nil
}

// staleAfter is how long after the first expiry of a line its segment is written again without the lines that expired.
const staleAfter = 7 * 24 * time.Hour

// maxSkew is more than the clocks of workers and searches differ. What a merge leaves out has expired by all of them.
const maxSkew = time.Hour

func isStale(s Segment, now time.Time) bool {
	return !s.FirstExpiry.IsZero() && now.After(s.FirstExpiry.Add(staleAfter))
}

// fileTime is longer than writing one file of a segment takes. A run that has less time left begins none.
const fileTime = 90 * time.Second

var errLate = errors.New("lineindex: too late to go on")

// isLate reports whether the time of a run does not suffice for another file.
func (x *Indexer) isLate(ctx context.Context) bool {
	end, isLimited := ctx.Deadline()
	return isLimited && end.Before(time.Now().Add(fileTime))
}

// Maintain merges the segments of a tenant until nothing is to be done, the context is about to end, or other workers
// do the rest. It can be interrupted at any time, and run at the same time. Merges that fail, as those of damaged files
// do, are its error in the end, and keep no other from being made.
func (x *Indexer) Maintain(ctx context.Context, tenant string) (failed error) {
	worker := x.NewName()
	for !x.isLate(ctx) {
		segments, merges, err := x.Catalog.Segments(ctx, tenant)
		if err != nil {
			return err
		}
		hasEnded := false
		if hasEnded, failed = x.resume(ctx, tenant, worker, merges); hasEnded {
			continue // there are other segments now
		}
		inputs := choose(withoutMerging(segments, merges), x.Now())
		if inputs == nil {
			break
		}
		err = x.Catalog.BeginMerge(ctx, tenant, x.plan(inputs))
		if err != nil && !errors.Is(err, ErrTaken) {
			return err
		}
	}
	return failed
}

// resume goes on with the merges that no other worker has, and reports whether one has ended.
func (x *Indexer) resume(ctx context.Context, tenant, worker string, merges []Merge) (hasEnded bool, failed error) {
	for _, m := range merges {
		err := x.work(ctx, tenant, worker, m.Output.ID)
		if err != nil && !errors.Is(err, ErrTaken) && !errors.Is(err, errLate) {
			failed = errors.Join(failed, err)
		}
		hasEnded = hasEnded || err == nil
	}
	return hasEnded, failed
}

// withoutMerging returns the segments that are in no merge.
func withoutMerging(segments []Segment, merges []Merge) []Segment {
	taken := map[string]bool{}
	for _, m := range merges {
		for _, s := range m.Inputs {
			taken[s.ID] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(segments), func(s Segment) bool { return taken[s.ID] })
}

// plan returns the merge of some segments, which are in the order of their IDs.
func (x *Indexer) plan(inputs []Segment) Merge {
	at := x.Now()
	var nanos int64
	if _, err := fmt.Sscanf(inputs[len(inputs)-1].ID, "%d-", &nanos); err == nil && nanos >= at.UnixNano() {
		at = time.Unix(0, nanos+1) // after the inputs, whatever the clock says
	}
	out, total := Segment{ID: segmentID(at, x.NewName())}, int64(0)
	fileBits := 0
	for _, s := range inputs {
		total += s.total()
		fileBits = max(fileBits, s.fileBits())
	}
	wanted, pageBits := x.layoutOf(total)
	if wanted < fileBits { // an input's file has no more than one file of the output beside it
		pageBits = max(0, pageBits-(fileBits-wanted))
	}
	out.PageBits, out.Entries = pageBits, make([]int64, 1<<max(wanted, fileBits))
	return Merge{At: x.Now().Add(-maxSkew), Inputs: inputs, Output: out}
}

// Package cost estimates what batches cost on AWS: how much of each service they use (Usage), and by a file of prices
// what that costs (Estimate). Tests hold the usage to requests counted on the local cloud: local/steps for DynamoDB and
// S3, e2e for state transitions and functions.
package cost

import (
	"errors"
	"math"

	"sluice/shared/ingest/chunk"
)

// Load is what is uploaded, and how it is kept.
type Load struct {
	// Lines and Bytes are the totals of all batches, which are of equal size.
	Lines   int64 `json:"lines"`
	Bytes   int64 `json:"bytes"`
	Batches int64 `json:"batches"`
	// ChunkBytes is the size of chunks; 0 for that of the service.
	ChunkBytes int64 `json:"chunk_bytes,omitempty"`
	// Invalid is the share of lines that are not stored, 0 to 1.
	Invalid float64 `json:"invalid,omitempty"`
	// Months is the time that is looked at, from the upload on.
	Months float64 `json:"months"`
	// RetentionDays is how long lines are stored; 0 for ever.
	RetentionDays float64 `json:"retention_days,omitempty"`
	// ItemBytes is the mean size of a stored line; 0 for an estimate.
	ItemBytes float64 `json:"item_bytes"`
	// LineUnits is the mean write units of a stored line; 0 for an estimate.
	LineUnits float64 `json:"line_units"`
	// RareAccess means that the table of transactions has the class STANDARD_INFREQUENT_ACCESS.
	RareAccess bool `json:"infrequent_access,omitempty"`
	// PackedBytes are the bytes of all files as they are uploaded, in gzip or zstd; 0 if they are not packed.
	PackedBytes int64 `json:"packed_bytes,omitempty"`
	// Parquet means that the accepted lines of each batch are also written as a Parquet file, which is kept for
	// ParquetDays; 0 for ever.
	Parquet     bool    `json:"parquet,omitempty"`
	ParquetDays float64 `json:"parquet_days,omitempty"`
	// Day has the provisioned write units. With a peak, the load comes in one day.
	Day Day `json:"day"`
	// GuardDuty scans uploads; otherwise the scan function passes them to clamd.
	GuardDuty bool `json:"guardduty"`
}

// Check returns an error that says what is wrong with a load.
func (l Load) Check() error {
	switch {
	case l.Lines < 1:
		return errors.New("there must be 1 line or more")
	case l.Bytes < l.Lines:
		return errors.New("a line has 1 byte or more, so there must be at least as many bytes as lines")
	case l.Batches < 1 || l.Batches > l.Lines:
		return errors.New("there must be 1 batch or more, and no more batches than lines")
	case !(l.Months >= 0 && l.Months <= 1200):
		return errors.New("the months must be 0 to 1,200")
	case !(l.Invalid >= 0 && l.Invalid <= 1):
		return errors.New("the share of invalid lines must be 0 to 1")
	case !(l.RetentionDays >= 0 && l.RetentionDays <= 36525):
		return errors.New("the retention must be 0 to 36,525 days")
	case l.PackedBytes != 0 && l.PackedBytes < l.Batches:
		return errors.New("a packed file has 1 byte or more, so there must be at least as many packed bytes as batches")
	case !(l.ParquetDays >= 0 && l.ParquetDays <= 36525):
		return errors.New("the Parquet files must be kept for 0 to 36,525 days")
	case l.ParquetDays != 0 && !l.Parquet:
		return errors.New("days are given for Parquet files, and none are written")
	case l.ItemBytes != 0 && !(l.ItemBytes >= 50 && l.ItemBytes <= 400<<10):
		return errors.New("a stored line has 50 to 409,600 bytes")
	case l.LineUnits != 0 && !(l.LineUnits >= 1 && l.LineUnits <= 400):
		return errors.New("a stored line takes 1 to 400 write units")
	}
	return l.complete().Day.Check()
}

// complete returns the load with its estimates filled in.
func (l Load) complete() Load {
	if l.ItemBytes == 0 {
		l.ItemBytes = math.Round(itemKeyBytes + itemTextShare*float64(l.Bytes)/float64(l.Lines))
	}
	if l.LineUnits == 0 {
		l.LineUnits = 1
		if l.ItemBytes > 512 { // so that some lines are longer than a unit
			l.LineUnits = l.ItemBytes/1024 + 0.5
		}
	}
	if l.Day.Target == 0 {
		l.Day.Target = 0.7
	}
	if l.Day.Max == 0 {
		l.Day.Min, l.Day.Max = max(l.Day.Min, 1000), 40_000
	}
	return l
}

// keptMonths returns for how many of the months something is stored that is kept for some days; 0 for ever.
func (l Load) keptMonths(days float64) float64 {
	if days == 0 {
		return l.Months
	}
	return min(l.Months, days/monthDays)
}

// parquetBytes returns how many bytes all Parquet files have.
func (l Load) parquetBytes() float64 {
	if !l.Parquet {
		return 0
	}
	return float64(l.Batches)*parquetFileBytes + parquetShare*float64(l.Bytes)*(1-l.Invalid)
}

const (
	gib       = 1 << 30
	monthDays = 365.25 / 12
	// itemOverhead is what DynamoDB adds to an item in storage.
	itemOverhead = 100
)

// What a stored line has, measured (docs/cost.md): its keys and marks, and the share of its text that is left.
const (
	itemKeyBytes  = 130
	itemTextShare = 0.287
)

// What a Parquet file has, measured (docs/parquet.md): the metadata of its columns, and the share of the lines' bytes.
const (
	parquetFileBytes = 55_000
	parquetShare     = 0.5
)

// lineIndexBytes is the size of the index of lines for a line whose identifiers are UUIDs (docs/decisions/0036): its
// entries and its record have half of it each.
const lineIndexBytes = 140

// What the service does once for a batch, for each of its chunks and for each window of lines. The tests count it.
const (
	// batchWrites are the write units of a batch's rows: the batch itself, which is in three indexes and has more than
	// a kilobyte towards its end, those of 16 partitions, of the line counts and of the file. slotWrites are those of
	// its slots. guardDutyWrites, of the row of its upload, are not counted: three writes of a row and an index.
	batchWrites, slotWrites, roundWrites, guardDutyWrites = 76, 10, 4, 6
	// chunkWrites are those of the row of a chunk, once for each of three steps.
	chunkWrites = 3
	// windowLines is how many lines are stored before the cursor advances, by a write unit and a read unit.
	windowLines = 1000
	// batchReads and chunkReads are read units. chunkRowsInUnit is how many rows of chunks one of them reads: each run
	// of Reconcile, Verdict and Close read them all.
	batchReads, chunkReads, chunkRowsInUnit = 24, 8, 12
	// batchPuts are the tag, the report and its summary, and the upload. Each chunk has an index, with its identifiers
	// behind it.
	batchPuts, chunkPuts = 4, 1
	// chunkGets are two for each of two readings of a chunk, as its last line ends in the next one. The two that the
	// last chunk saves are those of the scan. Three read its identifiers, of which streamLines lines have one more.
	// In addition, each run of Reconcile reads its part of the index. headGets reads the first bytes of the upload, by
	// which a packed one is recognised; see packedGets.
	chunkGets, headGets, streamLines = 4 + 3, 1, 2048
	// mergedBatches is how many batches there are for each merge of segments of the index of lines, and what it takes.
	mergedBatches, mergeWrites, mergeReads, mergePuts, mergeGets = 3, 24, 6, 2, 10
	// packedWrites and packedGets are what a batch takes more whose file is packed: the write that makes the copy its
	// content, and the GETs that unpack the file and scan the copy.
	packedWrites, packedGets = 3, 2
	// exportWrites are what a batch takes more that leaves a Parquet file: its claim, its key and what is still owed.
	// exportGets are those for each chunk; the last one saves one. The chunks' rows are read once more.
	exportWrites, exportGets = 9, 2
	// batchTransitions, chunkTransitions and roundTransitions are transitions of the state machine without retries.
	batchTransitions, chunkTransitions, roundTransitions = 14, 5, 2
	// roundChunks is the default of RoundChunks.
	roundChunks = 32
	// batchRuns and chunkRuns are the functions that the state machine runs, eventRuns the scan, the announcement and
	// the index.
	batchRuns, chunkRuns, eventRuns = 6, 3, 3
	// wholeTransitions and wholeRuns are the transitions and runs of a batch whose file is one chunk, and which one run
	// processes. It needs one slot, and wholeReads fewer read units.
	wholeTransitions, wholeRuns, wholeReads = 6, 3, 6
	// rangeBytes is the part of a file for each run of Reconcile. A batch has maxRanges runs at most.
	rangeBytes, maxRanges = 64 << 20, 4
	// digestPartBytes is how much of a file each request of its digest reads.
	digestPartBytes = 8 << 20
	// objectPartBytes is the size of the parts in which larger objects are written.
	objectPartBytes = 8 << 20
)

// What cannot be counted here: assumptions of docs/capacity.md, to be measured in an account.
const (
	// ReadBytesSecond and StoreLinesSecond are the rates of one function, ScanBytesSecond is the rate of one scan, and
	// RunSeconds the time of a run beside its work.
	ReadBytesSecond  = 60e6
	StoreLinesSecond = 8000
	ScanBytesSecond  = 50e6
	RunSeconds       = 0.1
	// unpackBytesSecond are unpacked bytes: gzip as measured (163 MB/s), one after the other with writing at 100 MB/s.
	unpackBytesSecond = 60e6
	// parquetBytesSecond are bytes of lines, as measured (docs/parquet.md).
	parquetBytesSecond = 44e6
	// functionGiB is the memory of the functions that work on lines.
	functionGiB = 1769.0 / 1024
	// digestGiB is that of the function that digests files, once each.
	digestGiB = 1
	// apiRequests is how often a client asks for one batch: a token, the URL, nine times the status, the result. Each
	// runs two functions, the authorizer included, and writes one row of limits.
	apiRequests = 12
	// tracedShare is the share of requests and executions that X-Ray traces beside one request a second.
	tracedShare = 0.05
	// logBytes are those that a run of a function logs.
	logBytes = 700
	// Bytes of work files and of the report for each line, and the days for which they and the upload are kept.
	workLineBytes, reportLineBytes   = 32 + lineIndexBytes, 280
	workDays, reportDays, uploadDays = 7, 30, 14
)

// Usage is how much of each service a load uses once.
type Usage struct {
	// Chunks and Ranges are those of one batch.
	Chunks, Ranges, Rounds int64
	// LineWrites, RowWrites and Reads are units of DynamoDB, Rows being those of batches, slots and chunks.
	LineWrites, RowWrites, Reads float64
	// Puts and Gets are requests to S3.
	Puts, Gets float64
	// Transitions are those of state machines.
	Transitions float64
	// Runs are invocations of functions for batches, without those for requests.
	Runs float64
	// MachineRuns are those of them that state machines make.
	MachineRuns float64
}

// UsageOf returns what a load uses of the services by which requests are counted.
func UsageOf(l Load) Usage {
	l = l.complete()
	size := l.Bytes / l.Batches
	plan := chunk.NewPlan(size, l.ChunkBytes)
	chunks := int64(plan.Count())
	ranges := min(max((size+rangeBytes-1)/rangeBytes, 1), maxRanges)
	n, c, r := float64(l.Batches), float64(chunks), float64(ranges)
	stored := float64(l.Lines) * (1 - l.Invalid)
	rounds := math.Ceil(c / roundChunks)
	windows := c * math.Floor(stored/n/c/windowLines)
	reads := math.Ceil(c / chunkRowsInUnit)
	merges := math.Floor(n / mergedBatches)
	streams := c * math.Floor(float64(l.Lines)/n/c/streamLines)
	u := Usage{
		Chunks: chunks, Ranges: ranges, Rounds: int64(rounds),
		LineWrites:  stored * l.LineUnits,
		RowWrites:   n*(batchWrites+slotWrites+roundWrites*(rounds-1)+chunkWrites*c+windows) + merges*mergeWrites,
		Reads:       n*(batchReads+chunkReads*c+windows+r*(2+reads)+2*(1+reads)) + merges*mergeReads,
		Puts:        n*(batchPuts+chunkPuts*c+2*ObjectPuts(lineIndexBytes/2*float64(l.Lines)/n)) + merges*mergePuts,
		Gets:        n*(headGets+(chunkGets+r)*c+streams+math.Ceil(float64(size)/digestPartBytes)) + merges*mergeGets,
		Transitions: n * (batchTransitions + chunkTransitions*c + r + roundTransitions*rounds),
		MachineRuns: n * (batchRuns + chunkRuns*c + r + rounds - 1),
	}
	if chunks == 1 {
		u.Transitions, u.MachineRuns = n*wholeTransitions, n*wholeRuns
		u.RowWrites -= n * slotWrites / 2
		u.Reads -= n * wholeReads
	}
	u.Runs = u.MachineRuns + n*eventRuns
	scans := n
	if l.PackedBytes > 0 {
		scans += n
		u.RowWrites += n * packedWrites
		u.Puts += n * ObjectPuts(float64(size))
		u.Gets += n * packedGets
	}
	if l.Parquet {
		u.RowWrites += n * exportWrites
		u.Reads += n * reads
		u.Puts += n * ObjectPuts(l.parquetBytes()/n)
		u.Gets += n * (exportGets*c - 1)
		u.Runs += n
	}
	if l.GuardDuty {
		u.RowWrites += scans * guardDutyWrites
		u.Puts += scans // its own tag
		u.Runs += scans // its result
		u.Gets -= scans // the scan function does not read the file
	}
	return u
}

// ObjectPuts returns how many requests write an object: one, or one for each part, and two to begin and end it.
func ObjectPuts(bytes float64) float64 {
	if bytes < objectPartBytes {
		return 1
	}
	return 2 + math.Ceil(bytes/objectPartBytes)
}

// seconds returns how long functions run, in all, as seconds of functions that work on lines.
func (l Load) seconds(u Usage) float64 {
	s := (2+digestGiB/functionGiB)*float64(l.Bytes)/ReadBytesSecond + float64(l.Lines)*(1-l.Invalid)/StoreLinesSecond +
		u.Runs*RunSeconds
	if l.PackedBytes > 0 {
		s += float64(l.Bytes) / unpackBytesSecond
	}
	if l.Parquet {
		s += float64(l.Bytes) * (1 - l.Invalid) / parquetBytesSecond
	}
	if !l.GuardDuty {
		s += float64(l.Bytes+l.PackedBytes) / ScanBytesSecond
	}
	return s
}

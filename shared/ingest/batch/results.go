package batch

// Partitions is the number of parts into which the modification IDs and entity references of a batch are divided.
const Partitions = 16

// Chunk has the committed results of the steps for one chunk. A nil field means that the step has not committed its
// result.
type Chunk struct {
	Index     int
	Validated *ValidateResult
	Settled   *SettleResult
	Ingested  *IngestCursor
}

// ValidateResult is the committed result of validating one chunk.
type ValidateResult struct {
	// Lines is the number of lines that start in the chunk, blank ones included.
	Lines int64
	// Transactions is the number of lines that are not blank.
	Transactions int64
	// Invalid is the number of transactions with findings of their own.
	Invalid int64
	// Bytes is the size of the chunk.
	Bytes int64
	// FindingsKey names the work file of findings; empty if there are no findings.
	FindingsKey string
	// IndexKey names the work file of digests and entity references by partition; empty if there are none.
	// IndexSections are its validation.Sections; empty if a release committed the result that kept none.
	IndexKey, IndexSections string
	// MinReportBytes is a number of bytes that the chunk's part of a report of full entries is not shorter than.
	MinReportBytes int64
	// NamesKey names the work file of the names of unknown entities; empty if there are none or they are not screened.
	// NamesSections are its validation.Sections; empty if a release committed the result that kept none.
	NamesKey, NamesSections string
	// IdentifiersKey names the work file that has the identifiers of the lines (package lineindex) from
	// IdentifiersOffset on; empty if no line has one, or a release committed the result that did not index lines.
	IdentifiersKey    string
	IdentifiersOffset int64
}

// ReconcileResult is the committed result of reconciling one partition.
type ReconcileResult struct {
	// RejectionsKey names the work file of the lines that the partition rejects; empty if it rejects no line.
	// RejectionsSections are its validation.Sections; empty if a release committed the result that kept none.
	RejectionsKey, RejectionsSections string
}

// SettleResult is the committed result of settling one chunk.
type SettleResult struct {
	// Skipped means that the lines of the chunk were not judged to the end, because the batch has too many
	// transactions; all other fields are zero.
	Skipped bool
	// FirstLine is the absolute number, from 1, of the chunk's first line.
	FirstLine int64
	// Accepted and Invalid are the numbers of transactions of the chunk that are accepted and rejected.
	Accepted, Invalid int64
	// AcceptedKey names the work file of the accept bitmap. It is set if Acceptance is AcceptSome.
	AcceptedKey string
	// ReportKey names the chunk's part of the report and ReportBytes is its size; empty and 0 if no line is rejected.
	ReportKey   string
	ReportBytes int64
	// ShortBytes is how many of these bytes, at the end of the part, are short entries.
	ShortBytes int64
	// SummaryKey names the summary of that part; empty if no line is rejected.
	SummaryKey string
	// CSVKey names the same part as CSV, CSVBytes is its size, and CSVShortBytes how many of these bytes, at its end,
	// are short records; empty and 0 if no line is rejected, and if a release settled the chunk that wrote no CSV.
	CSVKey                  string
	CSVBytes, CSVShortBytes int64
	// RejectedKey names the chunk's rejected lines and RejectedBytes is their size; empty and 0 where CSVKey is, and if
	// all of them are too long.
	RejectedKey   string
	RejectedBytes int64
	// Hits is the number of alerts of the chunk. AlertsKey names the work file of those that were written and
	// AlertBytes is its size; empty and 0 if there are none. AlertsLeftOut means that not all were written.
	Hits          int64
	AlertsKey     string
	AlertBytes    int64
	AlertsLeftOut bool
}

// Acceptance says how many transactions of a chunk are accepted.
type Acceptance int

const (
	// AcceptNone: no transaction of the chunk is accepted.
	AcceptNone Acceptance = iota
	// AcceptAll: all transactions of the chunk are accepted.
	AcceptAll
	// AcceptSome: the accept bitmap says which transactions are accepted.
	AcceptSome
)

// Acceptance returns how many transactions of the chunk are accepted.
func (r SettleResult) Acceptance() Acceptance {
	switch {
	case r.Accepted == 0:
		return AcceptNone
	case r.Invalid == 0:
		return AcceptAll
	}
	return AcceptSome
}

// IngestCursor says how far the accepted lines of one chunk are stored.
type IngestCursor struct {
	// Done means that all accepted lines of the chunk are stored.
	Done bool
	// Offset and Line are the numbers of bytes and lines of the chunk that precede the cursor.
	Offset, Line int64
	// Stored is the number of transactions stored.
	Stored int64
}

// FileDigests are the digests that one pass over the file of a batch computes: those of Batch of the same names.
type FileDigests struct{ FileSHA256, LinesSHA256 []byte }

// LineCounts are the sizes of the chunks of a batch. They are known once every chunk is validated.
type LineCounts struct {
	// ByChunk is the number of lines in each chunk, blank ones included.
	ByChunk []int64
	// Transactions is the number of transactions in the file.
	Transactions int64
	// MinReportBytes are copied from ValidateResult, by chunk; nil if an earlier release, which did not record them,
	// committed the counts.
	MinReportBytes []int64
}

// CountLines returns the line counts of the chunks of a batch, all of which must be validated.
func CountLines(chunks []Chunk) LineCounts {
	counts := LineCounts{ByChunk: make([]int64, len(chunks)), MinReportBytes: make([]int64, len(chunks))}
	for i, c := range chunks {
		counts.ByChunk[i] = c.Validated.Lines
		counts.MinReportBytes[i] = c.Validated.MinReportBytes
		counts.Transactions += c.Validated.Transactions
	}
	return counts
}

// FirstLine returns the absolute number, from 1, of the first line of a chunk.
func (c LineCounts) FirstLine(index int) int64 {
	first := int64(1)
	for _, lines := range c.ByChunk[:index] {
		first += lines
	}
	return first
}

// ReportStart returns a number of bytes that the parts of the report of the chunks preceding one are not shorter than.
func (c LineCounts) ReportStart(index int) int64 {
	start := int64(0)
	for _, n := range c.MinReportBytes[:min(index, len(c.MinReportBytes))] {
		start += n
	}
	return start
}

package batch

// Status is where a batch stands. The two states before validation are internal: the contract shows them as 202 replies.
type Status string

const (
	AwaitingUpload    Status = "AWAITING_UPLOAD" // URL issued, nothing stored yet
	Uploaded          Status = "UPLOADED"        // object pinned; scan or queue pending
	ValidationStarted Status = "VALIDATION_STARTED"
	ValidationFailed  Status = "VALIDATION_FAILED"
	PendingIngestion  Status = "PENDING_INGESTION"
	Initialized       Status = "INITIALIZED"
	InProgress        Status = "IN_PROGRESS"
	Processed         Status = "PROCESSED"
	Failed            Status = "ERROR"
)

// next lists the legal transitions (contract section 5, rulings "Batches").
var next = map[Status][]Status{
	AwaitingUpload:    {Uploaded, Failed},
	Uploaded:          {ValidationStarted, Failed},
	ValidationStarted: {PendingIngestion, ValidationFailed, Failed},
	PendingIngestion:  {Initialized, Failed},
	Initialized:       {InProgress, Failed},
	InProgress:        {Processed, Failed},
}

// Statuses returns every status in the order of a batch's life.
func Statuses() []Status {
	return []Status{AwaitingUpload, Uploaded, ValidationStarted, ValidationFailed, PendingIngestion, Initialized,
		InProgress, Processed, Failed}
}

// May reports whether a batch may go from s to t in one step.
func (s Status) May(t Status) bool {
	for _, n := range next[s] {
		if n == t {
			return true
		}
	}
	return false
}

// Before returns the statuses from which a batch may reach t in one step.
func Before(t Status) []Status {
	var from []Status
	for _, s := range Statuses() {
		if s.May(t) {
			from = append(from, s)
		}
	}
	return from
}

// Final reports whether nothing follows s.
func (s Status) Final() bool { return len(next[s]) == 0 }

// Visible reports whether the status endpoint shows s; the others are its 202 replies.
func (s Status) Visible() bool { return s != AwaitingUpload && s != Uploaded }

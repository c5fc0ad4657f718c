package batch

// Receiver is a kind of receivers to whom the end of a batch is announced. Which of them have not been notified is kept
// apart, so that one that cannot be reached does not cause the others to be notified again and again.
type Receiver string

const (
	// EventBus is the event bus of the AWS account.
	EventBus Receiver = "event-bus"
	// Webhooks are the webhooks of the tenant.
	Webhooks Receiver = "webhooks"
	// Export writes the accepted lines of a processed batch as Parquet. It counts as notified once the file is written,
	// and only batches owe it whose tenant has Settings.Parquet.
	Export Receiver = "export"
	// Index has the lines found by their identifiers. It counts as notified once they are, and batches owe it whose
	// validation has begun.
	Index Receiver = "index"
)

// Receivers returns the receivers to whom the end of every batch is announced, independent of its settings.
func Receivers() []Receiver { return []Receiver{EventBus, Webhooks} }

// StatusURL returns the path at which the status of a batch can be read.
func StatusURL(id ID) string { return "/tm/realtime/api/transactions/batch/status/" + string(id) }

package screening

import (
	"context"
	"time"
)

// Search is the state of the question to a provider about a batch.
type Search struct {
	BatchID    string
	ProviderID string
	// Run is the run of the batch that asked it.
	Run int
	// Token is the task token of the execution that waits for the answer.
	Token string
	// AskedAt is when the adapter of the provider accepted the question; zero before that.
	AskedAt time.Time
}

// MatchRef names a match.
type MatchRef struct {
	EntityID string
	MatchID  string
}

// Store keeps batches with their entities and matches. It is safe for concurrent use; a read sees every acknowledged
// write. A method that changes something is conditional on the versions that were read. A write whose outcome is
// unknown may be repeated: if it was applied, the repetition returns ErrChanged.
type Store interface {
	// Create stores a new batch with its entities. If the batch has a journey, it becomes the active batch of journey
	// and process, and the one that was active before is overridden in the same write; the batch is returned with the
	// IDs of those that it replaced. Entities become visible with their batch. It returns ErrChanged, and leaves the
	// stored batch and its entities as they are, if the ID is taken; and ErrChanged if others created batches of the
	// same journey and process again and again.
	Create(ctx context.Context, b Batch, entities []Entity) (Batch, error)
	// Get reads a batch. It returns ErrNotFound if the tenant has no such batch.
	Get(ctx context.Context, tenant, id string) (Batch, error)
	// GetBatches reads the given batches that exist, in the order of the IDs, which must be distinct.
	GetBatches(ctx context.Context, tenant string, ids []string) ([]Batch, error)
	// FindActive returns the ID of the active batch of a journey and process: the newest. It returns ErrNotFound if
	// there is none.
	FindActive(ctx context.Context, tenant, journeyID, processID string) (id string, err error)
	// FindNewest returns the ID of the newest batch of a journey, for any process. It returns ErrNotFound if there
	// is none.
	FindNewest(ctx context.Context, tenant, journeyID string) (id string, err error)
	// ListBatchesOf reads a part of the IDs of the batches that have an entity, newest first, beginning after a
	// position ("" for the first part). The next position is "" at the end of the list.
	ListBatchesOf(ctx context.Context, tenant, entityID, after string, limit int) (ids []string, next string, err error)
	// Save replaces the batch whose next version is b.Version. It returns ErrChanged if the stored version is
	// another one.
	Save(ctx context.Context, b Batch) error

	// EachSearching calls visit for searching batches that are due before a time. A batch is due
	// when its last run begins and, after Postpone, at the time that was given then. Of very many batches some may be
	// left out; they are due still. It ends with the first error of visit.
	EachSearching(ctx context.Context, before time.Time, visit func(tenant, batchID string) error) error
	// Postpone sets when a batch is due for EachSearching. It changes nothing if no provider of the batch searches.
	Postpone(ctx context.Context, tenant, id string, at time.Time) error
	// GetSearch reads the question to a provider. It returns ErrNotFound if there was none.
	GetSearch(ctx context.Context, tenant, batchID, providerID string) (Search, error)
	// SaveSearch stores the question to a provider. It returns ErrChanged if the question of a later run is stored.
	SaveSearch(ctx context.Context, tenant string, s Search) error

	// GetEntities reads the given entities of a batch that exist, in the order of the IDs.
	GetEntities(ctx context.Context, tenant, batchID string, ids []string) ([]Entity, error)
	// SaveEntity replaces an entity of an open batch, stored as b; e.Version is the entity's next version. It
	// returns ErrChanged if the batch or the entity has changed.
	SaveEntity(ctx context.Context, b Batch, e Entity) error

	// AddMatches stores matches of an answer. They belong to the batch once FinishProvider has recorded the answer and
	// the batch is saved. A match that is stored already stays as it is. More than MaxMatches of an entity are refused,
	// all of them, by a fault of the kind TooLarge, and so is a match that is too large.
	AddMatches(ctx context.Context, tenant string, matches []Match) error
	// GetMatches reads the given matches that belong to a batch, in the order of the references.
	GetMatches(ctx context.Context, b Batch, refs []MatchRef) ([]Match, error)
	// ListMatches reads a part of the matches of an entity that belong to a batch, in the order of their IDs, beginning
	// after a match ("" for the first part). It returns at most limit matches, and fewer if one read yields fewer. The
	// next position is "" at the end of the list.
	ListMatches(ctx context.Context, b Batch, entityID, after string, limit int) (page []Match, next string, err error)
	// Resolve replaces the resolutions of at most MaxResolvedAtOnce matches, and the batch with its counts, all or
	// none. It returns ErrChanged unless the stored versions are those before, and a fault of the kind TooLarge if the
	// matches are larger together than a transaction may be.
	Resolve(ctx context.Context, b Batch, matches []Match) error

	// AddDocument stores a document of an open batch, stored as b. It returns ErrChanged if the batch has changed,
	// ErrExists if the document is stored already, and ErrTooManyDocuments if its entity has MaxDocuments in the batch.
	// The store counts them from the first one on; stored, the number that the caller has listed, is the initial count
	// of documents that are stored and not counted yet.
	AddDocument(ctx context.Context, b Batch, d Document, stored int) error
	// ListDocuments reads all documents of an entity in a batch and of its matches, in the order of the matches' IDs
	// and then of their own.
	ListDocuments(ctx context.Context, tenant, batchID, entityID string) ([]Document, error)
	// BeginRemoval marks a document of an open batch, stored as b, as being removed. Marking it
	// again succeeds. It returns ErrChanged if the batch has changed, and ErrNotFound if the document is removed.
	BeginRemoval(ctx context.Context, b Batch, d Document) error
	// RemoveDocument removes a document whose removal was begun. Removing it again succeeds.
	RemoveDocument(ctx context.Context, tenant string, d Document) error

	// GetSettings reads the settings of a tenant, zero if it has none.
	GetSettings(ctx context.Context, tenant string) (Settings, error)
	// SaveSettings replaces the settings, as they were read, by s, which get the next Version. It returns ErrChanged if
	// the stored version is another one, or if s make a provider active that previous do not and that is not stored.
	SaveSettings(ctx context.Context, tenant string, previous, s Settings) error
}

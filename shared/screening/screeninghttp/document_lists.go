package screeninghttp

import (
	"context"
	"errors"
	"time"

	"sluice/shared/access"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/fault"
	"sluice/shared/kit/objects"
	"sluice/shared/platform/document"
	"sluice/shared/screening"
)

// DocumentDetails is the metadata of a new document in a request.
type DocumentDetails struct {
	FileName     string `json:"fileName"`
	DocumentType string `json:"documentType"`
	FriendlyName string `json:"friendlyName"`
	// IdempotencyKey makes repetitions of the request the same document; "" for none.
	IdempotencyKey string `json:"idempotencyKey"`
}

func (in *DocumentDetails) check(v *platform.ValidationErrors) {
	v.RequireText("fileName", in.FileName, platform.MaxName)
	if problem := objects.FileNameProblem(in.FileName); problem != "" {
		v.Add("fileName", problem, platform.CodeFileName)
	}
	v.RequireText("documentType", in.DocumentType, platform.MaxName)
	v.CheckText("friendlyName", in.FriendlyName, platform.MaxName)
	v.CheckText("idempotencyKey", in.IdempotencyKey, platform.MaxName)
}

// UploadRequest is the data of a new document with a file to upload.
type UploadRequest struct {
	DocumentDetails
	platform.Announced
}

// Check validates the data.
func (in *UploadRequest) Check(v *platform.ValidationErrors) {
	in.check(v)
	in.CheckSize(v, platform.MaxAnnounced)
	if in.FileName != "" && !document.IsSupported(in.FileName) {
		v.Add("fileName", "Files with the extension "+document.Extension(in.FileName)+" are not supported.",
			platform.CodeFileName)
	}
}

// VirtualRequest is the data of a new virtual document.
type VirtualRequest struct {
	DocumentDetails
	DocumentURL string `json:"documentUrl"`
}

// Check validates the data.
func (in *VirtualRequest) Check(v *platform.ValidationErrors) {
	in.check(v)
	v.RequireValue("documentUrl", in.DocumentURL != "")
	if problem := document.URLProblem(in.DocumentURL); in.DocumentURL != "" && problem != "" {
		v.Add("documentUrl", problem, platform.CodeURL)
	}
	v.CheckText("documentUrl", in.DocumentURL, document.MaxURL)
}

// ReuseRequest names the document of an entity to be reused.
type ReuseRequest struct {
	DocumentID       string `json:"documentId"`
	ReuseFromBatchID string `json:"reuseFromBatchId"`
}

// Check validates the data.
func (in *ReuseRequest) Check(v *platform.ValidationErrors) {
	v.RequireUUID("documentId", in.DocumentID)
	v.RequireUUID("reuseFromBatchId", in.ReuseFromBatchID)
}

// ReuseMatchRequest names the document of a match to be reused.
type ReuseMatchRequest struct {
	ReuseRequest
	ReuseFromMatchID string `json:"reuseFromMatchId"`
}

// Check validates the data.
func (in *ReuseMatchRequest) Check(v *platform.ValidationErrors) {
	in.ReuseRequest.Check(v)
	v.RequireUUID("reuseFromMatchId", in.ReuseFromMatchID)
}

// UploadReply is the reply to a new document. The file is uploaded with PUT to the URL, with the headers.
type UploadReply struct {
	DocumentID         string `json:"documentId"`
	ExternalDocumentID string `json:"externalDocumentId"`
	// SignedURL is null where the request repeats an earlier one.
	SignedURL       *string           `json:"signedUrl"`
	RequiredHeaders map[string]string `json:"requiredHeaders"`
}

// VirtualReply is the reply to a new virtual document.
type VirtualReply struct {
	DocumentID         string `json:"documentId"`
	ExternalDocumentID string `json:"externalDocumentId"`
}

// ReuseReply is the reply to a reused document.
type ReuseReply struct {
	DocumentID string `json:"documentId"`
}

// DocumentReply is a document of an entity.
type DocumentReply struct {
	ID                 string           `json:"id"`
	ExternalDocumentID string           `json:"externalDocumentId"`
	FileName           string           `json:"fileName"`
	DocumentType       string           `json:"documentType"`
	FriendlyName       *string          `json:"friendlyName"`
	DocumentURL        *string          `json:"documentUrl"`
	Status             document.Status  `json:"status"`
	StatusUpdatedAt    time.Time        `json:"statusUpdatedAt"`
	CreatedBy          string           `json:"createdBy"`
	CreatedAt          time.Time        `json:"createdAt"`
	IdempotencyKey     *string          `json:"idempotencyKey"`
	AccessLayers       access.Layers    `json:"accessLayers"`
	BatchID            string           `json:"batchId"`
	BatchStatus        screening.Status `json:"batchStatus"`
	EntityID           string           `json:"entityId"`
	JourneyID          *string          `json:"journeyId"`
	ReusedFromBatchID  *string          `json:"reusedFromBatchId"`
}

// MatchDocumentReply is a document of a match.
type MatchDocumentReply struct {
	DocumentReply
	MatchID             string  `json:"matchId"`
	MatchEntityUniqueID string  `json:"matchEntityUniqueId"`
	ReusedFromMatchID   *string `json:"reusedFromMatchId"`
}

var errTooManyListed = fault.New(fault.TooLarge, "too_many_documents",
	"The reply would be too large. Ask for the documents of one journey or one batch.")

// ListEntityDocuments returns the documents of an entity in a batch.
func (s *Screenings) ListEntityDocuments(ctx context.Context, r *platform.Request, _ platform.NoBody) ([]DocumentReply,
	error) {
	all, err := s.listInBatch(ctx, r)
	return withoutMatches(all), err
}

// ListMatchDocuments returns the documents of a match in a batch.
func (s *Screenings) ListMatchDocuments(ctx context.Context, r *platform.Request, _ platform.NoBody) (
	[]MatchDocumentReply, error) {
	return s.listInBatch(ctx, r)
}

func (s *Screenings) listInBatch(ctx context.Context, r *platform.Request) ([]MatchDocumentReply, error) {
	p, err := s.findPlace(ctx, r, "batchId")
	if err != nil {
		return nil, err
	}
	list := documentList{s, r, httpapi.ListBudget, []MatchDocumentReply{}}
	err = list.add(ctx, p.batch, p.entityID, func(d screening.Document) bool { return d.MatchID == p.match.ID }, nil)
	return list.items, err
}

// ListDocumentsOfEntity returns the completed documents of an entity in all batches that are not open.
func (s *Screenings) ListDocumentsOfEntity(ctx context.Context, r *platform.Request, _ platform.NoBody) (
	[]DocumentReply, error) {
	all, err := s.listAcross(ctx, r, func(d screening.Document) bool { return d.MatchID == "" })
	return withoutMatches(all), err
}

// ListDocumentsOfEntry returns the completed documents of the matches of an entity with one entry, in all batches that
// are not open.
func (s *Screenings) ListDocumentsOfEntry(ctx context.Context, r *platform.Request, _ platform.NoBody) (
	[]MatchDocumentReply, error) {
	entry := r.PathValue("matchEntityUniqueId")
	return s.listAcross(ctx, r, func(d screening.Document) bool { return d.MatchID != "" && d.MatchUniqueID == entry })
}

func (s *Screenings) listAcross(ctx context.Context, r *platform.Request,
	selects func(screening.Document) bool) ([]MatchDocumentReply, error) {
	list := documentList{s, r, httpapi.ListBudget, []MatchDocumentReply{}}
	var journey string
	err := r.Validate(func(v *platform.ValidationErrors) {
		if v.CheckRepeated("journeyId"); len(r.Query("journeyId")) > 0 {
			journey = entityID(r.Query("journeyId")[0])
		}
	})
	id := entityID(r.PathValue("entityId"))
	if err != nil || len(id) > platform.MaxID {
		return list.items, err
	}
	isCompleted := func(status document.Status) bool { return status == document.Completed }
	err = s.forEachBatchOf(ctx, r.Tenant, id, func(b screening.Batch) error {
		if b.Status == screening.Open || journey != "" && b.JourneyID != journey {
			return nil
		}
		return list.add(ctx, b, id, selects, isCompleted)
	})
	return list.items, err
}

// documentList is a list of documents within the budget of a reply, without documents out of the caller's reach.
type documentList struct {
	*Screenings
	request *platform.Request
	budget  httpapi.ReplyBudget
	items   []MatchDocumentReply
}

// add adds the selected documents of an entity in a batch. hasStatus, if it is not nil, selects them by status.
func (l *documentList) add(ctx context.Context, b screening.Batch, entityID string,
	selects func(screening.Document) bool, hasStatus func(document.Status) bool) error {
	all, err := l.Store.ListDocuments(ctx, b.Tenant, b.ID, entityID)
	if err != nil {
		return err
	}
	for _, d := range all {
		if !selects(d) {
			continue
		}
		full, file, err := l.Documents.Get(ctx, b.Tenant, d.DocumentID)
		if errors.Is(err, document.ErrNotFound) || err == nil && !l.request.Layers.CanReach(full.Layers) {
			continue // deleted in document management, not stored there yet, or out of reach
		}
		if err != nil {
			return err
		}
		item := documentReplyOf(b, d, full, file)
		if hasStatus != nil && !hasStatus(item.Status) {
			continue
		}
		l.items = append(l.items, item)
		if err := l.budget.Reserve(item, errTooManyListed); err != nil {
			return err
		}
	}
	return nil
}

func documentReplyOf(b screening.Batch, d screening.Document, full document.Document,
	file document.File) MatchDocumentReply {
	return MatchDocumentReply{
		DocumentReply: DocumentReply{
			ID: d.ID, ExternalDocumentID: d.DocumentID, FileName: full.FileName, DocumentType: full.Type,
			FriendlyName: platform.OrNull(full.FriendlyName), DocumentURL: platform.OrNull(full.URL),
			Status: full.EffectiveState(file).Status, StatusUpdatedAt: full.UpdatedAt, CreatedBy: d.CreatedBy,
			CreatedAt: d.CreatedAt, IdempotencyKey: platform.OrNull(d.IdempotencyKey), AccessLayers: full.Layers,
			BatchID: b.ID, BatchStatus: b.Status, EntityID: d.EntityID, JourneyID: platform.OrNull(b.JourneyID),
			ReusedFromBatchID: platform.OrNull(d.ReusedFromBatchID),
		},
		MatchID: d.MatchID, MatchEntityUniqueID: d.MatchUniqueID,
		ReusedFromMatchID: platform.OrNull(d.ReusedFromMatchID),
	}
}

func withoutMatches(all []MatchDocumentReply) []DocumentReply {
	out := make([]DocumentReply, len(all))
	for i, item := range all {
		out[i] = item.DocumentReply
	}
	return out
}

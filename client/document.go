package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	"sluice/openapi/wire"
)

const (
	documentCommands = "/documentmanagementcommand/api/v2/documentmanagement"
	documentQueries  = "/documentmanagementquery/api/documentmanagement"
)

// Values of Document.Status.
const (
	// DocumentProcessing means that the file is not uploaded yet, or is being scanned.
	DocumentProcessing = "Processing"
	// DocumentCompleted means that the file is clean, and can be downloaded.
	DocumentCompleted = "Completed"
	// DocumentError means that the file is of no use: ErrorCode and ErrorMessage say why.
	DocumentError = "Error"
	// DocumentInfected means that the scan refused the file.
	DocumentInfected = "Infected"
	// DocumentArchived means that the document was put away.
	DocumentArchived = "Archived"
)

// NewDocument is a document to create: the name of its file, whose extension tells its kind, and the entity that it is
// about.
type NewDocument = wire.CreateDocument

// DocumentUpload is a new document, and where its file goes.
type DocumentUpload struct {
	// ID is the ID of the document.
	ID string
	// Upload is where UploadFile stores the file. Its URL is a secret, and good for minutes.
	Upload Upload
}

// Document is a document without its file. Lists have few of its members.
type Document struct {
	wire.Document
	Original
}

// CreateDocument creates a document of an entity, whose file UploadFile then stores. The file is scanned: Document says
// when that is over, and how. Repeating the call creates another document.
func (c *Client) CreateDocument(ctx context.Context, d NewDocument) (DocumentUpload, error) {
	var created wire.DocumentUpload
	err := c.platform(ctx, http.MethodPost, documentCommands, d, &created)
	to := Upload{URL: created.SignedURLToUpload, Method: http.MethodPut, RequiredHeaders: created.RequiredHeaders}
	return DocumentUpload{ID: created.ID, Upload: to}, err
}

// Document reads a document of an entity. One that does not exist is a 404 *Error.
func (c *Client) Document(ctx context.Context, id string) (Document, error) {
	var d Document
	err := c.platform(ctx, http.MethodGet, documentQueries+"/"+url.PathEscape(id), nil, &d)
	return d, err
}

// DeleteDocument deletes a document. One that does not exist is a 400 *Error.
func (c *Client) DeleteDocument(ctx context.Context, id string) error {
	return c.platform(ctx, http.MethodDelete, documentCommands+"/"+url.PathEscape(id), nil, nil)
}

// DocumentQuery selects documents.
type DocumentQuery struct {
	// EntityID is the entity whose documents are listed.
	EntityID string
	// Status is one of the constants DocumentProcessing to DocumentArchived; "" for any.
	Status string
	// Limit is how many documents a page has at most, 1 to 500; 0 means the service's own, 100.
	Limit int
}

// Documents returns a page of the documents of an entity with few of their members, in the order of their creation, and
// the token of the page that follows; it is "" for the first page, and at the end. A page can have fewer documents than
// the limit, also none, although there is a token.
func (c *Client) Documents(ctx context.Context, q DocumentQuery, token string) (documents []Document, next string,
	err error) {
	in := struct {
		EntityID        string `json:"entityId"`
		Status          string `json:"status,omitempty"`
		PageSize        int    `json:"pageSize,omitempty"`
		PaginationToken string `json:"paginationToken,omitempty"`
	}{q.EntityID, q.Status, q.Limit, token}
	var page struct {
		Items         []json.RawMessage `json:"items"`
		NextPageToken string            `json:"nextPageToken"`
	}
	if err := c.platform(ctx, http.MethodPost, documentQueries+"/entity/paged/lite/v2", in, &page); err != nil {
		return nil, "", err
	}
	use := decodeItems(&documents)
	for _, item := range page.Items {
		if err := use(item); err != nil {
			return nil, "", err
		}
	}
	return documents, page.NextPageToken, nil
}

// OpenDocument opens the file of a document. The caller closes it. Until the file is scanned and found clean, and if
// the status is DocumentError, the document is a 404 *Error.
func (c *Client) OpenDocument(ctx context.Context, id string) (io.ReadCloser, error) {
	var link string
	path := documentQueries + "/signedurl/" + url.PathEscape(id)
	if err := c.platform(ctx, http.MethodGet, path, nil, &link); err != nil {
		return nil, err
	}
	return c.OpenReport(ctx, link)
}

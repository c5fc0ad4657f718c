// Package document holds documents and the files that they share. A document belongs to an entity, a product, a deal or
// a screening; clones of a document share its file. Package document/documentdb stores both, document/documenthttp
// serves them.
package document

import (
	"errors"
	"slices"
	"strings"
	"time"

	"sluice/shared/access"
	"sluice/shared/platform/property"
)

// FilePrefix begins the key of every file in the bucket of uploads: documents/<tenant>/<file id>.
const FilePrefix = "documents/"

// EntityType is the kind of object to which a document belongs.
type EntityType string

// The entity types.
const (
	Entity    EntityType = "Entity"
	Product   EntityType = "Product"
	Deal      EntityType = "Deal"
	Screening EntityType = "Screening"
)

// EntityTypes lists the entity types. Their index is the id that the interface shows beside the name.
var EntityTypes = []EntityType{Entity, Product, Deal, Screening}

// ParseEntityType returns the entity type of that name, in any case; false if it does not exist.
func ParseEntityType(name string) (EntityType, bool) {
	i := slices.IndexFunc(EntityTypes, func(t EntityType) bool { return strings.EqualFold(string(t), name) })
	if i < 0 {
		return "", false
	}
	return EntityTypes[i], true
}

// Index returns the index of t in EntityTypes.
func (t EntityType) Index() int { return slices.Index(EntityTypes, t) }

// Status is the state of a document or of a file.
type Status string

// The statuses.
const (
	// Processing means that the file has not been uploaded or scanned yet. As a document's stored status it means that
	// the status of the file counts; see EffectiveState.
	Processing Status = "Processing"
	Completed  Status = "Completed"
	Failed     Status = "Error"
	Infected   Status = "Infected"
	Archived   Status = "Archived"
)

// Codes of the statuses Failed and Infected.
const (
	NotApplicable   = "NOT_APPLICABLE"
	InfectedFile    = "INFECTED_FILE"
	InvalidMIMEType = "INVALID_MIME_TYPE"
	ClientSideError = "CLIENT_SIDE_ERROR"
	ServerSideError = "SERVER_SIDE_ERROR"
)

// ErrorCodes lists the codes that a client may give.
var ErrorCodes = []string{NotApplicable, InfectedFile, InvalidMIMEType, ClientSideError, ServerSideError}

// State is a status with the reason for it. The names are those of its stored form.
type State struct {
	Status Status `json:"Status"`
	// ErrorCode and ErrorMessage give the reason for Failed and Infected; "" otherwise.
	ErrorCode    string `json:"ErrorCode"`
	ErrorMessage string `json:"ErrorMessage"`
}

// Document is the metadata of a file or, for a virtual document, of a URL.
type Document struct {
	ID             string
	Tenant         string
	EntityType     EntityType
	EntityID       string
	JourneyID      string
	FileName       string
	Type           string
	FriendlyName   string
	DataKey        string
	RequirementIDs []string
	// RequirementModelID is the ID of the model to which RequirementIDs belong; "" if it is not known.
	RequirementModelID string
	Properties         map[string]property.Property
	Metadata           map[string]string
	// URL is the address of a virtual document, "" for one with a file.
	URL string
	// Virtual means that the document has a URL and no file.
	Virtual bool
	// FileID is "" for a virtual document.
	FileID string
	// FileLimit is how many bytes the file has at most: as many as the client has announced, or else as the size limit
	// allows. 0 for a document of an earlier release.
	FileLimit int64
	// State is the document's own state; readers see EffectiveState.
	State State
	// Layers are the access layers of the document; SetLayers changes them.
	Layers access.Layers
	// PolicyLayers are those that the policy enforces, as the client gave them with the new document. They never
	// change, and Layers always include them.
	PolicyLayers access.Layers
	// ClonedFrom is the ID of the document from which this one was cloned; "" for an original.
	ClonedFrom string
	// UploadedBy is the ID of the client that created the document, UpdatedBy that of the client that changed it last.
	UploadedBy     string
	UploadedByName string
	CreatedAt      time.Time
	UpdatedBy      string
	UpdatedAt      time.Time
	// ArchivalReason is the reason that the client gave to Archive; "" for a document that is not archived.
	ArchivalReason string
	// BeforeArchival is the status that Unarchive restores; "" for a document that is not archived.
	BeforeArchival Status
	Flags          Flags
	// Version is 1 for a new document and grows by one with every change. Writes are conditional on it.
	Version int64
}

// Flags are the creator's remarks on a document. They are stored and returned; nothing here acts on them.
type Flags struct {
	ForESignature           bool `json:"isDocumentForESignature"`
	FromESignatureProvider  bool `json:"comesFromESignatureProvider"`
	AutomaticClassification bool `json:"autoClassify"`
}

// File is the bytes that documents share, stored or still to be uploaded.
type File struct {
	ID     string
	Tenant string
	State  State
	// Documents is the number of documents that share the file.
	Documents int64
}

var (
	// ErrNotFound means that the tenant has no such document or file.
	ErrNotFound = errors.New("document: not found")
	// ErrScanRecorded means that another outcome of the file's scan is recorded already.
	ErrScanRecorded = errors.New("document: another outcome of the scan is recorded")
	// ErrExists means that the document's ID is taken.
	ErrExists = errors.New("document: exists already")
	// ErrChanged means that the document, or the number of documents that share its file, has changed since it was
	// read.
	ErrChanged = errors.New("document: changed since it was read")
)

// EffectiveState returns the state that readers see. A document whose own status is Processing has the state of its
// file. If its name has an extension that is not supported, it has failed, whether the file is uploaded yet or not.
func (d Document) EffectiveState(f File) State {
	if d.State.Status != Processing || d.FileID == "" {
		return d.State
	}
	if isAccepted := f.State.Status == Completed || f.State.Status == Processing; isAccepted &&
		!IsSupported(d.FileName) {
		return State{Failed, InvalidMIMEType, "Files with the extension " + Extension(d.FileName) +
			" are not supported."}
	}
	return f.State
}

// IsReadable reports whether the file may be downloaded: it is clean, and the document is not marked as failed. The
// file of an archived document stays readable.
func (d Document) IsReadable(f File) bool {
	d.Unarchive()
	return d.FileID != "" && d.EffectiveState(f).Status == Completed
}

// SetLayers sets the document's layers to l and the policy's layers.
func (d *Document) SetLayers(l access.Layers) { d.Layers = d.PolicyLayers.Widen(l).OrDefault() }

// Archive archives the document. It returns false if the document is archived already.
func (d *Document) Archive(reason string) bool {
	if d.State.Status == Archived {
		return false
	}
	d.BeforeArchival, d.State.Status, d.ArchivalReason = d.State.Status, Archived, reason
	return true
}

// Unarchive gives the document the status that it had before Archive. It returns false if the document is not archived.
func (d *Document) Unarchive() bool {
	if d.State.Status != Archived {
		return false
	}
	d.State.Status, d.BeforeArchival, d.ArchivalReason = d.BeforeArchival, "", ""
	return true
}

// MarkFailed gives the document the status Failed and the reason for it. An archived document leaves the archive.
func (d *Document) MarkFailed(code, message string) {
	d.State, d.BeforeArchival, d.ArchivalReason = State{Failed, code, message}, "", ""
}

// ExpectFile gives the document another file, of so many bytes at most, which is still to be uploaded. An archived
// document leaves the archive.
func (d *Document) ExpectFile(fileID, name string, limit int64) {
	d.FileID, d.FileName, d.FileLimit = fileID, name, limit
	d.State, d.BeforeArchival, d.ArchivalReason = State{Status: Processing}, "", ""
}

// Clone returns a copy of the document under another ID that shares its file.
func (d Document) Clone(id, client string, at time.Time) Document {
	c := d
	c.ID, c.ClonedFrom, c.Version = id, d.ID, 1
	c.UploadedBy, c.UploadedByName, c.CreatedAt, c.UpdatedBy, c.UpdatedAt = client, client, at, client, at
	c.Unarchive()
	return c
}

// FirstOfEachFile returns a filter that accepts the first document that it sees of each file, and every virtual one.
func FirstOfEachFile() func(Document) bool {
	seen := map[string]bool{}
	return func(d Document) bool {
		first := d.FileID == "" || !seen[d.FileID]
		seen[d.FileID] = true
		return first
	}
}

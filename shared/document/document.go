// Package document holds the documents of entities, products, deals and screenings, and the files that they share.
package document

import (
	"errors"
	"slices"
	"strings"
	"time"

	"sluice/shared/access"
	"sluice/shared/property"
)

// EntityType is what kind of thing a document belongs to.
type EntityType string

const (
	Entity    EntityType = "Entity"
	Product   EntityType = "Product"
	Deal      EntityType = "Deal"
	Screening EntityType = "Screening"
)

// EntityTypes lists all, in the order of their numbers in the contract's {name, id}.
var EntityTypes = []EntityType{Entity, Product, Deal, Screening}

// ParseEntityType reads a type in any case.
func ParseEntityType(s string) (EntityType, bool) {
	i := slices.IndexFunc(EntityTypes, func(t EntityType) bool { return strings.EqualFold(string(t), s) })
	if i < 0 {
		return "", false
	}
	return EntityTypes[i], true
}

// Number is the place of the type in EntityTypes.
func (t EntityType) Number() int { return slices.Index(EntityTypes, t) }

// Status is where a document stands.
type Status string

const (
	Processing Status = "Processing" // its file is not there yet, or not scanned yet; stored, it says: as the file
	Completed  Status = "Completed"
	Failed     Status = "Error"
	Infected   Status = "Infected"
	Archived   Status = "Archived"
)

// Reasons of an error status.
const (
	NotApplicable   = "NOT_APPLICABLE"
	InfectedFile    = "INFECTED_FILE"
	InvalidMIMEType = "INVALID_MIME_TYPE"
	ClientSideError = "CLIENT_SIDE_ERROR"
	ServerSideError = "SERVER_SIDE_ERROR"
)

// Reasons lists all reasons that a client may give.
var Reasons = []string{NotApplicable, InfectedFile, InvalidMIMEType, ClientSideError, ServerSideError}

// State is a status and, for an error, why.
type State struct {
	Status       Status
	ErrorCode    string
	ErrorMessage string
}

// Document is a document. A virtual one has a URL and no file.
type Document struct {
	ID, Tenant       string
	EntityType       EntityType
	EntityID         string
	JourneyID        string
	FileName         string
	Type             string
	FriendlyName     string
	DataKey          string
	RequirementIDs   []string
	RequirementModel string // id of what RequirementIDs are requirements of; "" unknown
	Properties       map[string]property.Property
	Metadata         map[string]string
	URL              string
	Virtual          bool
	File             string // "" of a virtual one
	State            State  // Effective says what it comes to with the file's
	Layers           access.Layers
	PolicyLayers     access.Layers // fixed; Layers never has fewer
	ClonedFrom       string        // "" of an original
	UploadedBy       string
	UploadedByName   string
	CreatedAt        time.Time
	UpdatedBy        string
	UpdatedAt        time.Time
	ArchivalReason   string
	BeforeArchival   Status
	Flags            Flags
	Version          int64 // counts changes, from 1
}

// Flags are what the creator says of a document. They are kept for those who work with it.
type Flags struct {
	ForESignature           bool `json:"isDocumentForESignature"`
	FromESignatureProvider  bool `json:"comesFromESignatureProvider"`
	AutomaticClassification bool `json:"autoClassify"` // asked for; nothing here classifies
}

// File is stored bytes, or bytes still to come. All documents cloned from each other share one.
type File struct {
	ID, Tenant string
	State      State
	Documents  int64 // that share it
}

var (
	// ErrNotFound means that there is no such document or file in the tenant.
	ErrNotFound = errors.New("document: not found")
	// ErrSettled means that the scan of the file had another outcome before.
	ErrSettled = errors.New("document: settled otherwise")
	// ErrExists means that the id is taken.
	ErrExists = errors.New("document: exists already")
	// ErrChanged means that the document, or how many share its file, has changed since it was read.
	ErrChanged = errors.New("document: changed since it was read")
)

// Effective returns the state that a reader sees: a document that waits for its file stands where the file does, unless its
// name says that the file is of a kind that is not taken.
func (d Document) Effective(f File) State {
	if d.State.Status != Processing || d.File == "" {
		return d.State
	}
	if f.State.Status == Completed && !Supported(d.FileName) {
		return State{Failed, InvalidMIMEType, "Files named " + Extension(d.FileName) + " are not taken."}
	}
	return f.State
}

// Readable reports whether the file can be downloaded: it is clean, and no command has called the document wrong. That of an
// archived document can.
func (d Document) Readable(f File) bool {
	d.Unarchive()
	return d.File != "" && d.Effective(f).Status == Completed
}

// SetLayers gives the document layers; the policy's stay among them.
func (d *Document) SetLayers(l access.Layers) { d.Layers = d.PolicyLayers.Widen(l).OrDefault() }

// Archive puts the document away. It reports whether it was not there already.
func (d *Document) Archive(reason string) bool {
	if d.State.Status == Archived {
		return false
	}
	d.BeforeArchival, d.State.Status, d.ArchivalReason = d.State.Status, Archived, reason
	return true
}

// Fail gives the document the status Error, and takes it out of the archive.
func (d *Document) Fail(code, message string) {
	d.State, d.BeforeArchival, d.ArchivalReason = State{Failed, code, message}, "", ""
}

// Replace gives the document another file, which is still to come.
func (d *Document) Replace(file, name string) {
	d.File, d.FileName = file, name
	d.State, d.BeforeArchival, d.ArchivalReason = State{Status: Processing}, "", ""
}

// Unarchive takes the document back to the status it had. It reports whether it was archived.
func (d *Document) Unarchive() bool {
	if d.State.Status != Archived {
		return false
	}
	d.State.Status, d.BeforeArchival, d.ArchivalReason = d.BeforeArchival, "", ""
	return true
}

// Clone returns a copy under another id that shares the file. The caller fills in what the copy has of its own.
func (d Document) Clone(id, client string, at time.Time) Document {
	c := d
	c.ID, c.ClonedFrom, c.Version = id, d.ID, 1
	c.UploadedBy, c.UploadedByName, c.CreatedAt, c.UpdatedBy, c.UpdatedAt = client, client, at, client, at
	c.Unarchive()
	return c
}

// Distinct returns a filter that says yes to the first document of each file, and to every virtual one.
func Distinct() func(Document) bool {
	seen := map[string]bool{}
	return func(d Document) bool {
		first := d.File == "" || !seen[d.File]
		seen[d.File] = true
		return first
	}
}

// FilePrefix is where files lie in their bucket: documents/<tenant>/<file id>.
const FilePrefix = "documents/"

package documenthttp

import (
	"context"
	"net/http"
	"net/url"

	"sluice/shared/access"
	"sluice/shared/document"
	"sluice/shared/fault"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
	"sluice/shared/property"
)

const maxItems = 100 // of a list in a body

// Update is the body of PUT /{id}; what is absent or null stays as it is.
type Update struct {
	DocumentType           *string                      `json:"documentType"`
	FriendlyName           *string                      `json:"friendlyName"`
	DocumentDataKey        *string                      `json:"documentDataKey"`
	DocumentURL            *string                      `json:"documentURL"`
	DocumentRequirementIDs []string                     `json:"documentRequirementIds"`
	Properties             map[string]property.Property `json:"properties"`
	SkipStatusReset        bool                         `json:"skipStatusReset"` // of requirements, whose status is not kept here
}

// Check notes what is wrong with the body.
func (u *Update) Check(f *platform.Faults) {
	maxOf(f, "documentType", u.DocumentType, platform.MaxName)
	maxOf(f, "friendlyName", u.FriendlyName, platform.MaxName)
	maxOf(f, "documentDataKey", u.DocumentDataKey, platform.MaxName)
	if u.DocumentURL != nil {
		checkURL(f, *u.DocumentURL)
	}
	checkRequirements(f, u.DocumentRequirementIDs)
	checkProperties(f, u.Properties)
}

func checkRequirements(f *platform.Faults, ids []string) {
	f.Names("documentRequirementIds", ids, maxItems)
	unique(f, "documentRequirementIds", ids)
}

func checkProperties(f *platform.Faults, properties map[string]property.Property) {
	property.Validate("properties", properties, platform.MaxName, platform.MaxText, func(name, message string) { f.Add(name, message, "PropertyValidator") })
}

const maxURL = 2048

func checkURL(f *platform.Faults, text string) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		f.Add("documentURL", "The value must be an absolute https URL.", "UrlValidator")
	}
	f.Max("documentURL", text, maxURL)
}

func checkLayers(f *platform.Faults, name string, l access.Layers) {
	f.Names(name+".geographic", l.Geographic, maxItems)
	f.Names(name+".businessRelated", l.BusinessRelated, maxItems)
}

func maxOf(f *platform.Faults, name string, value *string, max int) {
	if value != nil {
		f.Max(name, *value, max)
	}
}

func set(to *string, from *string) {
	if from != nil {
		*to = *from
	}
}

func (s *Documents) update(ctx context.Context, c httpapi.Caller, r *http.Request, in Update) (platform.None, error) {
	_, err := s.change(ctx, c, r, func(d *document.Document) error {
		if in.DocumentURL != nil && !d.Virtual {
			var f platform.Faults
			f.Add("documentURL", "Only a virtual document has a URL.", "UrlValidator")
			return f.Err()
		}
		set(&d.Type, in.DocumentType)
		set(&d.FriendlyName, in.FriendlyName)
		set(&d.DataKey, in.DocumentDataKey)
		set(&d.URL, in.DocumentURL)
		if in.DocumentRequirementIDs != nil {
			d.RequirementIDs = in.DocumentRequirementIDs
		}
		if in.Properties != nil {
			d.Properties = in.Properties
		}
		return nil
	})
	return platform.None{}, err
}

// Layers is the body of PUT /{id}/access-layers.
type Layers struct {
	AccessLayers *access.Layers `json:"accessLayers"`
}

// Check notes what is wrong with the body.
func (l *Layers) Check(f *platform.Faults) {
	if l.AccessLayers == nil {
		f.Required("accessLayers", "", 0)
		return
	}
	checkLayers(f, "accessLayers", *l.AccessLayers)
}

func (s *Documents) layers(ctx context.Context, c httpapi.Caller, r *http.Request, in Layers) (platform.None, error) {
	_, err := s.change(ctx, c, r, func(d *document.Document) error {
		d.SetLayers(*in.AccessLayers)
		return nil
	})
	return platform.None{}, err
}

func (s *Documents) requirements(ctx context.Context, c httpapi.Caller, r *http.Request, in []string) (platform.None, error) {
	var f platform.Faults
	checkRequirements(&f, in)
	if len(f.Err().Details) > 0 {
		return platform.None{}, f.Err()
	}
	_, err := s.change(ctx, c, r, func(d *document.Document) error {
		d.RequirementIDs = in
		return nil
	})
	return platform.None{}, err
}

func (s *Documents) dataKey(ctx context.Context, c httpapi.Caller, r *http.Request, in string) (platform.None, error) {
	var f platform.Faults
	f.Max("documentDataKey", in, platform.MaxName)
	if len(f.Err().Details) > 0 {
		return platform.None{}, f.Err()
	}
	_, err := s.change(ctx, c, r, func(d *document.Document) error {
		d.DataKey = in
		return nil
	})
	return platform.None{}, err
}

// uploadedBy names the calling client as the one who uploaded the document.
func (s *Documents) uploadedBy(ctx context.Context, c httpapi.Caller, r *http.Request) (string, error) {
	d, err := s.change(ctx, c, r, func(d *document.Document) error {
		d.UploadedByName = c.Client
		return nil
	})
	return d.UploadedByName, err
}

func (s *Documents) fail(ctx context.Context, c httpapi.Caller, r *http.Request) (platform.None, error) {
	_, err := s.change(ctx, c, r, func(d *document.Document) error {
		d.MarkFailed("", "")
		return nil
	})
	return platform.None{}, err
}

// CustomError is the body of PUT /custom-error/{id}.
type CustomError struct {
	ErrorCode    string `json:"errorCode"`
	ErrorMessage string `json:"errorMessage"`
}

// Check notes what is wrong with the body.
func (e *CustomError) Check(f *platform.Faults) {
	f.OneOf("errorCode", e.ErrorCode, document.ErrorCodes...)
	f.Max("errorMessage", e.ErrorMessage, platform.MaxText)
}

func (s *Documents) customError(ctx context.Context, c httpapi.Caller, r *http.Request, in CustomError) (platform.None, error) {
	_, err := s.change(ctx, c, r, func(d *document.Document) error {
		d.MarkFailed(in.ErrorCode, in.ErrorMessage)
		return nil
	})
	return platform.None{}, err
}

// Archival is the body of POST /{id}/archive.
type Archival struct {
	ArchivalReason string `json:"archivalReason"`
}

// Check notes what is wrong with the body.
func (a *Archival) Check(f *platform.Faults) {
	f.Required("archivalReason", a.ArchivalReason, platform.MaxText)
}

func (s *Documents) archive(ctx context.Context, c httpapi.Caller, r *http.Request, in Archival) (platform.None, error) {
	_, err := s.change(ctx, c, r, func(d *document.Document) error {
		if !d.Archive(in.ArchivalReason) {
			return fault.New(fault.Conflict, "document_archived", "The document is archived already.")
		}
		return nil
	})
	return platform.None{}, err
}

func (s *Documents) unarchive(ctx context.Context, c httpapi.Caller, r *http.Request) (platform.None, error) {
	_, err := s.change(ctx, c, r, func(d *document.Document) error {
		if !d.Unarchive() {
			return fault.New(fault.Conflict, "document_not_archived", "The document is not archived.")
		}
		return nil
	})
	return platform.None{}, err
}
